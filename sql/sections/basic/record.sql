-- purpose: the section basic of one parcel, and that its source covers the place
-- reads: core.parcel, section.postal_code
-- writes: api.section_basic, api.coverage_basic
-- grain: one object, or null where there is no such parcel; one word
-- crs: EPSG:4326, longitude latitude

create or replace function api.section_basic(p_fid int4, out value json, out linked bool, out belfiore text, out point geometry)
language plpgsql stable as $$
begin
  select
    json_build_object(
      'fid', p.fid,
      'gml_id', p.gml_id,
      'label', p.label,
      'cadastral_reference', p.reference,
      'kind', p.kind,
      'area_m2', api.shown_area(p.area_m2),
      'centroid', api.centroid(p.point),
      'geometry', api.geojson(p.geom),
      'municipality', api.known_municipality(p.belfiore),
      'cadastral', json_build_object(
        'sheet', ltrim(p.sheet, '0'),
        'section', p.section,
        'attachment', nullif(p.attachment, '0'),
        'development', nullif(p.development, '0'),
        'comune_code', p.belfiore,
        'postal_code', (select z.cap from section.postal_code z where z.fid = p.fid)
      )
    ),
    p.belfiore,
    p.point
  into value, belfiore, point
  from core.parcel p
  where p.fid = p_fid;
end
$$;
comment on function api.section_basic(int4) is 'The section basic of a parcel as JSON, with what every record hangs on, read once: its comune and its representative point (EPSG:4326); nulls when there is no such parcel';

create or replace function api.coverage_basic(p_region int4, p_belfiore text, p_point geometry) returns text
language sql immutable parallel safe as $$
  -- A parcel that is published is drawn on the map that it was read from.
  select 'mapped'
$$;
comment on function api.coverage_basic(int4, text, geometry) is 'mapped: of every parcel that there is';
