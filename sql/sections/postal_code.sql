-- purpose: the postal code of each parcel
-- reads: core.parcel, layer.comune_postal_code, layer.postal_code_area, layer.comune_code, core.comune_register
-- writes: section.postal_code
-- carries: rows of parcels
-- grain: one row per parcel whose postal code is known
-- crs: EPSG:4326

-- Of several editions the newest counts, of the table and of the areas each for itself. An ISTAT code may be of any year: it leads to the comune in force,
-- which has the postal codes of all that were merged into it.
create table comune_cap as
with newest as (
  select
    belfiore,
    istat_code,
    cap
  from comune_postal_code
  where edition = (select max(edition) from comune_postal_code)
)
select
  c.belfiore,
  n.cap
from newest n
join comune_code c on c.belfiore = n.belfiore
union
select
  r.belfiore,
  n.cap
from newest n
join comune_register r on r.old_istat_code = n.istat_code
where n.belfiore is null
  and not r.divided;

create table cap_piece as
select
  a.cap,
  st_subdivide(a.geom, 256) as geom
from postal_code_area a
where a.edition = (select max(edition) from postal_code_area)
  and a.geom && (select st_setsrid(st_extent(point)::geometry, 4326) from parcel)
order by a.cap collate "C", a.member_id, a.position;

-- Gives the planner sizes: pieces of areas drive, parcels follow through their index.
analyze cap_piece;

create table postal_code as
with only_cap as (
  select
    belfiore,
    min(cap) as cap
  from comune_cap
  group by belfiore
  having count(*) = 1
),
by_area as (
  select
    p.fid,
    p.belfiore,
    min(a.cap collate "C") as cap
  from cap_piece a
  join parcel p on st_covers(a.geom, p.point)
  where not exists (select from only_cap o where o.belfiore = p.belfiore)
    -- An area that reaches over the border does not give its code to the neighbour.
    and (
      exists (select from comune_cap c where c.belfiore = p.belfiore and c.cap = a.cap)
      or not exists (select from comune_cap c where c.belfiore = p.belfiore)
    )
  group by p.fid, p.belfiore
)
select
  p.fid,
  o.cap
from parcel p
join only_cap o on o.belfiore = p.belfiore
union all
select
  fid,
  cap
from by_area
order by fid;

alter table postal_code add primary key (fid);
