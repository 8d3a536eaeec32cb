-- purpose: updates of the register of fids for added and retired parcels
-- reads: core.parcel, core.parcel_register
-- writes: core.parcel_register, history.retired
-- grain: one row per parcel that was ever published
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
  from :"same_document" d
  where d.document_id = p.document_id
) or exists (
  select
  from :"same_parcel" s
  where s.fid = p.fid
)

-- statement: come_back
-- Marks retired parcels as current if they are published again, and stores their previous state in history.retired. Several references may have the same fid.
with was as (
  select
    r.region_code,
    r.reference,
    r.fid,
    r.successor_fid
  from core.parcel_register r
  where r.region_code = $1
    and r.retired_on is not null
    and exists (
      select
      from :"now" p
      where p.fid = r.fid
    )
),
kept as (
  insert into history.retired (fid, until_swap, retired, successor_fid)
  select
    fid,
    $2,
    true,
    successor_fid
  from was
  on conflict do nothing
)
update core.parcel_register r
set
  retired_on = null,
  drawing = null,
  point = null,
  successor_fid = null
from was w
where r.region_code = w.region_code
  and r.reference = w.reference

-- statement: retire
with leaver as (
  update core.parcel_register r
  set
    retired_on = (now() at time zone 'Europe/Rome')::date,
    drawing = core.drawing(w.geom),
    point = w.point
  from :"leaving" w
  where r.region_code = $1
    and r.fid = w.fid
    and not exists (
      select
      from :"now" p
      where p.fid = w.fid
    )
  returning r.fid
)
insert into history.retired (fid, until_swap, retired)
select
  fid,
  $2,
  false
from leaver
on conflict do nothing

-- statement: parcels_on
select geom
from :"table"

-- statement: is_on
-- offset 0 makes PostgreSQL evaluate the query once per retired parcel instead of as a join. For a join, PostGIS sometimes returns an estimate that the planner
-- refuses.
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

-- statement: standing_parcels
select
  fid,
  geom
from core.parcel

-- statement: standing_with_new
-- Reads the published parcels of all other regions, and the new parcels of this region from a table that is not yet attached as a partition.
select
  fid,
  geom
from core.parcel
where fid < :'first'
  or fid >= :'next'
union all
select
  fid,
  geom
from :"now"

-- statement: name_successors
with box as materialized (
  select st_setsrid(st_extent(geom)::geometry, 4326) as geom
  from (:"parcels") p
),
standing as not materialized (:"standing"),
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
),
was as (
  select
    r.region_code,
    r.reference,
    r.fid,
    r.successor_fid,
    f.fid as now_fid
  from core.parcel_register r
  join found f using (region_code, reference)
  where r.successor_fid is distinct from f.fid
),
kept as (
  insert into history.retired (fid, until_swap, retired, successor_fid)
  select
    fid,
    $1,
    true,
    successor_fid
  from was
  on conflict do nothing
)
update core.parcel_register r
set successor_fid = w.now_fid
from was w
where r.region_code = w.region_code
  and r.reference = w.reference
