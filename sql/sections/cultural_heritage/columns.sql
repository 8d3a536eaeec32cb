-- purpose: the section cultural_heritage of many parcels as columns
-- reads: section.cultural_heritage, core.point_of_interest
-- writes: api.columns_cultural_heritage, api.followed_cultural_heritage
-- grain: one row per parcel
-- crs: none

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
comment on function api.followed_cultural_heritage(int4, int4, int4, int4) is 'Parcels of a region between two fids that have or had a point of interest replaced by a swap (ledger.swap)';
