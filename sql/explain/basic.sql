-- purpose: what the section basic of one parcel was read from
-- reads: core.parcel, layer.cadastral_parcel, layer.comune_code
-- writes: none
-- reruns: core.parcel
-- grain: one row per feature
-- crs: none

create view evidence as
select
  p.fid,
  'parcel' as field,
  p.reference as value,
  p.release_id,
  p.member_id,
  p.position,
  p.area_m2 as measure,
  'm2' as unit,
  case when p.made_valid then 'published polygon, repaired' else 'published polygon' end as rule
from parcel p
union all
select
  p.fid,
  'municipality',
  c.name,
  c.release_id,
  c.member_id,
  c.position,
  null,
  null,
  'comune of the cadastral code'
from parcel p
join comune_code c on c.belfiore = p.belfiore;
