-- purpose: the polygons that determine the section land_cover of one parcel, and the file used for its comune
-- reads: core.parcel, core.land_coverage
-- writes: none
-- reruns: section.land_cover
-- grain: one row per polygon, and one row for the coverage
-- crs: none

-- step: largest_evidence.sql

create view evidence as
select *
from largest_evidence
union all
select
  parcel.fid,
  'meta.coverage.land_cover',
  'mapped',
  coverage.release_id,
  coverage.member_id,
  coverage.position,
  null,
  null,
  'newest file that covers the comune: a file with at least 15 regions, or a file with a polygon that shares at least 1 m² with the comune'
from parcel
join land_coverage as coverage using (belfiore)
where coverage.mapped;
