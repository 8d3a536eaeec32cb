-- purpose: the census editions that contain the residents, and the buildings used to distribute them
-- cites: istat_census, igm_dbsn, dpc_buildings, trento_cadastre
-- reads: core.building_coverage, core.census_figures, core.comune_register, core.parcel, section.population, layer.census_section
-- writes: none
-- incremental: rows of parcels
-- grain: one row per key, source and vintage
-- crs: none

-- The comune of a parcel determines the sources of buildings.
create table fact as
select distinct
  p.section_id,
  p.estimation_method,
  case when p.estimation_method = 'dasymetric' then parcel.belfiore end as belfiore
from population p
join parcel on parcel.fid = p.fid;

-- citations of the facts
with tract as (
  select distinct
    section_id,
    left(section_id, -7) as number,
    left(section_id, -7) || ' ' || estimation_method as key
  from fact
),
counted as (
  select
    left(f.section_id, -7) as number,
    m.vintage
  from census_figures f
  join current_member m on m.member_id = f.member_id
  union
  select
    left(s.section_id, -7),
    m.vintage
  from census_section s
  join current_member m on m.member_id = s.member_id
  where not s.fictitious
),
-- The residents of a current comune are the sum over all former comuni that were merged into the comune. The editions of all these comuni are therefore cited.
merged as (
  select
    n.number,
    coalesce(min(r.belfiore collate "C"), n.number) as comune
  from (select distinct number from counted) n
  left join comune_register r on r.old_istat_code = lpad(n.number, 6, '0')
    and not r.divided
  group by n.number
),
census as (
  select distinct
    g.number,
    c.vintage
  from merged g
  join merged o on o.comune = g.comune
  join counted c on c.number = o.number
),
built as (
  select distinct
    p.section_id,
    c.source,
    m.vintage
  from fact p
  join building_coverage c on c.belfiore = p.belfiore
  join current_member m on m.member_id = c.member_id
),
of_tract as (
  select
    t.section_id,
    t.number,
    t.key,
    coalesce(array_agg(distinct b.source || ' ' || b.vintage) filter (where b.source is not null), '{}') as used
  from tract t
  left join built b on b.section_id = t.section_id
  group by t.section_id, t.number, t.key
),
of_most as (
  select
    key,
    mode() within group (order by used) as used
  from of_tract
  group by key
),
-- A census section gets a separate key if its sources of buildings differ from the sources of most census sections with the same key.
named as (
  select distinct
    t.key,
    t.number,
    m.used
  from of_tract t
  join of_most m on m.key = t.key
  union
  select
    t.key || ' ' || t.section_id,
    t.number,
    t.used
  from of_tract t
  join of_most m on m.key = t.key
  where t.used <> m.used
)
select
  n.key,
  'istat_census' as source_id,
  c.vintage
from named n
join census c on c.number = n.number
union
select
  n.key,
  split_part(u.used, ' ', 1),
  split_part(u.used, ' ', 2)
from named n
cross join lateral unnest(n.used) as u (used);
