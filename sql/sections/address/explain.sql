-- purpose: the access points of one parcel
-- reads: core.parcel, core.access_point, layer.comune_code
-- writes: none
-- reruns: section.address
-- parcels: comune
-- grain: one row per access point, and one row for the comune of each access point
-- crs: none

create view evidence as
select
  d.fid,
  'address[' || d.ordinal - 1 || ']' as field,
  d.address_id::text as value,
  a.release_id,
  a.member_id,
  a.position,
  d.distance_m as measure,
  'm' as unit,
  case when d.inside then 'access point inside the parcel' else 'access point within 15 m, with no nearer land parcel in the comune' end as rule
from address d
join access_point a on a.address_id = d.address_id
union all
select
  d.fid,
  'address[' || d.ordinal - 1 || ']',
  c.name,
  c.release_id,
  c.member_id,
  c.position,
  null,
  null,
  'comune of the access point'
from address d
join access_point a on a.address_id = d.address_id
join comune_code c on c.belfiore = a.belfiore;
