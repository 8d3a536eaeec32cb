-- purpose: which editions of the Urban Atlas a region's parcels have their land use from
-- cites: urban_atlas
-- reads: section.land_use
-- writes: none
-- grain: one row per source and vintage
-- crs: none

-- One edition is read.
select
  'urban_atlas' as source_id,
  '2018' as vintage
where exists (select from land_use where code is not null);
