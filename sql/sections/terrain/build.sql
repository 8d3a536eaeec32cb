-- purpose: elevation, slope and ruggedness of each land parcel, from the cells of elevation models
-- version: 1
-- reads: core.parcel, layer.tinitaly_tile, layer.copernicus_tile
-- writes: section.terrain
-- incremental: rows of parcels
-- grain: one row per land parcel that has a cell with an elevation, or whose raster is missing
-- crs: parcels are transformed to the CRS of the rasters

-- The finer model has priority, partly because GLO-30 includes trees and roofs.
create view elevation_tile as
select
  1 as model,
  name,
  release_id,
  member_id,
  position,
  epsg,
  width,
  height,
  west,
  north,
  cell_width,
  cell_height,
  block_width,
  block_height,
  geom
from tinitaly_tile
union all
select
  2,
  name,
  release_id,
  member_id,
  position,
  epsg,
  width,
  height,
  west,
  north,
  cell_width,
  cell_height,
  block_width,
  block_height,
  geom
from copernicus_tile;

create view land as
select
  fid as id,
  geom,
  point
from parcel
where kind = 'land';

-- sweep: sweep.ts

-- Lists the rows of parcels for which no model has all cells.
create view lacking as
select *
from relief r
where (missing > 0 or unread)
  and not exists (
    select
    from relief w
    where w.id = r.id
      and w.missing = 0
      and not w.unread
  );

create view chosen as
select *
from relief
where missing = 0
  and not unread
union all
(
  select distinct on (id)
    *
  from lacking
  order by id, unread desc, turn
);

-- Published rows that are kept, because the raster file of an unchanged parcel is missing.
create table kept as
select s.*
from standing_terrain s
join chosen c on c.id = s.fid
  and c.unread
join parcel p using (fid)
join published_parcel h using (fid)
where h.geom::bytea = p.geom::bytea;

create table terrain as
select
  id::int4 as fid,
  elevation_min_m,
  elevation_max_m,
  elevation_mean_m,
  elevation_std_m,
  slope_mean_deg,
  slope_max_deg,
  ruggedness_index_m,
  tri_mean_m,
  aspect_predominant,
  case when not unread then cells end as cells,
  case when not unread then (array['tinitaly_dem', 'copernicus_dem'])[model] end as source_id,
  unread
from chosen
where id::int4 not in (select fid from kept)
union all
select
  fid,
  elevation_min_m,
  elevation_max_m,
  elevation_mean_m,
  elevation_std_m,
  slope_mean_deg,
  slope_max_deg,
  ruggedness_index_m,
  tri_mean_m,
  aspect_predominant,
  cells,
  source_id,
  unread
from kept
order by fid;

alter table terrain add primary key (fid);
alter table terrain alter column unread set not null;
-- serves: the count of parcels that have no value because a raster was missing
create index on terrain (fid) where unread;
