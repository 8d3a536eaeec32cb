-- purpose: checks the shoreline segments of a release
-- reads: layer.shoreline_segment
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: shoreline_change_agrees
-- level: warn
-- expects: an eroding segment has a negative mean change, and an advancing segment has a positive mean change
select
  member_id,
  position,
  dynamic,
  avg_change_m_year
from shoreline_segment
where (dynamic = 'erosion' and avg_change_m_year > 0)
  or (dynamic = 'accretion' and avg_change_m_year < 0);

-- check: shoreline_information
-- level: warn
-- expects: every segment has a class of movement
select
  member_id,
  position
from shoreline_segment
where dynamic is null;
