-- purpose: the streets of the region's comuni
-- version: 2
-- reads: layer.odonimo, layer.odonimo_indir, core.access_point
-- writes: core.street
-- grain: one row per street
-- crs: none

-- The lists STRAD and INDIR are published on different days. The newer list is used, or STRAD if both have the same day.
create table street as
with found as (
  select distinct on (f.progressivo_nazionale)
    f.*
  from (
    select
      o.release_id,
      o.member_id,
      o.position,
      o.progressivo_nazionale,
      o.belfiore,
      o.odonimo,
      o.display_name,
      o.display_localita,
      o.localita_key,
      m.vintage,
      1 as preference,
      m.rank
    from odonimo o
    join current_member m using (member_id)
    union all
    select
      i.release_id,
      i.member_id,
      i.position,
      i.progressivo_nazionale,
      i.belfiore,
      i.odonimo,
      i.display_name,
      i.display_localita,
      i.localita_key,
      m.vintage,
      2,
      m.rank
    from odonimo_indir i
    join current_member m using (member_id)
  ) f
  order by f.progressivo_nazionale, f.vintage desc, f.preference, f.rank, f.belfiore collate "C"
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
cross join region g
left join counted n on n.street_id = f.progressivo_nazionale
order by f.belfiore collate "C", f.progressivo_nazionale;

alter table street add primary key (region_code, street_id);
alter table street alter column belfiore set not null;
alter table street alter column name set not null;
alter table street alter column odonimo set not null;
alter table street alter column accesses set not null;
alter table street alter column located set not null;
alter table street alter column release_id set not null;
alter table street alter column member_id set not null;
alter table street alter column position set not null;
-- serves: streets of a comune
create index on street (belfiore);
