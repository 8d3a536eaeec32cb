-- purpose: prepares the inputs of the plain scripts without timing. Each input table contains the needed current rows of a layer, with a GiST index.
-- reads: ledger.publication, ledger.publication_file, ledger.member, layer.flood_hazard, layer.landslide_hazard, layer.pga_node, layer.shoreline_segment, layer.egms_cell, layer.census_section, layer.land_cover_polygon, layer.land_cover_class
-- writes: plain.current_member, plain.flood, plain.landslide, plain.node, plain.shore, plain.cell, plain.census, plain.land
-- grain: one row per published record; plain.current_member: one row per member; plain.cell: one row per cell
-- crs: EPSG:4326; cells are squares of EPSG:3035

create table plain.current_member as
select distinct
  member.member_id
from ledger.publication
join ledger.publication_file using (publication_id)
join ledger.member using (file_id)
where publication.state = 'current';

create table plain.flood as
select
  class,
  geom
from layer.flood_hazard
where member_id in (select member_id from plain.current_member);

-- serves: the join with parcels
create index on plain.flood using gist (geom);

create table plain.landslide as
select
  class,
  geom
from layer.landslide_hazard
where member_id in (select member_id from plain.current_member);

-- serves: the join with parcels
create index on plain.landslide using gist (geom);

create table plain.node as
select
  ag_g,
  spacing_deg,
  st_setsrid(st_makepoint(lon, lat), 4326) as geom
from layer.pga_node
where member_id in (select member_id from plain.current_member);

-- serves: the nodes around a parcel's point
create index on plain.node using gist (geom);

create table plain.shore as
select
  dynamic,
  avg_change_m_year,
  geom::geography as geog
from layer.shoreline_segment
where member_id in (select member_id from plain.current_member)
  and dynamic is not null;

-- serves: the segments near a parcel
create index on plain.shore using gist (geog);

create table plain.cell as
select distinct on (ix, iy)
  mean_velocity_mm_year as velocity,
  acceleration_mm_year2 as acceleration,
  st_makeenvelope(ix * 100, iy * 100, ix * 100 + 100, iy * 100 + 100, 3035) as geom
from layer.egms_cell
where member_id in (select member_id from plain.current_member)
order by
  ix,
  iy,
  rmse_mm,
  mean_velocity_std_mm_year,
  pid collate "C";

-- serves: the join with parcels
create index on plain.cell using gist (geom);

create table plain.census as
select
  section_id,
  geom
from layer.census_section
where member_id in (select member_id from plain.current_member)
  and not fictitious;

-- serves: the join with parcels' points
create index on plain.census using gist (geom);

create table plain.land as
select
  polygon.code,
  class.description,
  polygon.geom
from layer.land_cover_polygon as polygon
join layer.land_cover_class as class using (release_id, code)
where polygon.member_id in (select member_id from plain.current_member);

-- serves: the join with parcels
create index on plain.land using gist (geom);

analyze plain.flood;
analyze plain.landslide;
analyze plain.node;
analyze plain.shore;
analyze plain.cell;
analyze plain.census;
analyze plain.land;
