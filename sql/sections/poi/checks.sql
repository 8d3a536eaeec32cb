-- purpose: checks that each listed point has a location, or a reason for the missing location
-- reads: core.point_of_interest, section.unplaced, layer.school, layer.pharmacy, layer.fuel_station, layer.cultural_place, layer.comune_code
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: points_are_placed_or_not
-- level: error
-- expects: a point has a location, or is in section.unplaced with a reason
select
  p.id,
  p.placed_by,
  p.reason
from point_of_interest p
left join unplaced u on u.id = p.id
where (p.geom is null) = (p.reason is null)
  or (p.placed_by is null) <> (p.geom is null)
  or (u.id is null) <> (p.reason is null);

-- check: listed_points_are_kept
-- level: error
-- expects: each school, open pharmacy, station and place of culture that its list assigns to the region is in core.point_of_interest
select
  l.category,
  l.code,
  l.member_id,
  l.position
from (
  select 'school' as category, s.school_id as code, s.member_id, s.position
  from school s
  join comune_code c on c.belfiore = s.belfiore
  join region g on g.code = c.region_code
  union all
  select 'pharmacy', p.pharmacy_id, p.member_id, p.position
  from pharmacy p
  join comune_code c on c.istat_code = p.istat_code
  join region g on g.code = c.region_code
  where p.open
  union all
  select 'fuel', f.station_id, f.member_id, f.position
  from fuel_station f
  join comune_code c on c.sigla = f.province and c.region_code = f.region_code
  join region g on g.code = c.region_code
  where core.comune_key(c.name) = f.comune_key
  union all
  select 'culture', o.place_id, o.member_id, o.position
  from cultural_place o
  join comune_code c on c.sigla = core.upper_case(o.province)
  join region g on g.code = c.region_code
  where c.name = o.comune
) l
where not exists (
  select
  from point_of_interest p
  where p.id = l.category || ':' || l.code
);
