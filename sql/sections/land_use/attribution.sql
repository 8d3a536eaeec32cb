-- purpose: the edition of the Urban Atlas from which the land use of parcels comes
-- cites: urban_atlas
-- reads: section.land_use
-- writes: none
-- incremental: rows of parcels
-- grain: one row, or none if no parcel has a class
-- crs: none

-- All parcels cite the same edition, because only one edition is read.
select
  '' as key,
  'urban_atlas' as source_id,
  '2018' as vintage
where exists (select from land_use where code is not null);
