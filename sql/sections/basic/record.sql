-- purpose: values, JSON block and coverage of the section basic for one parcel, and its columns for many parcels
-- reads: core.parcel, core.comune_catastale, section.postal_code
-- writes: api.values_basic, api.section_basic, api.coverage_basic, api.columns_basic, api.followed_basic
-- grain: one object per parcel, null if there is no such parcel; for columns one row per parcel
-- crs: EPSG:4326, longitude latitude

create or replace function api.values_basic(p_parcel core.parcel)
returns table (
  area_m2 numeric,
  lat numeric,
  lng numeric,
  sheet text,
  attachment text,
  development text,
  prefix text
)
language sql immutable parallel safe as $$
  select
    api.shown_area((p_parcel).area_m2),
    api.shown_degrees(st_y((p_parcel).point)),
    api.shown_degrees(st_x((p_parcel).point)),
    ltrim((p_parcel).sheet, '0'),
    nullif((p_parcel).attachment, '0'),
    nullif((p_parcel).development, '0'),
    -- In a land register (Libro fondiario), the parcel's reference is the reference of the comune catastale, a dot, and the parcel's label.
    case when (p_parcel).sheet is null then left((p_parcel).reference, -length((p_parcel).label) - 1) end
$$;
comment on function api.values_basic(core.parcel) is 'Values derived from the row of a parcel. The area is in m² with 2 decimals, and the representative point in degrees with 7 decimals. The sheet has no leading zeros, and attachment and development are null instead of 0. Column prefix is the reference of the comune catastale, null if the parcel has a sheet';

create or replace function api.section_basic(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[], out municipality json, out belfiore text, out point geometry, out kind text)
language plpgsql stable as $$
declare
  v_found record;
  v_postal section.postal_code;
  v_cadastral json;
begin
  -- The parcel is read first, because parcels and other tables may be on different nodes.
  select
    p.fid,
    p.gml_id,
    p.label,
    p.reference,
    p.kind,
    p.point,
    p.geom,
    p.belfiore,
    p.section,
    v.*
  into v_found
  from parcel p
  cross join lateral api.values_basic(row(p.*)::core.parcel) v
  where p.fid = p_fid;
  if v_found.fid is not null then
    municipality := api.known_municipality(v_found.belfiore, p_from);
    select *
    into v_postal
    from postal_code z
    where z.fid = p_fid;
    if v_found.sheet is not null then
      v_cadastral := json_build_object(
        'sheet', v_found.sheet,
        'section', v_found.section,
        'attachment', v_found.attachment,
        'development', v_found.development,
        'comune_code', v_found.belfiore,
        'postal_code', v_postal.cap
      );
    else
      v_cadastral := json_build_object(
        'comune_catastale', (
          select json_build_object('code', c.code, 'name', coalesce(c.name, c.name_other))
          from comune_catastale c
          where c.region_code = core.region_of(p_fid)
            and c.prefix = v_found.prefix
        ),
        'sheet', null,
        'section', null,
        'attachment', null,
        'development', null,
        'kind', case when starts_with(v_found.label, '.') then 'building' else 'land' end,
        'comune_code', v_found.belfiore,
        'postal_code', v_postal.cap
      );
    end if;
    value := json_build_object(
      'fid', v_found.fid,
      'gml_id', v_found.gml_id,
      'label', v_found.label,
      'cadastral_reference', v_found.reference,
      'kind', v_found.kind,
      'area_m2', v_found.area_m2,
      'centroid', json_build_object('lat', v_found.lat, 'lng', v_found.lng),
      'geometry', api.geojson(v_found.geom),
      'municipality', municipality,
      'cadastral', v_cadastral
    );
    -- The citation key of a parcel in a land register contains the comune catastale instead of the comune.
    keys := array[
      'basic/' || coalesce(v_found.prefix, '@') || case when v_postal.fid is null then '' else ' ' || coalesce(v_postal.edition, '') end
    ];
    belfiore := v_found.belfiore;
    point := v_found.point;
    kind := v_found.kind;
  end if;
end
$$;
comment on function api.section_basic(int4, anyelement) is 'Section basic of a parcel as JSON, its member municipality, and the comune, representative point (EPSG:4326) and kind that other sections need. All results are null if there is no such parcel';

create or replace function api.coverage_basic(p_region int4, p_belfiore text, p_point geometry, p_from anyelement) returns text
language sql immutable parallel safe as $$
  select 'mapped'
$$;
comment on function api.coverage_basic(int4, text, geometry, anyelement) is 'Always mapped, because every published parcel comes from the cadastral map';

create or replace function api.columns_basic(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with asked as materialized (
    select
      p.fid,
      core.region_of(p.fid) as region_code,
      p.belfiore,
      p.section,
      p.label,
      p.reference,
      p.gml_id,
      p.kind,
      v.*
    from parcel p
    cross join lateral api.values_basic(row(p.*)::core.parcel) v
    where p.fid = any (p_fids)
  ),
  postal as materialized (
    select
      z.fid,
      z.cap
    from postal_code z
    where z.fid = any (p_fids)
  ),
  place as materialized (
    select
      b.belfiore,
      api.known_municipality(b.belfiore, p_from) as municipality
    from (select distinct p.belfiore from asked p) b
  )
  select
    p.fid,
    true,
    true,
    json_build_array(
      p.fid,
      p.reference,
      p.label,
      p.kind,
      p.area_m2,
      p.lat,
      p.lng,
      m.municipality -> 'code',
      m.municipality -> 'name',
      m.municipality -> 'province',
      m.municipality -> 'region',
      p.sheet,
      p.section,
      p.attachment,
      p.development,
      c.code,
      coalesce(c.name, c.name_other),
      z.cap,
      p.gml_id
    )
  from asked p
  join place m on m.belfiore = p.belfiore
  left join postal z on z.fid = p.fid
  left join comune_catastale c
    on c.region_code = p.region_code
    and c.prefix = p.prefix;
end
$$;
comment on function api.columns_basic(int4[], anyelement) is 'Section basic as columns, with the values of api.section_basic except the geometry and cadastral.kind';

create or replace function api.followed_basic(p_region int4, p_swap int4, p_after int4, p_end int4)
returns table (fid int4)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with comune_name as materialized (
    select h.belfiore
    from history.comune h
    where h.until_swap = p_swap
    union
    select h.belfiore
    from history.comune_found h
    where h.until_swap = p_swap
  )
  select p.fid
  from core.parcel p
  where p.belfiore in (select c.belfiore from comune_name c)
    and p.fid > p_after
    and p.fid < p_end
  union
  select h.fid
  from history.parcel h
  where h.belfiore in (select c.belfiore from comune_name c)
    and h.fid > p_after
    and h.fid < p_end;
end
$$;
comment on function api.followed_basic(int4, int4, int4, int4) is 'Parcels that are or were in a comune whose name was replaced by a swap (ledger.swap), in a range of fids of a region';
