-- purpose: the section basic of many parcels, one row of columns each
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
      p.label,
      p.reference,
      p.gml_id,
      p.kind,
      v.*
    from core.parcel p
    cross join lateral api.values_basic(row(p.*)::core.parcel) v
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
      api.known_municipality(b.belfiore, null::core.parcel) as municipality
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
  from parcel p
  join place m on m.belfiore = p.belfiore
  left join postal z on z.fid = p.fid
  left join core.comune_catastale c
    on c.region_code = p.region_code
    and c.prefix = p.prefix;
end
$$;
comment on function api.columns_basic(int4[]) is 'Section basic as columns, without the geometry, with the values of api.section_basic';
