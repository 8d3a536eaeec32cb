-- purpose: the buildings from which the section buildings of one parcel is computed, and the file used for the parcel's comune
-- reads: core.parcel, core.building_coverage
-- writes: none
-- reruns: section.buildings
-- parcels: comune
-- grain: one row per building and field, and one row for the coverage
-- crs: none

create view evidence as
select
  share.fid,
  'count' as field,
  case share.residential when true then 'residential' when false then 'not residential' else 'unknown use' end as value,
  share.release_id,
  share.member_id,
  share.position,
  share.shared_m2 as measure,
  'm2' as unit,
  'building whose largest part is on the parcel; if two parts differ by less than 0.01 m², the parcel with the smaller fid is used' as rule
from counted_share as share
join building_place using (member_id, position, fid)
union all
select
  fid,
  case when shared_m2 >= least(1, parcel_m2 / 2) then 'footprint_m2' else 'meta.not_counted' end,
  case residential when true then 'residential' when false then 'not residential' else 'unknown use' end,
  release_id,
  member_id,
  position,
  shared_m2,
  'm2',
  case
    when shared_m2 >= least(1, parcel_m2 / 2) then 'area shared with the parcel; built_share counts overlaps once'
    else 'not counted, because the shared area is below 1 m² (or below half of a parcel of less than 2 m²)'
  end
from building_share
where shared_m2 > 0
union all
select
  parcel.fid,
  'meta.coverage.buildings',
  coverage.source,
  coverage.release_id,
  coverage.member_id,
  coverage.position,
  null,
  null,
  'source of the comune''s buildings: igm_dbsn if it covers the comune, else trento_cadastre, else dpc_buildings'
from parcel
join building_coverage as coverage using (belfiore)
where coverage.source is not null;
