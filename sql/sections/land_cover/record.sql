-- purpose: values, JSON block and coverage of the section land_cover for one parcel, and its columns for many parcels
-- reads: section.land_cover, core.land_coverage
-- writes: api.values_land_cover, api.section_land_cover, api.coverage_land_cover, api.columns_land_cover
-- grain: one object per parcel, null if the map has no class there; for columns one row per parcel
-- crs: none

create or replace function api.values_land_cover(p_row section.land_cover)
returns table (class text, subclass text, share numeric)
language sql immutable parallel safe as $$
  select
    left((p_row).code, 1),
    left((p_row).code, 2),
    trim_scale(round((p_row).share::numeric, 6))
$$;
comment on function api.values_land_cover(section.land_cover) is 'Values derived from the row: the CORINE classes of levels 1 and 2, and the share of the parcel with 6 decimals';

create or replace function api.section_land_cover(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
begin
  select
    json_build_object(
      'code', c.code,
      'class', v.class,
      'subclass', v.subclass,
      'description', c.description,
      'share', v.share,
      'source', null
    ),
    array['land_cover/@']
  into value, keys
  from land_cover c
  cross join lateral api.values_land_cover(row(c.*)::section.land_cover) v
  where c.fid = p_fid;
end
$$;
comment on function api.section_land_cover(int4, anyelement) is 'Section land_cover as JSON: the CORINE class with the largest area in the parcel, and the share of that class. Null if the map has no class at the parcel';

create or replace function api.coverage_land_cover(p_region int4, p_belfiore text, p_point geometry, p_from anyelement) returns text
language plpgsql stable as $$
begin
  return (
    select case
      when exists (select from land_coverage c where c.region_code = p_region and c.belfiore = p_belfiore and c.mapped) then 'mapped'
      when exists (select from land_coverage c where c.region_code = p_region) then 'not_mapped'
      else 'not_loaded'
    end
  );
end
$$;
comment on function api.coverage_land_cover(int4, text, geometry, anyelement) is 'Coverage of a parcel by the land cover map. Value mapped: the map covers the comune. Value not_mapped: the loaded files do not cover the comune. Value not_loaded: no file is loaded';

create or replace function api.columns_land_cover(p_fids int4[], p_from anyelement)
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
      s.code,
      v.class,
      v.subclass,
      s.description,
      v.share
    )
  from land_cover s
  cross join lateral api.values_land_cover(row(s.*)::section.land_cover) v
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_land_cover(int4[], anyelement) is 'Section land_cover as columns, for the parcels that have a row, with the values of api.section_land_cover';
