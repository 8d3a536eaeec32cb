-- purpose: an index on the streets of a comune
-- reads: core.street
-- writes: none
-- grain: one entry per street
-- crs: none

-- serves: addresses of a comune
create index on core.street (belfiore);
