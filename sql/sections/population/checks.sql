-- purpose: checks that the residents of parcels add up to the residents of their census section
-- reads: section.population, core.census_figures
-- writes: none
-- incremental: rows of parcels without a change of the same section_id
-- grain: one row per violating census section
-- crs: none

-- check: population_adds_up
-- level: error
-- expects: the estimates of a census section's parcels add up to the residents of the census section
select
  population.section_id,
  min(figures.population_total) as residents,
  sum(population.estimated::numeric) as estimated,
  sum(population.dasymetric::numeric) as dasymetric,
  sum(population.areal::numeric) as areal
from population
join census_figures as figures using (section_id)
group by population.section_id
having sum(population.estimated::numeric) <> min(figures.population_total)
  or sum(population.dasymetric::numeric) <> min(figures.population_total)
  or sum(population.areal::numeric) <> min(figures.population_total);
