-- purpose: the source of buildings that is used in each comune
-- version: 4
-- reads: core.parcel, core.comune_register, layer.comune_code, layer.boundary, layer.dbsn_building, layer.dbsn_extent, layer.dpc_building, layer.trento_building, core.comune_catastale
-- writes: core.building_coverage
-- incremental: content, from the outline of the parcels
-- grain: one row per comune; empty if there is no current file of buildings
-- crs: EPSG:4326; shared areas of a building and a comune are measured in EPSG:3035

-- The comuni of core.comune_register, and other comuni that have parcels.
create table place as
select
  mine.belfiore,
  core.lower_case(min(code.sigla)) as sigla,
  min(code.province_name) as province_name
from (
  select belfiore from comune_register
  union
  select belfiore from parcel
) as mine
left join comune_code as code using (belfiore)
where exists (select from dbsn_building)
  or exists (select from dpc_building)
  or exists (select from trento_building)
group by mine.belfiore;

-- Keys by which file names identify a province: the car plate code, and the name in each language.
create table province_key as
select distinct
  code.sigla,
  named.key
from (select distinct core.lower_case(sigla) as sigla, province_name from comune_code) as code
cross join lateral (
  select code.sigla as key
  union
  select core.comune_key(code.province_name)
  union
  select core.comune_key(part)
  from unnest(string_to_array(code.province_name, '/')) as part
) as named;

-- A file that names a province covers only the comuni of that province. The file's buildings in neighbouring provinces do not count as coverage.
create table spoken as
select
  extent.release_id,
  extent.member_id,
  extent.position,
  file.rank,
  place.belfiore
from dbsn_extent as extent
join current_member as file using (member_id)
cross join place
where extent.province is null
  or extent.province not in (select key from province_key)
  or exists (
    select
    from province_key
    where province_key.key = extent.province
      and province_key.sigla = place.sigla
  );

-- step: comune_boundary.sql

create table drawn as
select
  belfiore,
  geom
from comune_boundary
where exists (select from spoken);

create table undrawn as
select belfiore
from place
where not exists (select from drawn where drawn.belfiore = place.belfiore);

-- A comune is covered if it shares at least 1 m² with one building. offset 0 prevents the use of statistics in the joins with parcels. If a map has no feature
-- nearby, these statistics give a wrong row estimate, and the statement aborts on PGlite.
create table dbsn_met as
select distinct
  drawn.belfiore,
  spoken.member_id
from drawn
join spoken using (belfiore)
cross join lateral (
  select
  from dbsn_building as building
  where building.geom && drawn.geom
    and building.member_id = spoken.member_id
    and building.area_m2 >= 1
    and st_intersects(drawn.geom, building.geom)
    and (
      st_covers(drawn.geom, building.geom)
      or core.area_m2(st_intersection(drawn.geom, building.geom, core.overlay_grid(1e-13))) >= 1
    )
  limit 1
) as building
union
-- A comune without a boundary is covered if a building contains the representative point of one of the comune's parcels.
select
  parcel.belfiore,
  building.member_id
from (
  select
    member_id,
    geom
  from dbsn_building
  where exists (select from undrawn)
  offset 0
) as building
join parcel
  on parcel.geom && building.geom
  and st_covers(building.geom, parcel.point)
join spoken
  on spoken.member_id = building.member_id
  and spoken.belfiore = parcel.belfiore
where parcel.belfiore in (select belfiore from undrawn);

-- A building aggregate has the ISTAT code that its comune had at the time of the survey. If the list of comuni is not loaded, the comune is that of the parcels
-- under the aggregate.
create table dpc_met as
with held as (
  select
    istat_code,
    release_id,
    member_id,
    min(position) as position
  from dpc_building
  group by istat_code, release_id, member_id
),
known as (
  select
    register.belfiore,
    held.*
  from held
  join comune_register as register on register.old_istat_code = held.istat_code
)
select
  belfiore,
  release_id,
  member_id,
  position
from known
union
select
  parcel.belfiore,
  held.release_id,
  held.member_id,
  held.position
from held
join (
  select
    member_id,
    istat_code,
    geom
  from dpc_building
  where not exists (select from comune_register)
  offset 0
) as building
  on building.member_id = held.member_id
  and building.istat_code = held.istat_code
join parcel
  on parcel.geom && building.geom
  and st_covers(building.geom, parcel.point);

-- The buildings of the land register name the comune catastale instead of the comune.
create table trento_met as
select
  catastale.belfiore,
  building.release_id,
  building.member_id,
  min(building.position) as position
from trento_building as building
join comune_catastale as catastale on catastale.prefix = 'IT.TN.' || building.ccat
where catastale.belfiore is not null
group by catastale.belfiore, building.release_id, building.member_id;

create table building_coverage as
with reached as (
  select
    dbsn_met.belfiore,
    1 as turn,
    'igm_dbsn' as source,
    spoken.rank,
    spoken.release_id,
    spoken.member_id,
    spoken.position
  from dbsn_met
  join spoken using (belfiore, member_id)
  union all
  select
    trento_met.belfiore,
    2,
    'trento_cadastre',
    file.rank,
    trento_met.release_id,
    trento_met.member_id,
    trento_met.position
  from trento_met
  join current_member as file using (member_id)
  union all
  select
    dpc_met.belfiore,
    3,
    'dpc_buildings',
    file.rank,
    dpc_met.release_id,
    dpc_met.member_id,
    dpc_met.position
  from dpc_met
  join current_member as file using (member_id)
),
speaker as (
  select distinct on (belfiore)
    *
  from reached
  order by belfiore, turn, rank, member_id, position
)
select
  region.code as region_code,
  place.belfiore,
  speaker.source,
  coalesce(speaker.source = 'igm_dbsn', false) as has_uses,
  speaker.release_id,
  speaker.member_id,
  speaker.position
from place
cross join region
left join speaker using (belfiore)
order by place.belfiore collate "C";

alter table building_coverage add primary key (region_code, belfiore);
