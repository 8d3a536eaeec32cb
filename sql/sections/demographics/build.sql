-- purpose: the census section of each land parcel, and the parcel's part of the section's land
-- version: 2
-- reads: core.parcel, layer.census_section
-- writes: section.demographics
-- incremental: rows of parcels without a change of the same section_id
-- grain: one row per land parcel whose representative point lies in a section
-- crs: EPSG:4326; areas are those of core.parcel, EPSG:3035

-- Sections outside, parcels' points inside through their index: each section is prepared once for all its points.
create table demographics as
with located as (
  select
    p.fid,
    round(p.area_m2::numeric, 6) as area_m2,
    -- Sections share borders, and a point may lie on one: then the smaller code, so that every machine says the same.
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
  -- Areas as decimal numbers, so that their sum is the same in whatever order they come.
  coalesce(round(area_m2 / nullif(sum(area_m2) over (partition by section_id), 0), 6), 0)::float8 as parcel_share
from located
order by fid;

alter table demographics add primary key (fid);
