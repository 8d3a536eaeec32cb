-- purpose: the section poi of one parcel, and its columns for many parcels
-- reads: section.poi, core.point_of_interest
-- writes: api.section_poi, api.columns_poi, api.followed_poi
-- grain: one array per parcel, one element per point, at most 50; for columns one row per parcel
-- crs: EPSG:4326

create or replace function api.section_poi(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_kinds text;
begin
  select
    coalesce(
      json_agg(
        json_build_object(
          'id', p.id,
          'name', p.name,
          'category', p.category,
          'categories', p.categories,
          'address', p.address,
          'locality', p.locality,
          'coordinates', api.centroid(p.geom),
          'placed_by', p.placed_by
        )
        order by s.ordinal
      ),
      '[]'::json
    ),
    string_agg(distinct k.kind, ' ' order by k.kind)
  into value, v_kinds
  from poi s
  join point_of_interest p
    on p.region_code = core.region_of(p_fid)
    and p.id = s.id
  cross join lateral (select (p.category || case when p.placed_by = 'address' then '+' else '' end) collate "C" as kind) k
  where s.fid = p_fid;
  if v_kinds is not null then
    keys := array['poi/' || v_kinds, 'poi/' || v_kinds || ' ' || p_fid];
  end if;
end
$$;
comment on function api.section_poi(int4, anyelement) is 'Section poi as JSON: schools, open pharmacies and fuel stations of the parcel, ordered by category, name and id. The array is empty if there are none';

create or replace function api.columns_poi(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with listed as materialized (
    select
      s.fid,
      s.ordinal,
      s.id
    from poi s
    where s.fid = any (p_fids)
  ),
  shown as (
    select
      l.fid,
      l.ordinal,
      p.*
    from listed l
    join point_of_interest p
      on p.region_code = core.region_of(l.fid)
      and p.id = l.id
  )
  select
    s.fid,
    null::bool,
    true,
    json_build_array(
      count(*),
      (array_agg(s.id order by s.ordinal))[1],
      (array_agg(s.name order by s.ordinal))[1],
      (array_agg(s.category order by s.ordinal))[1]
    )
  from shown s
  group by s.fid;
end
$$;
comment on function api.columns_poi(int4[], anyelement) is 'Section poi as columns, for the parcels that have elements: the number of elements, and the first element';

create or replace function api.followed_poi(p_region int4, p_swap int4, p_after int4, p_end int4)
returns table (fid int4)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  select s.fid
  from section.poi s
  join history.point_of_interest p using (id)
  where p.until_swap = p_swap
    and s.fid > p_after
    and s.fid < p_end
  union
  select h.fid
  from history.poi h
  join history.point_of_interest p using (id)
  where p.until_swap = p_swap
    and h.fid > p_after
    and h.fid < p_end;
end
$$;
comment on function api.followed_poi(int4, int4, int4, int4) is 'Parcels that have or had a point of interest replaced by a swap (ledger.swap), in a range of fids of a region';
