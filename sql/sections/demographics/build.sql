-- purpose: the census section of each land parcel, and the parcel's share of the section's land
-- version: 2
-- reads: core.parcel, layer.census_section
-- writes: section.demographics
-- incremental: rows of parcels without a change of the same section_id
-- grain: one row per land parcel whose representative point is in a census section
-- crs: EPSG:4326; areas are from core.parcel, EPSG:3035

-- The join reads census sections and finds the points of parcels with an index. PostGIS prepares each census section once for all its points.
create table demographics as
with located as (
  select
    p.fid,
    round(p.area_m2::numeric, 6) as area_m2,
    -- Census sections share borders. For a point on a border, the smaller code is used, so every machine gives the same result.
    min(s.section_id collate "C") as section_id
  from census_section s
  join parcel p on st_covers(s.geom, p.point)
  where not s.fictitious
    and p.kind = 'land'
  group by p.fid, p.area_m2
)
select
  fid,
  section_id,
  -- Sums decimal numbers, because their sum does not depend on the order.
  coalesce(round(area_m2 / nullif(sum(area_m2) over (partition by section_id), 0), 6), 0)::float8 as parcel_share
from located
order by fid;

alter table demographics add primary key (fid);
-- serves: the parcels of a census section, which a refresh builds at the same time
create index on demographics (section_id);
