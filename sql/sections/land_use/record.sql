-- purpose: the section land_use of one parcel, and whether it lies in an urban area that is mapped
-- reads: section.land_use, core.urban_area
-- writes: api.section_land_use, api.coverage_land_use
-- grain: one object, or null where the map has no class; one word
-- crs: EPSG:4326

create or replace function api.section_land_use(p_fid int4, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found section.land_use;
begin
  -- Read first: where parcels lie on other nodes, what else is asked lies here.
  select *
  into v_found
  from section.land_use u
  where u.fid = p_fid;
  if v_found.fid is not null then
    value := json_build_object(
      'code', v_found.code,
      'class', v_found.class,
      'level1', left(v_found.code, 1),
      'level2', left(v_found.code, 2),
      'share', trim_scale(round(v_found.share::numeric, 6)),
      'source', null
    );
    linked := true;
  end if;
end
$$;
comment on function api.section_land_use(int4) is 'Section land_use as JSON: the Urban Atlas class that covers most of the parcel, and its share (6 decimals); null where the map has none. linked: true where it has one; else null';

create or replace function api.coverage_land_use(p_region int4, p_belfiore text, p_point geometry) returns text
language plpgsql stable as $$
begin
  return (
    select 'mapped'
    from core.urban_area a
    where a.region_code = p_region
      and st_covers(a.geom, p_point)
    limit 1
  );
end
$$;
comment on function api.coverage_land_use(int4, text, geometry) is 'mapped: the representative point (EPSG:4326) lies in the boundary of an urban area that is mapped, so that no section means no land use; null: in none, and what the section found, or whether anything is loaded, decides';
