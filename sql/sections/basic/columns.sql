-- purpose: the section basic of many parcels as columns
-- reads: core.parcel, core.comune_catastale, section.postal_code
-- writes: api.columns_basic, api.followed_basic
-- grain: one row per parcel
-- crs: EPSG:4326, latitude and longitude in degrees

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
comment on function api.columns_basic(int4[], anyelement) is 'Section basic as columns, with the values of api.section_basic except the geometry';

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
comment on function api.followed_basic(int4, int4, int4, int4) is 'Parcels of a region between two fids that are or were in a comune whose name was replaced by a swap (ledger.swap)';
