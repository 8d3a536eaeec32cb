-- purpose: OMI zones of the region in each half-year
-- version: 3
-- reads: layer.omi_zone, layer.omi_quotation, layer.comune_code
-- writes: core.quotation_zone
-- grain: one row per zone and half-year
-- crs: none

-- The workspace has only comuni of the region, and comuni whose parcels are still in the files of the region's cadastre. A suppressed comune belongs to the
-- region that the OMI files state. ZONE and VALORI may be in different files. If ZONE lacks a zone, the zone's row comes from VALORI, without a description or
-- microzona.
create table quotation_zone as
select distinct on (z.belfiore collate "C", z.zona collate "C", z.half_year)
  g.code as region_code,
  z.half_year,
  z.semester,
  z.belfiore,
  z.zona,
  z.link_zona,
  z.comune_name,
  z.fascia,
  z.description,
  z.microzona,
  z.release_id,
  z.member_id,
  z.position
from (
  select
    0 as source_rank,
    region_code,
    half_year,
    semester,
    belfiore,
    zona,
    link_zona,
    comune_name,
    fascia,
    description,
    microzona,
    release_id,
    member_id,
    position
  from omi_zone
  union all
  select
    1,
    region_code,
    half_year,
    semester,
    belfiore,
    zona,
    link_zona,
    comune_name,
    fascia,
    null,
    null,
    release_id,
    member_id,
    position
  from omi_quotation
) z
cross join region g
left join comune_code c on c.belfiore = z.belfiore
where c.belfiore is not null
  or z.region_code = g.code
order by z.belfiore collate "C", z.zona collate "C", z.half_year, z.source_rank, z.link_zona collate "C", z.fascia collate "C", z.comune_name collate "C", z.member_id, z.position;

alter table quotation_zone add primary key (region_code, belfiore, zona, half_year);
