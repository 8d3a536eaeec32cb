-- purpose: OMI quotations of the region in each half-year
-- version: 3
-- reads: layer.omi_quotation, layer.comune_code
-- writes: core.quotation
-- grain: one row per zone, half-year, building type and state of repair
-- crs: none

-- Assigns quotations to regions by the same rule as core.quotation_zone.
create table quotation as
select
  g.code as region_code,
  q.half_year,
  q.belfiore,
  q.zona,
  q.cod_tip,
  q.type,
  q.stato,
  q.stato_prev,
  q.purchase_min_eur_m2,
  q.purchase_max_eur_m2,
  q.rental_min_eur_m2_month,
  q.rental_max_eur_m2_month,
  q.release_id,
  q.member_id,
  q.position
from omi_quotation q
cross join region g
left join comune_code c on c.belfiore = q.belfiore
where c.belfiore is not null
  or q.region_code = g.code
order by q.belfiore collate "C", q.zona collate "C", q.half_year, q.cod_tip, q.stato collate "C", q.member_id, q.position;

-- serves: the current and past quotations of a zone
create index on quotation (belfiore, zona, half_year);
