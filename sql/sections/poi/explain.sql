-- purpose: the schools, pharmacies and fuel stations of one parcel, and how each was located
-- reads: core.parcel, core.point_of_interest, core.access_point
-- writes: none
-- reruns: section.poi
-- parcels: comune
-- grain: one row per point, and one row per access point that located a point
-- crs: none

create view evidence as
select
  d.fid,
  'poi[' || d.ordinal - 1 || ']' as field,
  p.name as value,
  p.release_id,
  p.member_id,
  p.position,
  d.distance_m as measure,
  'm' as unit,
  case when d.inside then 'inside the parcel' else 'within 15 m, with no nearer land parcel in the comune' end
    || case p.placed_by when 'coordinates' then '; located by the published coordinates, which are in the stated comune' else '; located by street and number' end as rule
from poi d
join point_of_interest p on p.id = d.id
union all
select
  d.fid,
  'poi[' || d.ordinal - 1 || '].placed_by',
  a.address_id::text,
  a.release_id,
  a.member_id,
  a.position,
  null,
  null,
  'the only located access point of the comune with this street and number'
from poi d
join point_of_interest p on p.id = d.id
join access_point a on a.address_id = p.address_id;
