-- purpose: number, footprints and uses of the buildings on each land parcel
-- version: 3
-- reads: core.parcel, core.building_coverage, layer.dbsn_building, layer.dpc_building, layer.trento_building
-- writes: section.buildings
-- incremental: rows of parcels without a change under the same feature of layer.dbsn_building, layer.dpc_building, layer.trento_building
-- grain: one row per land parcel that shares enough area with a building
-- crs: EPSG:4326; overlaps are measured in EPSG:3035

create table region_box as
select
  st_setsrid(st_extent(geom)::geometry, 4326) as geom
from parcel;

-- Selects buildings above ground that are complete or of unknown state. A table is used, so that the planner can estimate the number of rows for the joins
-- below. Statistics of geometries are not collected, because with them the statement aborts on PGlite if a map has no feature near the parcels.
create unlogged table building as
select
  'igm_dbsn' as source,
  residential,
  area_m2,
  drawing,
  release_id,
  member_id,
  position,
  geom
from dbsn_building
where counts
  and geom && (select geom from region_box)
union all
select
  'dpc_buildings',
  null,
  area_m2,
  drawing,
  release_id,
  member_id,
  position,
  geom
from dpc_building
where geom && (select geom from region_box)
union all
select
  'trento_cadastre',
  null,
  core.area_m2(geom),
  core.drawing(geom),
  release_id,
  member_id,
  position,
  geom
from trento_building
where geom && (select geom from region_box);

analyze building (source, drawing, member_id, position);

-- Finds the repeated copies of identical footprints, because each footprint counts once. Almost all footprints are unique, so only a few rows are sorted.
create table repeated as
select
  member_id,
  position
from (
  select
    building.member_id,
    building.position,
    row_number() over (partition by source, drawing order by file.rank, building.member_id, building.position) as nth
  from building
  join (
    select
      source,
      drawing
    from building
    group by source, drawing
    having count(*) > 1
  ) as drawn using (source, drawing)
  join current_member as file using (member_id)
) as ranked
where nth > 1;

analyze repeated;

-- The join reads footprints and finds parcels with an index. Footprints and parcels are stored along the same curve, so neighbours are close together on disk.
-- offset 0 keeps comuni out of this join, because otherwise each comune would read all buildings.
create view building_on_parcel as
select
  building.source,
  building.residential,
  building.area_m2,
  building.release_id,
  building.member_id,
  building.position,
  building.geom,
  parcel.fid,
  parcel.belfiore,
  parcel.area_m2 as parcel_m2,
  parcel.geom as parcel_geom
from building
join parcel on parcel.geom && building.geom
where parcel.kind = 'land'
  and not exists (
    select
    from repeated
    where repeated.member_id = building.member_id
      and repeated.position = building.position
  )
offset 0;

-- Uses only the buildings of the comune's source. A building inside a parcel needs no intersection.
create view building_share as
select
  pair.source,
  pair.residential,
  pair.area_m2,
  pair.release_id,
  pair.member_id,
  pair.position,
  pair.geom,
  pair.fid,
  pair.parcel_m2,
  case
    when st_covers(pair.parcel_geom, pair.geom) then pair.area_m2
    else core.area_m2(st_intersection(pair.geom, pair.parcel_geom, core.overlay_grid(1e-13)))
  end as shared_m2
from building_on_parcel as pair
join building_coverage as coverage
  on coverage.belfiore = pair.belfiore
  and coverage.source = pair.source
-- offset 0 makes PostgreSQL measure each area once instead of once per use.
offset 0;

-- Walls are drawn along borders, so an overlap must be at least 1 m², or half of a parcel smaller than 2 m².
create unlogged table counted_share as
select *
from building_share
where shared_m2 >= least(1, parcel_m2 / 2);

-- A building counts for the parcel that contains its largest part.
create unlogged table building_place as
select distinct on (member_id, position)
  member_id,
  position,
  fid
from counted_share
order by member_id, position, round(shared_m2::numeric, 2) desc, fid;

-- Parcels with buildings that overlap each other, even outside the parcel. Buildings that only touch do not overlap. The table is analyzed, because otherwise
-- the planner expects one parcel and reads all shares again for each parcel.
create table crowded as
select distinct a.fid
from counted_share as a
join counted_share as b
  on b.fid = a.fid
  and (b.member_id, b.position) > (a.member_id, a.position)
  and b.geom && a.geom
where st_relate(a.geom, b.geom, '2********');

analyze crowded;

-- Unites the parts of overlapping buildings, so that built_share counts overlaps once.
create table built_union as
select
  share.fid,
  core.area_m2(
    st_union(st_collectionextract(st_intersection(share.geom, parcel.geom, core.overlay_grid(1e-13)), 3), core.overlay_grid(1e-13))
  ) as built_m2
from crowded
join counted_share as share using (fid)
join parcel using (fid)
group by share.fid;

create table buildings as
with summed as (
  select
    share.fid,
    min(share.parcel_m2) as parcel_m2,
    count(place.fid)::int4 as count,
    -- Sums decimal numbers, because their sum does not depend on the order.
    sum(round(share.shared_m2::numeric, 6)) as footprint_m2,
    -- All buildings of a parcel come from one source, so either all buildings have a use or none has.
    bool_and(share.residential is not null) as has_uses,
    (count(place.fid) filter (where share.residential))::int4 as residential_count,
    coalesce(sum(round(share.shared_m2::numeric, 6)) filter (where share.residential), 0) as residential_footprint_m2,
    (count(place.fid) filter (where share.area_m2 >= 10))::int4 as roof_count,
    coalesce(sum(round(share.area_m2::numeric, 6)) filter (where place.fid is not null and share.area_m2 >= 10), 0) as roof_area_m2
  from counted_share as share
  left join building_place as place using (member_id, position, fid)
  group by share.fid
)
select
  summed.fid,
  summed.count,
  round(summed.footprint_m2, 2)::float8 as footprint_m2,
  case when summed.has_uses then summed.residential_count end as residential_count,
  case when summed.has_uses then round(summed.residential_footprint_m2, 2)::float8 end as residential_footprint_m2,
  round(least(1, coalesce(built_union.built_m2, summed.footprint_m2::float8) / summed.parcel_m2)::numeric, 6)::float8 as built_share,
  summed.roof_count,
  summed.roof_area_m2::float8 as roof_area_m2
from summed
left join built_union using (fid)
order by summed.fid;

alter table buildings add primary key (fid);
