-- purpose: data that an export of a region needs in addition to the columns of the sections
-- reads: core.parcel, ledger.publication
-- writes: none
-- grain: one row per region, or per parcel
-- crs: EPSG:4326, longitude latitude

-- statement: publication
select
  p.digest,
  to_char(p.published_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as published_at
from ledger.publication p
where p.unit_code = $1
  and p.state = 'current'

-- statement: polygon_problem
select nullif(st_isvalidreason(st_geomfromgeojson($1)), 'Valid Geometry') as problem

-- statement: order
-- Selects the parcels of a region or comune, or in polygons, sorted along a Hilbert curve. Returns the extent of the parcels, and their fids as 4-byte
-- integers, because a region may have millions of fids.
select
  string_agg(int4send(p.fid), ''::bytea order by p.geom, p.fid) as fids,
  st_xmin(st_extent(p.geom)) as west,
  st_ymin(st_extent(p.geom)) as south,
  st_xmax(st_extent(p.geom)) as east,
  st_ymax(st_extent(p.geom)) as north
from core.parcel p
where p.fid >= $1
  and p.fid < $2
  and ($3::text is null or p.belfiore = $3)
  and ($4::text is null or st_covers(st_geomfromgeojson($4), p.point))

-- statement: drawings
select
  p.fid,
  st_asbinary(st_forcepolygonccw(p.geom), 'NDR') as wkb,
  st_xmin(p.geom) as west,
  st_ymin(p.geom) as south,
  st_xmax(p.geom) as east,
  st_ymax(p.geom) as north
from core.parcel p
where p.fid = any ($1)
