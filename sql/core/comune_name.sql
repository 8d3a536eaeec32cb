-- purpose: names by which the address search finds the region's comuni
-- version: 3
-- reads: layer.comune_code, layer.comune_suppressed, layer.comune_postal_code, core.comune_found, core.comune_register, core.street
-- writes: core.comune_name
-- incremental: content
-- grain: one row per key, comune and kind
-- crs: none

create table comune_name as
with mine as (
  select
    g.code as region_code,
    c.belfiore,
    c.istat_code,
    c.name,
    c.name_other
  from comune_code c
  cross join region g
  where c.region_code = g.code
    or c.belfiore in (select belfiore from comune_found)
  union all
  -- Comuni that are not in the ISTAT list have the names given in their files.
  select
    f.region_code,
    f.belfiore,
    null,
    f.name,
    null
  from comune_found f
  where f.listed_region_code is null
    and f.name is not null
),
-- If several editions have a comune, the newest edition is used. The current comune is found by its cadastral code, or else by an ISTAT code of any year.
postal_code as (
  select
    belfiore,
    cap,
    rank() over (partition by belfiore order by edition collate "C" desc) as age
  from (
    select n.belfiore, n.cap, n.edition
    from comune_postal_code n
    where n.belfiore is not null
    union
    select r.belfiore, n.cap, n.edition
    from comune_postal_code n
    join comune_register r on r.old_istat_code = n.istat_code
    where n.belfiore is null
      and not r.divided
  ) n
),
found as (
  select region_code, belfiore, 'name' as kind, name, core.comune_key(name) as key
  from mine
  union all
  select m.region_code, m.belfiore, 'second' as kind, trim(o.name) as name, core.comune_key(o.name) as key
  from mine m
  cross join lateral unnest(string_to_array(m.name_other, '/')) as o (name)
  union all
  -- If a comune was divided among several comuni, an address may be in any of these, so a row is kept for each.
  select m.region_code, m.belfiore, 'former' as kind, x.name, core.comune_key(x.name) as key
  from comune_suppressed x
  join comune_register r on r.old_istat_code = x.istat_code and r.reason <> 'in force'
  join mine m on m.istat_code = r.istat_code
  union all
  select s.region_code, s.belfiore, 'locality' as kind, s.locality as name, s.locality_key as key
  from street s
  where s.locality_key is not null
  union all
  select m.region_code, m.belfiore, 'postal_code' as kind, p.cap as name, p.cap as key
  from postal_code p
  join mine m on m.belfiore = p.belfiore
  where p.age = 1
)
select
  region_code,
  key,
  belfiore,
  kind,
  min(name collate "C") collate "default" as name
from found
where key <> ''
group by region_code, key, belfiore, kind
order by key collate "C", belfiore, kind;

alter table comune_name add primary key (region_code, key, belfiore, kind);
alter table comune_name alter column name set not null;
-- serves: a typed name
create index on comune_name (key);
-- serves: correction of a mistyped name
create index on comune_name using gin (key gin_trgm_ops);
