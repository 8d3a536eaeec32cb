-- purpose: the editions of the shoreline that contain the parcels' segments
-- cites: ispra_shoreline
-- reads: core.parcel, core.shore_piece, section.coastal_erosion
-- writes: none
-- grain: one row per key and vintage
-- crs: distances are geodesic (geography)

create table cited_edition as
select distinct
  'ispra_shoreline' as source_id,
  m.vintage
from shore_piece s
join current_member m on m.member_id = s.member_id
where s.dynamic is not null;

-- If all pieces have the same vintage, the parcels are not read. Otherwise, the vintages of a parcel are those of the pieces whose dynamic and distance from
-- the parcel equal the stored values.
create view cited_parcel as
select
  c.fid,
  array_agg(distinct m.vintage order by m.vintage) as vintages
from coastal_erosion c
join parcel p on p.fid = c.fid
join shore_piece s on s.dynamic = c.dynamic
  and abs(st_distance(p.geom::geography, s.geom::geography) - c.distance_m) <= 0.006
join current_member m on m.member_id = s.member_id
where (select count(*) > 1 from cited_edition)
group by c.fid;

-- step: cited_editions.sql
