-- purpose: the source of the roofs in each comune, and the edition of the yield atlas
-- cites: gsa_pvout, igm_dbsn, dpc_buildings, trento_cadastre
-- reads: core.building_coverage, core.raster_tile
-- writes: none
-- grain: one row per key, source and vintage
-- crs: none

select
  c.belfiore || k.key as key,
  c.source as source_id,
  m.vintage
from building_coverage c
join current_member m on m.member_id = c.member_id
cross join (values (' roof'), (' yield')) as k (key)
union
select
  c.belfiore || ' yield',
  t.source_id,
  m.vintage
from building_coverage c
cross join raster_tile t
join current_member m on m.member_id = t.member_id
where t.section = 'solar'
  and c.source is not null;
