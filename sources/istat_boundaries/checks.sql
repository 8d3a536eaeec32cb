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
-- expects: the areas of the provinces add up to the area of the region within a thousandth (only editions with both levels)
select r.code, r.area_m2, p.area_m2 as provinces_area_m2
from boundary r
join (
  select
    g.code,
    sum(p.area_m2) as area_m2
  from boundary p
  join boundary g on g.kind = 'regione' and st_covers(g.geom, st_pointonsurface(p.geom))
  where p.kind = 'provincia'
  group by g.code
) p using (code)
where r.kind = 'regione'
  and abs(r.area_m2 - p.area_m2) > r.area_m2 / 1000;
