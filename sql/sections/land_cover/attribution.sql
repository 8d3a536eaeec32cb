-- purpose: the land cover map that is used for each comune
-- cites: clc_land_cover
-- reads: core.land_coverage, layer.land_cover_reach
-- writes: none
-- grain: one row per comune and vintage
-- crs: none

select
  c.belfiore as key,
  'clc_land_cover' as source_id,
  m.vintage
from land_coverage c
join current_member m on m.member_id = c.member_id
where c.mapped
union
-- A parcel may extend beyond the border of its comune, into a map that does not cover the comune.
select
  c.belfiore,
  'clc_land_cover',
  m.vintage
from land_coverage c
cross join land_cover_reach r
join current_member m on m.member_id = r.member_id
where not c.mapped;
