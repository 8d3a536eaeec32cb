-- purpose: the section land_cover of one parcel, and whether its source covers the place
-- reads: section.land_cover, core.land_coverage
-- writes: api.section_land_cover, api.coverage_land_cover
-- grain: one object, or null where the map has nothing; one word
-- crs: none

create or replace function api.section_land_cover(p_fid int4, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found section.land_cover;
begin
  -- Read first: where parcels lie on other nodes, what else is asked lies here.
  select *
  into v_found
  from section.land_cover c
  where c.fid = p_fid;
  if v_found.fid is not null then
    keys := array['land_cover/@'];
    value := json_build_object(
      'code', v_found.code,
      'class', left(v_found.code, 1),
      'subclass', left(v_found.code, 2),
      'description', v_found.description,
      'share', trim_scale(round(v_found.share::numeric, 6)),
      'source', null
    );
  end if;
end
$$;
comment on function api.section_land_cover(int4) is 'Section land_cover as JSON: the CORINE class that covers most of the parcel, and its share (6 decimals); null where the map has nothing';

create or replace function api.coverage_land_cover(p_region int4, p_belfiore text, p_point geometry) returns text
language plpgsql stable as $$
begin
  return (
    select case
      when exists (select from core.land_coverage c where c.region_code = p_region and c.belfiore = p_belfiore and c.mapped) then 'mapped'
      when exists (select from core.land_coverage c where c.region_code = p_region) then 'not_mapped'
      else 'not_loaded'
    end
  );
end
$$;
comment on function api.coverage_land_cover(int4, text, geometry) is 'mapped: the map of land cover covers the comune; not_mapped: the files loaded do not reach it; not_loaded: none is loaded';
