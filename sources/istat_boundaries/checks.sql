-- purpose: checks that the boundaries are inside Italy and agree with one another
-- reads: layer.boundary
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: in_italy
-- level: error
-- expects: every boundary is inside longitudes 6–19 and latitudes 35–47.5
select kind, code, st_astext(st_envelope(geom), 3) as box
from boundary
where not st_covers(st_makeenvelope(6, 35, 19, 47.5, 4326), st_envelope(geom));

-- check: levels_agree
-- level: warn
-- expects: the areas of the provinces in a file add up to the area of the region within a thousandth (only editions with both levels)
select
  r.code,
  r.area_m2,
  sum(p.area_m2) as provinces_area_m2
from boundary r
join boundary p on st_covers(r.geom, st_pointonsurface(p.geom))
join member m on m.member_id = p.member_id
where r.kind = 'regione'
  and p.kind = 'provincia'
group by r.member_id, r.position, r.code, r.area_m2, m.file_id
having abs(r.area_m2 - sum(p.area_m2)) > r.area_m2 / 1000;
