-- purpose: findings about the addresses of comuni
-- reads: none
-- writes: none
-- grain: one row per finding or comune
-- crs: EPSG:4326, longitude latitude

-- statement: list
select
  f.kind,
  f.address_id,
  f.street,
  f.number,
  f.value,
  f.unit,
  trim_scale(round(st_y(f.geom)::numeric, 7))::float8 as lat,
  trim_scale(round(st_x(f.geom)::numeric, 7))::float8 as lng,
  f.other_id
from api.address_findings($1, array[$2::text]) f
order by array_position($3::text[], f.kind), f.street collate "C", f.number collate "C", f.address_id, f.other_id

-- statement: counts
select
  q.belfiore,
  q.answer
from api.address_quality($1, $2::text[]) q
order by q.belfiore
