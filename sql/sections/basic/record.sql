-- purpose: the section basic of one parcel
-- reads: core.parcel, section.postal_code
-- writes: api.section_basic
-- grain: one object
-- crs: EPSG:4326, longitude latitude

create or replace function api.section_basic(p_fid int4, out value json, out belfiore text, out point geometry)
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
comment on function api.section_basic(int4) is 'The section basic of a parcel, with what its coverage hangs on: its comune and its representative point (EPSG:4326); nulls when there is no such parcel';
