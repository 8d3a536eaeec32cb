-- purpose: potential yield of solar panels on the roofs of each land parcel
-- version: 1
-- reads: core.parcel, section.buildings, layer.pvout_tile
-- writes: section.solar
-- incremental: rows of parcels
-- grain: one row per land parcel with a building of at least 10 m²
-- crs: points are transformed to the CRS of the rasters

create view yield_tile as
select
  1 as model,
  *
from pvout_tile;

create view roofed as
select
  p.fid as id,
  p.point
from buildings b
join parcel p on p.fid = b.fid
where b.roof_count > 0
  and exists (select from pvout_tile);

-- sweep: sweep.ts

create unlogged table measured as
select
  p.fid,
  b.roof_count,
  b.roof_area_m2,
  b.roof_area_m2 * 0.45 * 0.21 as kwp,
  coalesce(v.value, s.pvout_kwh_per_kwp) as pvout,
  case when s.roof_area_m2 = round(b.roof_area_m2::numeric, 2)::float8 then s.pvout_kwh_year_total end as kept_kwh,
  coalesce(v.unread and s.pvout_kwh_per_kwp is null, false) as unread
from buildings b
join parcel p on p.fid = b.fid
left join (
  select distinct on (id)
    *
  from pvout
  order by id, missing > 0, turn
) v on v.id = p.fid
-- Keeps the published yield of an unchanged parcel whose raster file is missing.
left join (
  select
    s.fid,
    s.roof_area_m2,
    s.pvout_kwh_per_kwp,
    s.pvout_kwh_year_total
  from standing_solar s
  join published_parcel h using (fid)
  join parcel p using (fid)
  where h.geom::bytea = p.geom::bytea
) s on s.fid = p.fid
  and v.unread
where b.roof_count > 0;

create table solar as
select
  fid,
  roof_count as n_buildings,
  round(roof_area_m2::numeric, 2)::float8 as roof_area_m2,
  round(kwp::numeric, 2)::float8 as kwp_max_total,
  round(pvout::numeric, 0)::float8 as pvout_kwh_per_kwp,
  coalesce(kept_kwh, round((kwp * pvout)::numeric, 0)::float8) as pvout_kwh_year_total,
  case
    when round(pvout::numeric, 0) >= 1400 then 'alta'
    when round(pvout::numeric, 0) >= 1200 then 'media'
    when pvout is not null then 'bassa'
  end as viability_class,
  unread
from measured
order by fid;

alter table solar add primary key (fid);
alter table solar alter column n_buildings set not null;
alter table solar alter column unread set not null;
-- serves: the count of parcels that have no value because a raster was missing
create index on solar (fid) where unread;
