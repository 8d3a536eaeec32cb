-- purpose: the section basic of one parcel, and that its source covers the place
-- reads: core.parcel, core.comune_catastale, section.postal_code
-- writes: api.cadastral, api.section_basic, api.coverage_basic
-- grain: one object, or null where there is no such parcel; one word
-- crs: EPSG:4326, longitude latitude

create or replace function api.cadastral(p_parcel core.parcel, p_postal_code text) returns json
language plpgsql stable as $$
begin
  if p_parcel.sheet is not null then
    return json_build_object(
      'sheet', ltrim(p_parcel.sheet, '0'),
      'section', p_parcel.section,
      'attachment', nullif(p_parcel.attachment, '0'),
      'development', nullif(p_parcel.development, '0'),
      'comune_code', p_parcel.belfiore,
      'postal_code', p_postal_code
    );
  end if;
  -- A parcel of a land register: its reference is that of the comune catastale, a dot, and the label.
  return (
    select json_build_object(
      'comune_catastale', (
        select json_build_object('code', c.code, 'name', coalesce(c.name, c.name_other))
        from core.comune_catastale c
        where c.region_code = core.region_of(p_parcel.fid)
          and c.prefix = left(p_parcel.reference, -length(p_parcel.label) - 1)
      ),
      'sheet', null,
      'section', null,
      'attachment', null,
      'development', null,
      'kind', case when starts_with(p_parcel.label, '.') then 'building' else 'land' end,
      'comune_code', p_parcel.belfiore,
      'postal_code', p_postal_code
    )
  );
end
$$;
comment on function api.cadastral(core.parcel, text) is 'Cadastral names of a parcel, with its postal code: by sheet, or, in a land register (Libro fondiario), by comune catastale and kind';

create or replace function api.section_basic(p_fid int4, out value json, out linked bool, out keys text[], out belfiore text, out point geometry, out kind text)
language plpgsql stable as $$
declare
  v_found core.parcel;
  v_postal section.postal_code;
begin
  -- Read first: where parcels lie on other nodes, what else is asked lies here.
  select *
  into v_found
  from core.parcel p
  where p.fid = p_fid;
  if v_found.fid is not null then
    select *
    into v_postal
    from section.postal_code z
    where z.fid = p_fid;
    value := json_build_object(
      'fid', v_found.fid,
      'gml_id', v_found.gml_id,
      'label', v_found.label,
      'cadastral_reference', v_found.reference,
      'kind', v_found.kind,
      'area_m2', api.shown_area(v_found.area_m2),
      'centroid', api.centroid(v_found.point),
      'geometry', api.geojson(v_found.geom),
      'municipality', api.known_municipality(v_found.belfiore),
      'cadastral', api.cadastral(v_found, v_postal.cap)
    );
    -- A land register is known by its comune catastale.
    keys := array[
      'basic/' || case when v_found.sheet is null then left(v_found.reference, -length(v_found.label) - 1) else '@' end
        || case when v_postal.fid is null then '' else ' ' || coalesce(v_postal.edition, '') end
    ];
    belfiore := v_found.belfiore;
    point := v_found.point;
    kind := v_found.kind;
  end if;
end
$$;
comment on function api.section_basic(int4) is 'The section basic of a parcel as JSON, with what every record hangs on, read once: its comune, its representative point (EPSG:4326) and its kind; nulls when there is no such parcel';

create or replace function api.coverage_basic(p_region int4, p_belfiore text, p_point geometry) returns text
language sql immutable parallel safe as $$
  -- A parcel that is published is drawn on the map that it was read from.
  select 'mapped'
$$;
comment on function api.coverage_basic(int4, text, geometry) is 'mapped: of every parcel that there is';
