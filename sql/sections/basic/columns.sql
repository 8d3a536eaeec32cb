-- purpose: the section basic of many parcels, a row of columns each
-- reads: core.parcel, core.comune_catastale, section.postal_code
-- writes: api.columns_basic
-- grain: one row per parcel
-- crs: EPSG:4326, latitude and longitude in degrees

create or replace function api.columns_basic(p_fids int4[])
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with parcel as materialized (
    select
      p.fid,
      core.region_of(p.fid) as region_code,
      p.belfiore,
      p.section,
      p.sheet,
      p.attachment,
      p.development,
      p.label,
      p.reference,
      p.gml_id,
      p.kind,
      p.area_m2,
      p.point
    from core.parcel p
    where p.fid = any (p_fids)
  ),
  postal as materialized (
    select
      z.fid,
      z.cap
    from section.postal_code z
    where z.fid = any (p_fids)
  ),
  place as materialized (
    select
      b.belfiore,
      api.known_municipality(b.belfiore) as municipality
    from (select distinct p.belfiore from parcel p) b
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
      api.shown_area(p.area_m2),
      trim_scale(round(st_y(p.point)::numeric, 7)),
      trim_scale(round(st_x(p.point)::numeric, 7)),
      m.municipality -> 'code',
      m.municipality -> 'name',
      m.municipality -> 'province',
      m.municipality -> 'region',
      ltrim(p.sheet, '0'),
      p.section,
      nullif(p.attachment, '0'),
      nullif(p.development, '0'),
      c.code,
      coalesce(c.name, c.name_other),
      z.cap,
      p.gml_id
    )
  from parcel p
  join place m on m.belfiore = p.belfiore
  left join postal z on z.fid = p.fid
  left join core.comune_catastale c
    on p.sheet is null
    and c.region_code = p.region_code
    and c.prefix = left(p.reference, -length(p.label) - 1);
end
$$;
comment on function api.columns_basic(int4[]) is 'Section basic as columns, without the geometry; values as api.section_basic shows them';
