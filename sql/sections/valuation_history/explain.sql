-- purpose: the zones and quotations of the section valuation_history of one parcel
-- reads: core.parcel, core.quotation, layer.omi_perimeter
-- writes: none
-- reruns: section.valuation_history
-- grain: one row per feature
-- crs: none

create view evidence as
select
  s.fid,
  'zone' as field,
  o.belfiore || ' ' || o.zona || ' ' || o.semester as value,
  o.release_id,
  o.member_id,
  o.position,
  null::float8 as measure,
  null as unit,
  'perimeter of ' || o.semester || ' that contains the representative point' as rule
from parcel_shapes s
join perimeter_shape f on f.shape_id = any (s.shape_ids)
join omi_perimeter o on o.belfiore = f.belfiore and o.zona = f.zona and o.half_year = any (f.half_years)
union all
select
  h.fid,
  'semester ' || q.half_year / 2 || '_' || q.half_year % 2 + 1,
  concat_ws('–', q.purchase_min_eur_m2, q.purchase_max_eur_m2),
  q.release_id,
  q.member_id,
  q.position,
  null,
  'euro/m2',
  'civil dwellings in normal state; zone of then by perimeters of then, else by the LinkZona of the zone of now'
from valuation_history h
join quotation q on q.belfiore = h.then_belfiore and q.zona = h.then_zona and q.half_year between h.since and h.until
where q.cod_tip = 20
  and q.stato = 'NORMALE';
