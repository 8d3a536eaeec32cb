-- purpose: the zones and quotations of the section valuation_history of one parcel
-- reads: core.parcel, core.quotation, core.quotation_zone, layer.omi_perimeter
-- writes: none
-- reruns: section.valuation_history
-- grain: one row per field and source row (perimeter, zone or quotation)
-- crs: none

-- Lists the perimeters that determine the parcel's zone in a half-year.
create view drawn_run as
select
  h.fid,
  o.half_year,
  o.belfiore,
  o.zona,
  o.semester,
  o.release_id,
  o.member_id,
  o.position
from valuation_history h
join parcel_shapes s on s.fid = h.fid
join perimeter_shape f on f.shape_id = any (s.shape_ids)
  and f.belfiore = h.then_belfiore
  and f.zona = h.then_zona
join omi_perimeter o on o.belfiore = f.belfiore
  and o.zona = f.zona
  and o.half_year = any (f.half_years)
  and o.half_year between h.since and h.until;

-- Lists the parcel's current zone: the zone of the newest perimeters, and the zone in the quoted half-year.
create view parcel_zone as
select
  s.fid,
  c.drawn_belfiore,
  c.drawn_zona,
  c.perimeter_half_year,
  c.belfiore,
  c.zona,
  c.half_year
from parcel_shapes s
join shape_set t on t.parcel_belfiore = s.parcel_belfiore
  and t.shape_ids = s.shape_ids
join set_place c on c.set_id = t.set_id;

create view evidence as
select
  fid,
  'zone' as field,
  belfiore || ' ' || zona || ' ' || semester as value,
  release_id,
  member_id,
  position,
  null::float8 as measure,
  null as unit,
  'perimeter of ' || semester || ' that contains the representative point' as rule
from drawn_run
union all
select
  h.fid,
  'zone',
  z.belfiore || ' ' || z.zona || ' ' || z.semester,
  z.release_id,
  z.member_id,
  z.position,
  null,
  null,
  'zone in that half-year with the LinkZona of the current zone'
from valuation_history h
join quotation_zone z on z.belfiore = h.then_belfiore
  and z.zona = h.then_zona
  and z.half_year between h.since and h.until
where not exists (select from drawn_run d where d.fid = h.fid and d.half_year = z.half_year)
union all
select
  c.fid,
  'zone_current',
  o.belfiore || ' ' || o.zona || ' ' || o.semester,
  o.release_id,
  o.member_id,
  o.position,
  null,
  null,
  'perimeter of ' || o.semester || ' that contains the representative point'
from parcel_zone c
join omi_perimeter o on o.belfiore = c.drawn_belfiore and o.zona = c.drawn_zona and o.half_year = c.perimeter_half_year
union all
select
  c.fid,
  'zone_current',
  z.link_zona,
  z.release_id,
  z.member_id,
  z.position,
  null,
  null,
  'LinkZona of the perimeter''s zone in ' || z.semester || ', by which it is found in the half-year that is quoted'
from parcel_zone c
join quotation_zone z on z.belfiore = c.drawn_belfiore and z.zona = c.drawn_zona and z.half_year = c.perimeter_half_year
where c.perimeter_half_year <> c.half_year
union all
select
  c.fid,
  'zone_current',
  z.belfiore || ' ' || z.zona || ' ' || z.semester,
  z.release_id,
  z.member_id,
  z.position,
  null,
  null,
  'zone in ' || z.semester || ' with the LinkZona of the perimeter''s zone'
from parcel_zone c
join quotation_zone z on z.belfiore = c.belfiore and z.zona = c.zona and z.half_year = c.half_year
where c.perimeter_half_year <> c.half_year
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
  'abitazioni civili in normal state; the zone was found by the perimeters of that half-year, or else by the LinkZona of the current zone'
from valuation_history h
join quotation q on q.belfiore = h.then_belfiore and q.zona = h.then_zona and q.half_year between h.since and h.until
where q.cod_tip = 20
  and q.stato = 'NORMALE';
