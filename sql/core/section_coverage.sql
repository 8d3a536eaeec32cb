-- purpose: which comuni the files of a section speak of
-- version: 4
-- reads: layer.omi_quotation, layer.income, layer.census_section, layer.accesso, layer.land_use_piece, layer.school, layer.pharmacy, layer.fuel_station, layer.cultural_place, core.quoted_comune, core.declared_income, core.comune_register, core.access_point, core.point_of_interest
-- writes: core.section_coverage
-- grain: one row per section and comune that its files speak of, and one per section of which anything is loaded
-- crs: none

create view point_section as
select
  case when category = 'culture' then 'cultural_heritage' else 'poi' end as section,
  belfiore,
  regions_reached
from point_of_interest;

create table section_coverage as
with spoken as (
  select
    section,
    belfiore
  from quoted_comune
  cross join (values ('valuation'), ('valuation_history')) as v (section)
  where half_year is not null
    and perimeter_half_year is not null
  union all
  select
    'economics',
    belfiore
  from declared_income
  where cap is null
  union all
  select
    'address',
    belfiore
  from access_point
  union all
  select
    section,
    belfiore
  from point_section
  where belfiore is not null
  union all
  -- A file that reaches 15 of the 20 regions is a list of Italy: where it names nothing, there is nothing.
  select
    p.section,
    r.belfiore
  from (select section from point_section group by section having max(regions_reached) >= 15) p
  cross join (select distinct belfiore from comune_register) r
),
loaded as (
  select section
  from (values ('valuation'), ('valuation_history')) as v (section)
  where exists (select from omi_quotation)
  union all
  select 'economics'
  where exists (select from income)
  union all
  -- Where it is mapped, the figures of each census section say.
  select section
  from (values ('demographics'), ('population')) as v (section)
  where exists (select from census_section)
  union all
  select 'address'
  where exists (select from accesso)
  union all
  -- Where it is mapped, core.urban_area says.
  select 'land_use'
  where exists (select from land_use_piece)
  union all
  select 'poi'
  where exists (select from school)
    or exists (select from pharmacy)
    or exists (select from fuel_station)
  union all
  select 'cultural_heritage'
  where exists (select from cultural_place)
)
select
  g.code as region_code,
  x.section,
  x.belfiore
from (
  select
    section,
    belfiore
  from spoken
  union
  select
    section,
    '*'
  from loaded
) x
cross join region g
order by x.section collate "C", x.belfiore collate "C";

alter table section_coverage add primary key (region_code, section, belfiore);
