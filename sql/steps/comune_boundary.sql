-- purpose: step of a build: the boundaries of the comuni of the table place
-- reads: core.comune_register, layer.comune_code, layer.boundary
-- writes: none
-- grain: one row per boundary; the boundaries of a comune come from the newest file that contains the comune
-- crs: EPSG:4326

-- A boundary of an earlier year has the ISTAT code of that year, so former codes are also matched. If several files contain a comune, the newest file is used.
-- A current comune may have the boundaries of its former comuni.
create view comune_boundary as
with meaning as (
  select
    old_istat_code as code,
    belfiore
  from comune_register
  where not divided
  union
  -- Adds comuni that have parcels in this region but belong to a different region in the ISTAT list.
  select
    code.istat_code,
    code.belfiore
  from comune_code as code
  join place using (belfiore)
),
drawn as (
  select
    place.belfiore,
    boundary.release_id,
    boundary.member_id,
    boundary.position,
    boundary.area_m2,
    boundary.geom,
    rank() over (partition by place.belfiore order by file.rank) as edition
  from boundary
  join current_member as file using (member_id)
  left join meaning on meaning.code = boundary.code
  join place on place.belfiore = coalesce(meaning.belfiore, boundary.belfiore)
  where boundary.kind = 'comune'
)
select
  belfiore,
  release_id,
  member_id,
  position,
  area_m2,
  geom
from drawn
where edition = 1;
