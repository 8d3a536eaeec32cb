-- purpose: night light of each land parcel, compared with its comune
-- version: 2
-- reads: core.parcel, core.comune_register, layer.comune_code, layer.boundary, layer.radiance_tile, core.raster_tile
-- writes: section.nightlights
-- incremental: rows of parcels
-- grain: one row per land parcel whose cell has a radiance, or whose raster is missing
-- crs: points and boundaries are transformed to the CRS of the rasters

-- Lists the rasters of the region's product. Column model ranks the rasters, newest year first, and collection 2 before 1.
create view light_tile as
select
  (dense_rank() over (order by tile.year desc, coalesce(tile.collection, 1) desc))::int4 as model,
  tile.year,
  tile.name,
  tile.release_id,
  tile.member_id,
  tile.position,
  tile.epsg,
  tile.width,
  tile.height,
  tile.west,
  tile.north,
  tile.cell_width,
  tile.cell_height,
  tile.block_width,
  tile.block_height,
  tile.geom
from radiance_tile as tile
join raster_tile as chosen on chosen.section = 'nightlights'
  and chosen.member_id = tile.member_id
  and chosen.position = tile.position;

create view land as
select
  fid as id,
  point
from parcel
where kind = 'land'
  and exists (select from light_tile);

create table place as
select distinct belfiore
from parcel
where kind = 'land';

-- step: comune_boundary.sql

create table outline as
select
  (row_number() over (order by belfiore collate "C"))::int4 as id,
  belfiore,
  (array_agg(release_id order by area_m2 desc, position))[1] as release_id,
  (array_agg(member_id order by area_m2 desc, position))[1] as member_id,
  (array_agg(position order by area_m2 desc, position))[1] as position,
  st_pointonsurface((array_agg(geom order by area_m2 desc, position))[1]) as point,
  st_collectionextract(st_collect(geom), 3) as geom
from comune_boundary
where exists (select from light_tile)
group by belfiore;

-- sweep: sweep.ts

-- Selects one mean of a comune per model (year and collection), because the parcel's value and the comune's mean must be from the same model. If several
-- rasters of a model have values, the first raster without missing cells is used, or else the first raster.
create table comune_mean as
select distinct on (id, model)
  *
from comune_radiance
order by id, model, missing > 0, turn;

create unlogged table chosen as
select
  p.fid,
  r.turn,
  r.model,
  r.value,
  o.id as outline_id,
  c.turn as mean_turn,
  c.value as mean,
  r.unread or coalesce(c.unread, false) as unread
from radiance r
join parcel p on p.fid = r.id
left join outline o on o.belfiore = p.belfiore
left join comune_mean c on c.id = o.id
  and c.model = r.model;

-- Keeps the row of an unchanged parcel if a raster file of the parcel or of its comune is missing.
create table kept as
select s.*
from standing_nightlights s
join chosen c on c.fid = s.fid
  and c.unread
join parcel p on p.fid = s.fid
join published_parcel h on h.fid = s.fid
where h.geom::bytea = p.geom::bytea;

create table nightlights as
with rounded as (
  select
    fid,
    round(value::numeric, 2)::float8 as ntl_parcel,
    round(mean::numeric, 2)::float8 as ntl_mean_comune,
    round((value / nullif(mean, 0))::numeric, 2)::float8 as ntl_ratio,
    model
  from chosen
  where not unread
),
made as (
  select
    r.fid,
    r.ntl_parcel,
    r.ntl_mean_comune,
    r.ntl_ratio,
    case
      when r.ntl_parcel < 0.5 then 'dark'
      when r.ntl_parcel < 5 then 'dim'
      when r.ntl_parcel < 20 then 'medium'
      when r.ntl_parcel < 60 then 'bright'
      else 'very_bright'
    end as ntl_class,
    y.year as ntl_year,
    false as unread
  from rounded r
  join (select distinct model, year from light_tile) y using (model)
)
select *
from made
union all
select
  fid,
  ntl_parcel,
  ntl_mean_comune,
  ntl_ratio,
  ntl_class,
  ntl_year,
  unread
from kept
union all
select
  fid,
  null,
  null,
  null,
  null,
  null,
  true
from chosen
where unread
  and fid not in (select fid from kept)
order by fid;

alter table nightlights add primary key (fid);
alter table nightlights alter column unread set not null;
-- serves: the count of parcels that have no value because a raster was missing
create index on nightlights (fid) where unread;
