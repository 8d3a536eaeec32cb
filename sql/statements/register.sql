-- purpose: the register of fids, when parcels come and go
-- reads: core.parcel, core.parcel_register
-- writes: core.parcel_register
-- grain: a row per parcel that was ever published
-- crs: EPSG:4326, longitude latitude in degrees

-- statement: published_parcel
create view :"schema".published_parcel as
select
  p.*,
  :"carried" as carried
from :"from" p
where :'is_published'

-- statement: is_carried
exists (
  select
  from :"members" m
  where m.was = p.member_id
)

-- statement: come_back
update core.parcel_register r
set
  retired_on = null,
  drawing = null,
  point = null,
  successor_fid = null
where r.region_code = $1
  and r.retired_on is not null
  and exists (
    select
    from :"now" p
    where p.fid = r.fid
  )

-- statement: retire
update core.parcel_register r
set
  retired_on = current_date,
  drawing = core.drawing(w.geom),
  point = w.point
from :"leaving" w
:"among"
where r.region_code = $1
  and r.fid = w.fid
  and not exists (
    select
    from :"now" p
    where p.fid = w.fid
  )

-- statement: among
join :"fids" using (fid)

-- statement: parcels_on
select geom
from :"table"

-- statement: is_on
-- offset 0: asked once per retired parcel, never a join, of which PostGIS now and then makes an estimate that the planner refuses.
exists (
  select
  from :"table" p
  where p.geom && r.point
    :"unless"
  offset 0
)

-- statement: unless
and not exists (
  select
  from :"table" o
  where o.fid = p.fid
)

-- statement: name_successors
with box as materialized (
  select st_setsrid(st_extent(geom)::geometry, 4326) as geom
  from (:"parcels") p
),
standing as not materialized (
  select
    fid,
    geom
  from core.parcel
  where fid < $1
    or fid >= $2
  union all
  select
    fid,
    geom
  from :"now"
),
found as materialized (
  select
    r.region_code,
    r.reference,
    (
      select case when count(*) = 1 then min(s.fid) end
      from standing s
      where s.geom && r.point
        and core.drawing(s.geom) = r.drawing
    ) as fid
  from core.parcel_register r
  where r.point is not null
    and r.point && (select geom from box)
    and (:"moved")
)
update core.parcel_register r
set successor_fid = f.fid
from found f
where r.region_code = f.region_code
  and r.reference = f.reference
  and r.successor_fid is distinct from f.fid
