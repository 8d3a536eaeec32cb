-- purpose: the incomes and prices of the section economics of one parcel
-- reads: core.parcel, core.declared_income, core.quotation, section.valuation
-- writes: none
-- reruns: section.economics
-- grain: one row per feature
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
  case when i.cap is null then 'newest row of the comune' else 'row of the postal code, of the newest year by postal codes' end as rule
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
  'residential type of the zone in its prevalent state; the mean of the middles counts'
from valuation v
join economics e on e.fid = v.fid
join quotation q on q.belfiore = v.belfiore and q.zona = v.zona and q.half_year = v.half_year
where q.cod_tip in (1, 19, 20, 21, 22)
  and q.stato_prev
  and q.purchase_min_eur_m2 is not null
  and q.purchase_max_eur_m2 is not null;
