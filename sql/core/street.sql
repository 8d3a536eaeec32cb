-- purpose: the streets of the region's comuni
-- version: 1
-- reads: layer.odonimo, layer.odonimo_indir, layer.comune_code, core.access_point
-- writes: core.street
-- grain: one row per street
-- crs: none

create table street as
with found as (
  select
    release_id,
    member_id,
    position,
    progressivo_nazionale,
    belfiore,
    odonimo,
    display_name,
    display_localita,
    localita_key
  from odonimo
  union all
  -- Streets that STRAD does not have, or all of them where there is no STRAD.
  select
    i.release_id,
    i.member_id,
    i.position,
    i.progressivo_nazionale,
    i.belfiore,
    i.odonimo,
    i.display_name,
    i.display_localita,
    i.localita_key
  from odonimo_indir i
),
counted as (
  select
    street_id,
    count(*)::int4 as accesses,
    count(geom)::int4 as located
  from access_point
  group by street_id
)
select
  g.code as region_code,
  f.progressivo_nazionale as street_id,
  f.belfiore,
  f.display_name as name,
  f.odonimo,
  f.display_localita as locality,
  f.localita_key as locality_key,
  coalesce(n.accesses, 0) as accesses,
  coalesce(n.located, 0) as located,
  f.release_id,
  f.member_id,
  f.position
from found f
join comune_code c on c.belfiore = f.belfiore
join region g on g.code = c.region_code
left join counted n on n.street_id = f.progressivo_nazionale
order by f.belfiore, f.progressivo_nazionale;

alter table street add primary key (region_code, street_id);
alter table street alter column belfiore set not null;
alter table street alter column name set not null;
alter table street alter column odonimo set not null;
alter table street alter column accesses set not null;
alter table street alter column located set not null;
alter table street alter column release_id set not null;
alter table street alter column member_id set not null;
alter table street alter column position set not null;
