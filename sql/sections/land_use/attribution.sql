-- purpose: the edition of the Urban Atlas behind the land use of parcels
-- cites: urban_atlas
-- reads: section.land_use
-- writes: none
-- incremental: rows of parcels
-- grain: one row
-- crs: none

-- Only one edition is read.
select
  '' as key,
  'urban_atlas' as source_id,
  '2018' as vintage
where exists (select from land_use where code is not null);
