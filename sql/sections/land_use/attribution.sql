-- purpose: the edition of the Urban Atlas that parcels have their land use from
-- cites: urban_atlas
-- reads: section.land_use
-- writes: none
-- grain: one row
-- crs: none

-- One edition is read.
select
  '' as key,
  'urban_atlas' as source_id,
  '2018' as vintage
where exists (select from land_use where code is not null);
