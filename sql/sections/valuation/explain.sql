-- purpose: the zone and the quotations of the section valuation of one parcel
-- reads: core.parcel, core.quotation, core.quotation_zone, core.quoted_comune, layer.omi_perimeter
-- writes: none
-- reruns: section.valuation_history, section.valuation
-- grain: one row per field and source row (perimeter, zone or quotation)
-- crs: none

-- Lists the parcels whose zone has a quotation, because the section is empty for all other parcels.
create view quoted as
select v.*
from valuation v
where exists (select from quotation_zone z where z.belfiore = v.belfiore and z.zona = v.zona and z.half_year = v.half_year)
  and exists (select from quotation q where q.belfiore = v.belfiore and q.zona = v.zona and q.half_year = v.half_year);

create view evidence as
select
  s.fid,
  'zone, zone_perimeter_semester' as field,
  o.belfiore || ' ' || o.zona || ' ' || o.semester as value,
  o.release_id,
  o.member_id,
  o.position,
  null::float8 as measure,
  null as unit,
  'perimeter that contains the representative point: that of the quoted half-year, or else the newest perimeter whose zone has a LinkZona' as rule
from quoted v
join parcel_shapes s on s.fid = v.fid
join shape_set t on t.parcel_belfiore = s.parcel_belfiore and t.shape_ids = s.shape_ids
join set_place c on c.set_id = t.set_id
join omi_perimeter o on o.belfiore = c.drawn_belfiore and o.zona = c.drawn_zona and o.half_year = c.perimeter_half_year
union all
select
  s.fid,
  'zone, zone_perimeter_semester',
  z.link_zona,
  z.release_id,
  z.member_id,
  z.position,
  null,
  null,
  'LinkZona of the perimeter''s zone in ' || z.semester || ', by which it is found in the half-year that is quoted'
from quoted v
join parcel_shapes s on s.fid = v.fid
join shape_set t on t.parcel_belfiore = s.parcel_belfiore and t.shape_ids = s.shape_ids
join set_place c on c.set_id = t.set_id
join quotation_zone z on z.belfiore = c.drawn_belfiore and z.zona = c.drawn_zona and z.half_year = c.perimeter_half_year
where c.perimeter_half_year is distinct from c.half_year
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
  'data of the zone in ' || z.semester
from quoted v
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
from quoted v
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
  'quotation of the zone in the previous half-year'
from quoted v
join quotation q on q.belfiore = v.previous_belfiore and q.zona = v.previous_zona and q.half_year = v.half_year - 1
where exists (
  select
  from quotation n
  where n.belfiore = v.belfiore
    and n.zona = v.zona
    and n.half_year = v.half_year
    and n.cod_tip = q.cod_tip
    and n.stato is not distinct from q.stato
);
