-- purpose: comuni that the shoreline layer covers, with the file that covers each comune
-- version: 2
-- reads: core.parcel, core.comune_register, core.shore_piece, layer.shoreline_coverage
-- writes: core.coast_coverage
-- incremental: content, from the outline of the parcels
-- grain: one row per comune; empty if there is no current file
-- crs: none

create table coast_coverage as
with italy as (
  -- Selects the newest file that covers the shore of all Italy.
  select
    min(coverage.release_id) as release_id,
    min(coverage.member_id) as member_id,
    min(coverage.position) as position
  from shoreline_coverage as coverage
  join current_member as file using (member_id)
  left join lateral unnest(coverage.regions) as reached (region_code) on true
  group by file.file_id, file.rank
  having count(distinct reached.region_code) >= 15
    and not bool_or(file.may_be_cut)
  order by file.rank
  limit 1
),
place as (
  select belfiore from comune_register
  union
  select belfiore from parcel
),
-- A comune is not covered by segments without information or by segments of an export that may be incomplete.
shore as (
  select distinct on (belfiore)
    shore_piece.belfiore,
    shore_piece.release_id,
    shore_piece.member_id,
    shore_piece.position
  from shore_piece
  join current_member as file using (member_id)
  where dynamic is not null
    and not file.may_be_cut
    and belfiore is not null
  order by belfiore, member_id, position
)
select
  region.code as region_code,
  place.belfiore,
  coalesce(shore.member_id, italy.member_id) is not null as mapped,
  coalesce(shore.release_id, italy.release_id) as release_id,
  coalesce(shore.member_id, italy.member_id) as member_id,
  coalesce(shore.position, italy.position) as position
from place
cross join region
left join shore using (belfiore)
left join italy on true
where exists (select from shoreline_coverage)
order by place.belfiore collate "C";

alter table coast_coverage add primary key (region_code, belfiore);
