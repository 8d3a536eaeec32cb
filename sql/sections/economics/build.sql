-- purpose: the key of a parcel's incomes, and the price of dwellings in its OMI zone
-- version: 3
-- reads: core.parcel, core.comune_register, core.declared_income, core.quotation, layer.comune_code, layer.comune_suppressed, ledger.file_place, section.postal_code, section.valuation
-- writes: section.economics
-- incremental: rows of parcels
-- grain: one row per land parcel with published incomes
-- crs: none

-- step: comune_today.sql

create table economics as
with earning as (
  -- Uses the last incomes of a suppressed comune only if no incomes are published for the comune that now contains its territory.
  select distinct
    t.belfiore,
    case when d.belfiore is null then t.belfiore else t.current_belfiore end as income_belfiore
  from comune_today t
  left join declared_income d on d.belfiore = t.current_belfiore
),
price as (
  select
    v.belfiore,
    v.zona,
    v.half_year,
    -- Mean of the midpoints (min + max) / 2 of the price ranges of all residential types. Prices are whole euro.
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
  e.income_belfiore as belfiore,
  k.cap,
  m.avg_residential_price_m2
from parcel p
join earning e on e.belfiore = p.belfiore
left join postal_code c on c.fid = p.fid
left join declared_income k on k.belfiore = e.income_belfiore and k.cap = c.cap
left join declared_income w on w.belfiore = e.income_belfiore and w.cap is null
left join valuation v on v.fid = p.fid
left join price m on m.belfiore = v.belfiore and m.zona = v.zona and m.half_year = v.half_year
where p.kind = 'land'
  and (k.cap is not null or w.belfiore is not null)
order by p.fid;

alter table economics add primary key (fid);
