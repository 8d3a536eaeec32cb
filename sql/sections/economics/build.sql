-- purpose: the key of a parcel's incomes, and the price of dwellings around it
-- version: 2
-- reads: core.parcel, core.declared_income, core.quotation, section.postal_code, section.valuation
-- writes: section.economics
-- incremental: rows of parcels
-- grain: one row per land parcel with published incomes
-- crs: none

create table economics as
with price as (
  select
    v.belfiore,
    v.zona,
    v.half_year,
    -- Mean of the middle prices in whole euro: (min + max) / 2 over n types.
    round(sum(q.purchase_min_eur_m2 + q.purchase_max_eur_m2) / (2.0 * count(*)), 2)::float8 as avg_residential_price_m2
  from (select distinct belfiore, zona, half_year from valuation) v
  join quotation q on q.belfiore = v.belfiore and q.zona = v.zona and q.half_year = v.half_year
  where q.cod_tip in (1, 19, 20, 21, 22)
    and q.stato_prev
    and q.purchase_min_eur_m2 is not null
    and q.purchase_max_eur_m2 is not null
  group by v.belfiore, v.zona, v.half_year
)
select
  p.fid,
  p.belfiore,
  k.cap,
  m.avg_residential_price_m2
from parcel p
left join postal_code c on c.fid = p.fid
left join declared_income k on k.belfiore = p.belfiore and k.cap = c.cap
left join declared_income w on w.belfiore = p.belfiore and w.cap is null
left join valuation v on v.fid = p.fid
left join price m on m.belfiore = v.belfiore and m.zona = v.zona and m.half_year = v.half_year
where p.kind = 'land'
  and (k.cap is not null or w.belfiore is not null)
order by p.fid;

alter table economics add primary key (fid);
