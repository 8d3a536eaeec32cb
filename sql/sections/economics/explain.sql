-- purpose: the incomes and prices from which the section economics of one parcel is computed
-- reads: core.parcel, core.comune_register, core.declared_income, core.quotation, section.postal_code, section.valuation, layer.comune_postal_code, layer.omi_perimeter, layer.postal_code_area
-- writes: none
-- reruns: section.economics
-- grain: one row per field and source row
-- crs: none

create view evidence as
select
  e.fid,
  'average_income, taxpayers, earners, total_income, net_tax, tax_year, gini_index, income_brackets' as field,
  coalesce(i.cap, i.belfiore) || ' ' || i.tax_year as value,
  i.release_id,
  i.member_id,
  i.position,
  null::float8 as measure,
  null as unit,
  case when i.cap is null then 'newest row of the comune' else 'row of the postal code in the newest year with postal codes' end as rule
from economics e
join declared_income i on i.belfiore = e.belfiore and i.cap is not distinct from e.cap
union all
select
  v.fid,
  'avg_residential_price_m2',
  q.type || ' ' || concat_ws('–', q.purchase_min_eur_m2, q.purchase_max_eur_m2),
  q.release_id,
  q.member_id,
  q.position,
  null,
  'euro/m2',
  'residential type of the zone, in its prevalent state; the value is the mean of (minimum + maximum) / 2 over all types'
from valuation v
join economics e on e.fid = v.fid
join quotation q on q.belfiore = v.belfiore and q.zona = v.zona and q.half_year = v.half_year
where q.cod_tip in (1, 19, 20, 21, 22)
  and q.stato_prev
  and q.purchase_min_eur_m2 is not null
  and q.purchase_max_eur_m2 is not null
union all
select
  v.fid,
  'avg_residential_price_m2',
  o.belfiore || ' ' || o.zona || ' ' || o.semester,
  o.release_id,
  o.member_id,
  o.position,
  null,
  null,
  'perimeter that contains the representative point'
from valuation v
join economics e on e.fid = v.fid
join parcel p on p.fid = v.fid
join omi_perimeter o on o.half_year = v.perimeter_half_year and st_covers(o.geom, p.point)
where e.avg_residential_price_m2 is not null
union all
select
  e.fid,
  'level',
  n.cap,
  n.release_id,
  n.member_id,
  n.position,
  null,
  null,
  'postal code that selects the incomes'
from economics e
join postal_code z on z.fid = e.fid
join (
  select coalesce(n.belfiore, r.belfiore) as belfiore, n.cap, n.edition, n.release_id, n.member_id, n.position
  from comune_postal_code n
  left join comune_register r on r.old_istat_code = n.istat_code
) n on n.belfiore = e.belfiore and n.cap = z.cap and nullif(n.edition, '0000') is not distinct from z.edition
where e.cap is not null
union all
select
  e.fid,
  'level',
  a.cap,
  a.release_id,
  a.member_id,
  a.position,
  null,
  null,
  'area of the postal code that contains the representative point'
from economics e
join postal_code z on z.fid = e.fid
join parcel p on p.fid = e.fid
join postal_code_area a on a.cap = z.cap and nullif(a.edition, '0000') is not distinct from z.edition and st_covers(a.geom, p.point)
where e.cap is not null;
