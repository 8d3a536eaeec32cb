-- purpose: the seismic zones, accelerations and hazard maps of each comune
-- cites: dpc_seismic, ingv_mps04, ispra_flood, ispra_landslide
-- reads: core.parcel, core.comune_register, core.coverage, section.risk, layer.comune_code, layer.comune_suppressed, layer.seismic_zone, layer.pga_node, layer.flood_coverage, layer.landslide_coverage, ledger.file_place
-- writes: none
-- incremental: rows of parcels
-- grain: one row per key, source and vintage
-- crs: none

-- step: comune_today.sql

with kind as (
  select distinct
    p.belfiore,
    r.pga_mapped,
    r.flood_level,
    r.landslide_level,
    p.belfiore || case when r.pga_mapped then ' pga' else '' end as key
  from risk r
  join parcel p on p.fid = r.fid
),
-- As in build.sql, the newest file that contains the comune is used.
zone as (
  select distinct on (r.belfiore)
    r.belfiore,
    m.vintage
  from seismic_zone z
  join current_member m on m.member_id = z.member_id
  join comune_register r on r.old_istat_code = z.istat_code
  where not r.divided
  order by r.belfiore, m.rank
),
mapped as (
  select
    c.belfiore,
    c.theme,
    case when c.theme = 'landslide' then 'ispra_landslide' else 'ispra_flood' end as source_id,
    m.vintage
  from coverage c
  join current_member m on m.member_id = c.member_id
  where c.mapped
),
node as (
  select distinct m.vintage
  from pga_node n
  join current_member m on m.member_id = n.member_id
),
-- If no file covers the comune of a parcel for the class of the parcel's flood level, adds all current files with this class. If no landslide file covers the
-- comune of a parcel with a landslide level, adds all current landslide files.
drawn as (
  select
    k.*,
    k.key || ' ' || coalesce(k.flood_level, '-') || ' ' || coalesce(k.landslide_level, '-') as narrow,
    'ispra_flood' as source_id,
    m.vintage
  from kind k
  join flood_coverage f on f.class = k.flood_level
  join current_member m on m.member_id = f.member_id
  where not exists (select from mapped c where c.belfiore = k.belfiore and c.theme = 'flood_' || k.flood_level)
  union
  select
    k.*,
    k.key || ' ' || coalesce(k.flood_level, '-') || ' ' || coalesce(k.landslide_level, '-'),
    'ispra_landslide',
    m.vintage
  from kind k
  cross join landslide_coverage l
  join current_member m on m.member_id = l.member_id
  where k.landslide_level is not null
    and not exists (select from mapped c where c.belfiore = k.belfiore and c.theme = 'landslide')
),
named as (
  select
    key,
    belfiore,
    pga_mapped
  from kind
  union
  select
    narrow,
    belfiore,
    pga_mapped
  from drawn
)
select distinct
  key,
  null as source_id,
  null as vintage
from named
union
select
  n.key,
  'dpc_seismic',
  z.vintage
from named n
join comune_today t on t.belfiore = n.belfiore
join zone z on z.belfiore = t.current_belfiore
union
select
  n.key,
  'ingv_mps04',
  g.vintage
from named n
cross join node g
where n.pga_mapped
union
select
  n.key,
  c.source_id,
  c.vintage
from named n
join mapped c on c.belfiore = n.belfiore
union
select
  narrow,
  source_id,
  vintage
from drawn;
