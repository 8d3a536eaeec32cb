-- purpose: values, JSON block and coverage of the section buildings for one parcel, and its columns for many parcels
-- reads: section.buildings, core.building_coverage
-- writes: api.values_buildings, api.section_buildings, api.coverage_buildings, api.columns_buildings
-- grain: one object per parcel, null if there is no building; for columns one row per parcel
-- crs: none

create or replace function api.values_buildings(p_row section.buildings)
returns table (footprint_m2 numeric, residential_footprint_m2 numeric, built_share numeric)
language sql immutable parallel safe as $$
  select
    trim_scale(round((p_row).footprint_m2::numeric, 2)),
    trim_scale(round((p_row).residential_footprint_m2::numeric, 2)),
    trim_scale(round((p_row).built_share::numeric, 6))
$$;
comment on function api.values_buildings(section.buildings) is 'Rounded values of the section buildings: footprints in m² with 2 decimals, and the built share of the parcel with 6 decimals';

create or replace function api.section_buildings(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
begin
  select
    json_build_object(
      'count', b.count,
      'footprint_m2', v.footprint_m2,
      'residential_count', b.residential_count,
      'residential_footprint_m2', v.residential_footprint_m2,
      'built_share', v.built_share,
      'source', null
    ),
    array['buildings/@']
  into value, keys
  from buildings b
  cross join lateral api.values_buildings(row(b.*)::section.buildings) v
  where b.fid = p_fid;
end
$$;
comment on function api.section_buildings(int4, anyelement) is 'Section buildings as JSON: number of buildings whose largest part is on the parcel, footprint in m², number and footprint of residential buildings (null: no use is known), and built share of the parcel. The result is null if there is no building';

create or replace function api.coverage_buildings(p_region int4, p_belfiore text, p_point geometry, p_from anyelement) returns text
language plpgsql stable as $$
begin
  return (
    select case
      when exists (select from building_coverage c where c.region_code = p_region and c.belfiore = p_belfiore and c.source is not null) then 'mapped'
      when exists (select from building_coverage c where c.region_code = p_region) then 'not_mapped'
      else 'not_loaded'
    end
  );
end
$$;
comment on function api.coverage_buildings(int4, text, geometry, anyelement) is 'Coverage of a parcel by sources of buildings. Value mapped: a source covers the comune, so an empty section means that the parcel has no building. Value not_mapped: the loaded sources do not cover the comune. Value not_loaded: no source is loaded';

create or replace function api.columns_buildings(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  select
    s.fid,
    null::bool,
    true,
    json_build_array(
      s.count,
      v.footprint_m2,
      s.residential_count,
      v.residential_footprint_m2,
      v.built_share
    )
  from buildings s
  cross join lateral api.values_buildings(row(s.*)::section.buildings) v
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_buildings(int4[], anyelement) is 'Section buildings as columns, for the parcels that have a row, with the values of api.section_buildings';
