-- purpose: the comuni that the files of a section cover
-- version: 4
-- reads: layer.omi_quotation, layer.income, layer.census_section, layer.accesso, layer.land_use_piece, layer.school, layer.pharmacy, layer.fuel_station, layer.cultural_place, core.quoted_comune, core.declared_income, core.comune_register, core.access_point, core.point_of_interest
-- writes: core.section_coverage
-- incremental: content
-- grain: one row per section and covered comune, and one row with comune * per section with loaded data
-- crs: none

-- Categories of points in each section.
create view point_list as
select
  section,
  category
from (
  values
    ('poi', 'school'),
    ('poi', 'pharmacy'),
    ('poi', 'fuel'),
    ('cultural_heritage', 'culture')
) as v (section, category);

create view listed_comune as
select
  category,
  belfiore
from point_of_interest
where belfiore is not null
union
-- A file that covers at least 15 of the 20 regions is a list of Italy, so comuni that the file does not name have no points.
select
  p.category,
  r.belfiore
from (select category from point_of_interest group by category having max(regions_reached) >= 15) p
cross join (select distinct belfiore from comune_register) r;

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
  -- A comune is covered only if all lists of the section cover the comune. Without a list of pharmacies, for example, the number of pharmacies is unknown.
  select
    l.section,
    c.belfiore
  from point_list l
  join listed_comune c on c.category = l.category
  group by l.section, c.belfiore
  having count(*) = (select count(*) from point_list a where a.section = l.section)
),
loaded as (
  select section
  from (values ('valuation'), ('valuation_history')) as v (section)
  where exists (select from omi_quotation)
  union all
  select 'economics'
  where exists (select from income)
  union all
  -- Coverage depends on the data of each census section, so no comune is listed.
  select section
  from (values ('demographics'), ('population')) as v (section)
  where exists (select from census_section)
  union all
  select 'address'
  where exists (select from accesso)
  union all
  -- Coverage depends on core.urban_area, so no comune is listed.
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
