-- purpose: the years of the radiance values, and the boundaries used for the mean of a comune
-- cites: viirs_nightlights, istat_boundaries, tinitaly_dem, copernicus_dem, gsa_pvout
-- reads: core.comune_register, core.parcel, core.raster_tile, section.nightlights, layer.boundary, layer.comune_code
-- writes: none
-- incremental: rows of parcels
-- grain: one row per key, source and vintage
-- crs: none

-- core.raster_tile also contains elevation models and yield rasters, which do not affect night lights.
with kind as (
  select distinct
    p.belfiore,
    s.ntl_year,
    s.ntl_mean_comune is not null as has_mean
  from nightlights s
  join parcel p on p.fid = s.fid
  where s.ntl_year is not null
),
named as (
  select
    ntl_year || case when has_mean then ' ' || belfiore else '' end as key,
    *
  from kind
),
raster as (
  select distinct m.vintage
  from raster_tile t
  join current_member m on m.member_id = t.member_id
  where t.section = 'nightlights'
),
-- As in build.sql, the newest file that contains the comune is used.
drawn as (
  select distinct on (place.belfiore)
    place.belfiore,
    m.vintage
  from boundary b
  join current_member m on m.member_id = b.member_id
  left join (
    select
      old_istat_code as code,
      belfiore
    from comune_register
    where not divided
    union
    select
      istat_code,
      belfiore
    from comune_code
  ) as meaning on meaning.code = b.code
  join (select distinct belfiore from kind) as place on place.belfiore = coalesce(meaning.belfiore, b.belfiore)
  where b.kind = 'comune'
  order by place.belfiore, m.rank
)
select
  n.key,
  'viirs_nightlights' as source_id,
  r.vintage
from named n
join raster r on left(r.vintage, 4) = n.ntl_year::text
union
select
  n.key,
  'istat_boundaries',
  d.vintage
from named n
join drawn d on d.belfiore = n.belfiore
where n.has_mean
union
-- Cites the rasters for parcels where no raster has a value.
select
  'none',
  'viirs_nightlights',
  vintage
from raster;
