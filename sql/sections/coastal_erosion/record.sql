-- purpose: the section coastal_erosion of one parcel, and whether its source covers the place
-- reads: section.coastal_erosion, core.coast_coverage
-- writes: api.section_coastal_erosion, api.coverage_coastal_erosion
-- grain: one array, [] where no segment is near; one word
-- crs: none

create or replace function api.section_coastal_erosion(p_fid int4, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
begin
  select
    coalesce(
      json_agg(
        json_build_object(
          'dynamic', c.dynamic,
          'avg_change_m_year', trim_scale(round(c.avg_change_m_year::numeric, 2)),
          'severity_index', c.severity_index,
          'distance_m', trim_scale(round(c.distance_m::numeric, 2))
        )
        order by c.ordinal
      ),
      '[]'::json
    ),
    nullif(bool_or(c.may_be_cut), false)
  into value, linked
  from section.coastal_erosion c
  where c.fid = p_fid;
  if value::text <> '[]' then
    keys := array['coastal_erosion/' || p_fid];
  end if;
end
$$;
comment on function api.section_coastal_erosion(int4) is 'Section coastal_erosion as JSON: at most five shoreline segments within 1,000 m, nearest first; [] where there is none. linked: true if one is from an export that may be cut, else null';

create or replace function api.coverage_coastal_erosion(p_region int4, p_belfiore text, p_point geometry) returns text
language plpgsql stable as $$
begin
  return (
    select case
      when exists (select from core.coast_coverage c where c.region_code = p_region and c.belfiore = p_belfiore and c.mapped) then 'mapped'
      when exists (select from core.coast_coverage c where c.region_code = p_region) then 'partly_if_linked'
      else 'not_loaded'
    end
  );
end
$$;
comment on function api.coverage_coastal_erosion(int4, text, geometry) is 'mapped: no segment means none of low coast near; partly_if_linked: the files loaded do not cover the comune, so that the parcel is partly mapped by segments of an export that may be cut, or not mapped; not_loaded: none is loaded';
