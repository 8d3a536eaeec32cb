-- purpose: the section buildings of one parcel, and whether a source covers the place
-- reads: section.buildings, core.building_coverage
-- writes: api.section_buildings, api.coverage_buildings
-- grain: one object, or null where there is no building; one word
-- crs: none

create or replace function api.section_buildings(p_fid int4, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found section.buildings;
begin
  -- Read first: where parcels lie on other nodes, what else is asked lies here.
  select *
  into v_found
  from section.buildings b
  where b.fid = p_fid;
  if v_found.fid is not null then
    keys := array['buildings/@'];
    value := json_build_object(
      'count', v_found.count,
      'footprint_m2', trim_scale(round(v_found.footprint_m2::numeric, 2)),
      'residential_count', v_found.residential_count,
      'residential_footprint_m2', trim_scale(round(v_found.residential_footprint_m2::numeric, 2)),
      'built_share', trim_scale(round(v_found.built_share::numeric, 6)),
      'source', null
    );
  end if;
end
$$;
comment on function api.section_buildings(int4) is 'Section buildings as JSON: buildings whose largest part lies on the parcel, footprint in m² (2 decimals), those of residential use, null where no use is known, share of the parcel built on (6 decimals); null where there is none';

create or replace function api.coverage_buildings(p_region int4, p_belfiore text, p_point geometry) returns text
language plpgsql stable as $$
begin
  return (
    select case
      when exists (select from core.building_coverage c where c.region_code = p_region and c.belfiore = p_belfiore and c.source is not null) then 'mapped'
      when exists (select from core.building_coverage c where c.region_code = p_region) then 'not_mapped'
      else 'not_loaded'
    end
  );
end
$$;
comment on function api.coverage_buildings(int4, text, geometry) is 'mapped: a source reaches the comune, so that no section means no building; not_mapped: none that is loaded does; not_loaded: none is loaded';
