-- purpose: the zone and the quotations of the section valuation of one parcel
-- reads: core.parcel, core.quotation, core.quotation_zone
-- writes: none
-- reruns: section.valuation_history, section.valuation
-- grain: one row per feature
-- crs: none

create view evidence as
select
  s.fid,
  'zone' as field,
  f.belfiore || ' ' || f.zona as value,
  f.release_id,
  f.member_id,
  f.position,
  null::float8 as measure,
  null as unit,
  'newest perimeter that contains the representative point' as rule
from parcel_shapes s
join perimeter_shape f on f.shape_id = any (s.shape_ids)
where f.is_newest
union all
select
  v.fid,
  'zone_description',
  coalesce(z.description, z.zona),
  z.release_id,
  z.member_id,
  z.position,
  null,
  null,
  'facts of the zone in ' || z.semester
from valuation v
join quotation_zone z on z.belfiore = v.belfiore and z.zona = v.zona and z.half_year = v.half_year
union all
select
  v.fid,
  q.type || coalesce(' ' || q.stato, ''),
  concat_ws('–', q.purchase_min_eur_m2, q.purchase_max_eur_m2),
  q.release_id,
  q.member_id,
  q.position,
  null,
  'euro/m2',
  'quotation of the zone'
from valuation v
join quotation q on q.belfiore = v.belfiore and q.zona = v.zona and q.half_year = v.half_year
union all
select
  v.fid,
  'previous_semester ' || q.type || coalesce(' ' || q.stato, ''),
  concat_ws('–', q.purchase_min_eur_m2, q.purchase_max_eur_m2),
  q.release_id,
  q.member_id,
  q.position,
  null,
  'euro/m2',
  'quotation of the zone in the half-year before'
from valuation v
join quotation q on q.belfiore = v.previous_belfiore and q.zona = v.previous_zona and q.half_year = v.half_year - 1;
