-- purpose: the postal code of each parcel
-- version: 3
-- reads: core.parcel, layer.comune_code, layer.comune_postal_code, layer.comune_suppressed, layer.postal_code_area, core.comune_register, ledger.file_place
-- writes: section.postal_code
-- incremental: rows of parcels
-- grain: one row per parcel with a known postal code
-- crs: EPSG:4326

-- If several editions have a comune, the newest edition is used. If several areas contain a point, the newest area is used. The current comune is found by its
-- cadastral code, or else by an ISTAT code of any year, and has the postal codes of all comuni that were merged into the comune.
create table comune_cap as
with stated as (
  select
    n.belfiore,
    n.cap,
    n.edition,
    m.rank
  from comune_postal_code n
  join current_member m on m.member_id = n.member_id
  where n.belfiore is not null
  union
  select
    r.belfiore,
    n.cap,
    n.edition,
    m.rank
  from comune_postal_code n
  join current_member m on m.member_id = n.member_id
  join comune_register r on r.old_istat_code = n.istat_code
  where n.belfiore is null
    and not r.divided
),
ranked as (
  select
    belfiore,
    cap,
    edition,
    rank() over (partition by belfiore order by edition collate "C" desc, rank) as age
  from stated
)
select distinct
  belfiore,
  cap,
  edition
from ranked
where age = 1;

-- step: comune_today.sql

create table cap_piece as
select
  a.cap,
  a.edition,
  m.rank,
  st_subdivide(a.geom, 256) as geom
from postal_code_area a
join current_member m on m.member_id = a.member_id
where a.geom && (select st_setsrid(st_extent(point)::geometry, 4326) from parcel)
order by a.cap collate "C", a.member_id, a.position;

-- Analyzes the table, so that the planner starts the join from pieces of areas and finds parcels with an index.
analyze cap_piece;

create table postal_code as
with place_cap as (
  select
    t.belfiore,
    c.cap,
    c.edition
  from comune_today t
  join comune_cap c on c.belfiore = t.current_belfiore
),
only_cap as (
  select
    belfiore,
    min(cap) as cap,
    min(edition) as edition
  from place_cap
  group by belfiore
  having count(*) = 1
),
by_area as (
  select distinct on (p.fid)
    p.fid,
    a.cap,
    a.edition
  from cap_piece a
  join parcel p on st_covers(a.geom, p.point)
  where not exists (select from only_cap o where o.belfiore = p.belfiore)
    -- An area that crosses the border of its comune applies to the neighbouring comune only if that comune has the same postal code, or no known postal code.
    and (
      exists (select from place_cap c where c.belfiore = p.belfiore and c.cap = a.cap)
      or not exists (select from place_cap c where c.belfiore = p.belfiore)
    )
  order by p.fid, a.edition collate "C" desc, a.rank, a.cap collate "C"
)
select
  p.fid,
  o.cap,
  nullif(o.edition, '0000') as edition
from parcel p
join only_cap o on o.belfiore = p.belfiore
union all
select
  fid,
  cap,
  nullif(edition, '0000')
from by_area
order by fid;

alter table postal_code add primary key (fid);
