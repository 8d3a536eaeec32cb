-- purpose: values, JSON block and coverage of the section land_use for one parcel, and its columns for many parcels
-- reads: section.land_use, core.urban_area
-- writes: api.values_land_use, api.section_land_use, api.coverage_land_use, api.columns_land_use
-- grain: one object per parcel, null if the map has no class there; for columns one row per parcel
-- crs: EPSG:4326

create or replace function api.values_land_use(p_row section.land_use)
returns table (level1 text, level2 text, share numeric)
language sql immutable parallel safe as $$
  select
    left((p_row).code, 1),
    left((p_row).code, 2),
    trim_scale(round((p_row).share::numeric, 6))
$$;
comment on function api.values_land_use(section.land_use) is 'Values derived from the row: the Urban Atlas classes of levels 1 and 2, and the share of the parcel with 6 decimals';

create or replace function api.section_land_use(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
begin
  select
    json_build_object(
      'code', u.code,
      'class', u.class,
      'level1', v.level1,
      'level2', v.level2,
      'share', v.share,
      'source', null
    ),
    true
  into value, linked
  from land_use u
  cross join lateral api.values_land_use(row(u.*)::section.land_use) v
  where u.fid = p_fid;
end
$$;
comment on function api.section_land_use(int4, anyelement) is 'Section land_use as JSON: the Urban Atlas class with the largest area in the parcel, and the share of that class. Null if the map has no class at the parcel. Result linked: true if the map has a class, else null';

create or replace function api.coverage_land_use(p_region int4, p_belfiore text, p_point geometry, p_from anyelement) returns text
language plpgsql stable as $$
begin
  return (
    select 'mapped'
    from urban_area a
    where a.region_code = p_region
      and st_covers(a.geom, p_point)
    limit 1
  );
end
$$;
comment on function api.coverage_land_use(int4, text, geometry, anyelement) is 'Coverage of a parcel by loaded urban areas. Value mapped: the representative point (EPSG:4326) is inside an urban area, so an empty section means that the map has no class there. Null: the point is in no urban area. The coverage then depends on the section''s value or on the loaded files';

create or replace function api.columns_land_use(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  select
    s.fid,
    true,
    true,
    json_build_array(
      s.code,
      s.class,
      v.level1,
      v.level2,
      v.share
    )
  from land_use s
  cross join lateral api.values_land_use(row(s.*)::section.land_use) v
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_land_use(int4[], anyelement) is 'Section land_use as columns, for the parcels that have a row, with the values of api.section_land_use';
