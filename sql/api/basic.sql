-- purpose: the parts of a parcel's record that every answer has
-- reads: core.parcel, core.comune, core.comune_found, core.region, section.postal_code
-- writes: api.municipality, api.geojson, api.section_basic
-- grain: one call per parcel
-- crs: EPSG:4326, longitude latitude

create or replace function api.municipality(p_belfiore text) returns json
language plpgsql stable as $$
begin
  return coalesce(
    (
      select json_build_object(
        'code', c.belfiore,
        'name', c.name,
        'province', c.province_name,
        'region', r.name
      )
      from core.comune c
      left join core.region r on r.code = c.region_code
      where c.belfiore = p_belfiore
    ),
    -- A comune that the list lacks, as its files have it.
    (
      select json_build_object(
        'code', f.belfiore,
        'name', f.name,
        'province', null,
        'region', f.region_name
      )
      from core.comune_found f
      where f.belfiore = p_belfiore
      order by f.region_code
      limit 1
    )
  );
end
$$;
comment on function api.municipality(text) is 'The block municipality of a comune by its cadastral code; of one that the list lacks, what its files say; null when nothing is known of it';

create or replace function api.geojson(p_geom geometry) returns json
language sql stable as $$
  -- The cadastre prints 8 decimals, so a tenth of all coordinates lie exactly between two values of 7: a shift of a hundredth of
  -- the last digit decides them all upwards, where two builds of PostGIS would decide differently.
  select st_asgeojson(st_forcepolygonccw(st_translate(p_geom, 1e-10, 1e-10)), 7, 0)::json
$$;
comment on function api.geojson(geometry) is 'GeoJSON geometry of RFC 7946: longitude latitude, 7 decimals, outer rings counter-clockwise';

create or replace function api.section_basic(p_fid int4) returns json
language plpgsql stable as $$
begin
  return (
    select json_build_object(
      'fid', p.fid,
      'gml_id', p.gml_id,
      'label', p.label,
      'cadastral_reference', p.reference,
      'kind', p.kind,
      -- By way of four decimals: the last bit, in which builds of PROJ differ, must not decide a tie.
      'area_m2', trim_scale(round(round(p.area_m2::numeric, 4), 2)),
      'centroid', json_build_object(
        'lat', trim_scale(round(st_y(p.point)::numeric, 7)),
        'lng', trim_scale(round(st_x(p.point)::numeric, 7))
      ),
      'geometry', api.geojson(p.geom),
      'municipality', coalesce(
        api.municipality(p.belfiore),
        json_build_object('code', p.belfiore, 'name', null, 'province', null, 'region', null)
      ),
      'cadastral', json_build_object(
        'sheet', ltrim(p.sheet, '0'),
        'section', p.section,
        'attachment', nullif(p.attachment, '0'),
        'development', nullif(p.development, '0'),
        'comune_code', p.belfiore,
        'postal_code', (select z.cap from section.postal_code z where z.fid = p.fid)
      )
    )
    from core.parcel p
    where p.fid = p_fid
  );
end
$$;
comment on function api.section_basic(int4) is 'The section basic of a parcel; null when there is no such parcel';
