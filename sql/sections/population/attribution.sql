-- purpose: which years the residents are of, and whose buildings they are spread over
-- cites: istat_census, igm_dbsn, dpc_buildings, trento_cadastre
-- reads: section.population, core.census_figures, core.building_coverage, core.parcel
-- writes: none
-- grain: one row per source and vintage
-- crs: none

select distinct
  'istat_census' as source_id,
  f.reference_year::text as vintage
from population p
join census_figures f on f.section_id = p.section_id
union
-- The sections themselves are those of the bases.
select
  'istat_census',
  '2021'
from population
union
select
  c.source,
  m.vintage
from building_coverage c
join member_in_force m on m.member_id = c.member_id
where c.has_uses
  and exists (
    select
    from parcel
    join population using (fid)
    where parcel.belfiore = c.belfiore
      and population.estimation_method = 'dasymetric'
  );
