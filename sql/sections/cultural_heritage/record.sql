-- purpose: the section cultural_heritage of one parcel, and its columns for many parcels
-- reads: section.cultural_heritage, core.point_of_interest
-- writes: api.section_cultural_heritage, api.columns_cultural_heritage, api.followed_cultural_heritage
-- grain: one array per parcel, one element per place of culture, at most 20; for columns one row per parcel
-- crs: none

create or replace function api.section_cultural_heritage(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_kinds text;
begin
  select
    coalesce(
      json_agg(
        json_build_object(
          'id', p.code,
          'name', p.name,
          'type', p.categories,
          'class', p.class,
          'address', p.address,
          'municipality', p.locality,
          'province', p.province,
          'catalog_code', p.catalog_code,
          'distance_m', trim_scale(round(s.distance_m::numeric, 2)),
          'placed_by', p.placed_by
        )
        order by s.ordinal
      ),
      '[]'::json
    ),
    string_agg(distinct k.kind, ' ' order by k.kind)
  into value, v_kinds
  from cultural_heritage s
  join point_of_interest p
    on p.region_code = core.region_of(p_fid)
    and p.id = s.id
  cross join lateral (select (p.category || case when p.placed_by = 'address' then '+' else '' end) collate "C" as kind) k
  where s.fid = p_fid;
  if v_kinds is not null then
    keys := array['cultural_heritage/' || v_kinds, 'cultural_heritage/' || v_kinds || ' ' || p_fid];
  end if;
end
$$;
comment on function api.section_cultural_heritage(int4, anyelement) is 'Section cultural_heritage as JSON, ordered by name: places of culture inside the parcel, and those within 15 m that have no nearer land parcel. The array is empty if there are none';

create or replace function api.columns_cultural_heritage(p_fids int4[], p_from anyelement)
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
    from cultural_heritage s
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
      (array_agg(s.code order by s.ordinal))[1],
      (array_agg(s.name order by s.ordinal))[1],
      (array_agg(s.categories order by s.ordinal))[1],
      (array_agg(s.placed_by order by s.ordinal))[1]
    )
  from shown s
  group by s.fid;
end
$$;
comment on function api.columns_cultural_heritage(int4[], anyelement) is 'Section cultural_heritage as columns, for the parcels that have elements: the number of elements, and the first element';

create or replace function api.followed_cultural_heritage(p_region int4, p_swap int4, p_after int4, p_end int4)
returns table (fid int4)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  select s.fid
  from section.cultural_heritage s
  join history.point_of_interest p using (id)
  where p.until_swap = p_swap
    and s.fid > p_after
    and s.fid < p_end
  union
  select h.fid
  from history.cultural_heritage h
  join history.point_of_interest p using (id)
  where p.until_swap = p_swap
    and h.fid > p_after
    and h.fid < p_end;
end
$$;
comment on function api.followed_cultural_heritage(int4, int4, int4, int4) is 'Parcels that have or had a point of interest replaced by a swap (ledger.swap), in a range of fids of a region';
