-- purpose: sorted values around the quantiles of a province, so that a refresh does not sort all values again
-- reads: ledger.figure
-- writes: none
-- grain: one row per table, slice and place
-- crs: none

alter table ledger.figure add column windows jsonb;
comment on column ledger.figure.windows is 'Only for provinces: by field and quantile, the number of values below (below), then ascending values with their counts (values). Null if not measured';
