-- purpose: values, JSON block and coverage of the section coastal_erosion for one parcel, and its columns for many parcels
-- reads: section.coastal_erosion, core.coast_coverage
-- writes: api.values_coastal_erosion, api.section_coastal_erosion, api.coverage_coastal_erosion, api.columns_coastal_erosion
-- grain: one array per parcel, [] if there is no segment within 1,000 m; for columns one row per parcel
-- crs: none

create or replace function api.values_coastal_erosion(p_row section.coastal_erosion)
returns table (avg_change_m_year numeric, distance_m numeric)
language sql immutable parallel safe as $$
  select
    trim_scale(round((p_row).avg_change_m_year::numeric, 2)),
    trim_scale(round((p_row).distance_m::numeric, 2))
$$;
comment on function api.values_coastal_erosion(section.coastal_erosion) is 'Mean change (m/year) and distance (m) of a shoreline segment, rounded to 2 decimals';

create or replace function api.section_coastal_erosion(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
begin
  select
    coalesce(
      json_agg(
        json_build_object(
          'dynamic', c.dynamic,
          'avg_change_m_year', v.avg_change_m_year,
          'severity_index', c.severity_index,
          'distance_m', v.distance_m
        )
        order by c.ordinal
      ),
      '[]'::json
    ),
    nullif(bool_or(c.may_be_cut), false)
  into value, linked
  from coastal_erosion c
  cross join lateral api.values_coastal_erosion(row(c.*)::section.coastal_erosion) v
  where c.fid = p_fid;
  if value::text <> '[]' then
    keys := array['coastal_erosion/' || p_fid];
  end if;
end
$$;
comment on function api.section_coastal_erosion(int4, anyelement) is 'Section coastal_erosion as JSON: at most five shoreline segments within 1,000 m, nearest first. The array is empty if there are none. Result linked: true if a segment comes from an export that may be incomplete, else null';

create or replace function api.coverage_coastal_erosion(p_region int4, p_belfiore text, p_point geometry, p_from anyelement) returns text
language plpgsql stable as $$
begin
  return (
    select case
      when exists (select from coast_coverage c where c.region_code = p_region and c.belfiore = p_belfiore and c.mapped) then 'mapped'
      when exists (select from coast_coverage c where c.region_code = p_region) then 'partly_if_linked'
      else 'not_loaded'
    end
  );
end
$$;
comment on function api.coverage_coastal_erosion(int4, text, geometry, anyelement) is 'Coverage of a parcel by shoreline files. Value mapped: an empty section means that there is no low coast within 1,000 m. Value partly_if_linked: the loaded files do not cover the comune. The coverage is then partial if the parcel has a segment from an export that may be incomplete, else not_mapped. Value not_loaded: no file is loaded';

create or replace function api.columns_coastal_erosion(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  select
    s.fid,
    nullif(bool_or(s.may_be_cut), false),
    true,
    json_build_array(
      count(*),
      (array_agg(s.dynamic order by s.ordinal))[1],
      (array_agg(v.avg_change_m_year order by s.ordinal))[1],
      (array_agg(s.severity_index order by s.ordinal))[1],
      (array_agg(v.distance_m order by s.ordinal))[1]
    )
  from coastal_erosion s
  cross join lateral api.values_coastal_erosion(row(s.*)::section.coastal_erosion) v
  where s.fid = any (p_fids)
  group by s.fid;
end
$$;
comment on function api.columns_coastal_erosion(int4[], anyelement) is 'Section coastal_erosion as columns, for the parcels that have segments within 1,000 m: the number of these segments, and the nearest segment';
