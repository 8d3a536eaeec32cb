-- purpose: index for the time of the last applied SQL file, which the tag of every answer contains
-- reads: ledger.applied_file
-- writes: none
-- grain: one entry per SQL file
-- crs: none

-- serves: api.publication_tag
create index on ledger.applied_file (applied_at);
