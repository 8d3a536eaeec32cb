-- purpose: parents and children of a parcel, by publication
-- reads: core.parcel, core.parcel_register, ledger.publication, ledger.swap
-- writes: api.parcels_of_swap, api.lineage_of_swap, api.parcel_lineage
-- grain: one row per publication, parent and child
-- crs: EPSG:4326; areas are geodesic (geography)

create or replace function api.parcels_of_swap(p_region int4, p_swap ledger.swap, p_box geometry)
returns table (fid int4, reference_before text, geom_before geometry, reference_after text, geom_after geometry)
language plpgsql volatile as $$
#variable_conflict use_column
declare
  v_before timestamptz;
begin
  -- The first publication after a withdrawal is compared with the last publication before the withdrawal.
  select coalesce(min(w.happened_at), p_swap.happened_at)
  into v_before
  from ledger.swap w
  where w.unit_code = p_region
    and w.swap_id < p_swap.swap_id
    and w.swap_id > (
      select max(b.swap_id)
      from ledger.swap b
      where b.unit_code = p_region
        and b.swap_id < p_swap.swap_id
        and b.publication_id is not null
    );
  return query
  with old as materialized (
    select p.*
    from past.parcels_in(p_region, v_before, p_box) p
  ),
  new as materialized (
    select p.*
    from past.parcels_in(p_region, p_swap.happened_at + interval '1 microsecond', p_box) p
  )
  select
    fid,
    o.reference,
    o.geom,
    n.reference,
    n.geom
  from old o
  full join new n using (fid)
  where o.reference is distinct from n.reference
    or o.geom is distinct from n.geom;
end
$$;
comment on function api.parcels_of_swap(int4, ledger.swap, geometry) is 'Parcels in a box whose reference or geometry a publication of the region changed, before and after the publication';

create or replace function api.lineage_of_swap(p_fid int4, p_swap ledger.swap, p_box geometry)
returns table (
  parent_fid int4,
  parent_reference text,
  child_fid int4,
  child_reference text,
  kind text,
  share_of_parent numeric,
  share_of_child numeric
)
language plpgsql volatile as $$
#variable_conflict use_column
declare
  v_box geometry;
begin
  -- Enlarges the box to all changed parcels near the requested parcel. The enlarged box contains the other parents of the parcel's children and the other
  -- children of the parcel's parents. These parcels determine the kind.
  select st_envelope(st_collect(c.geom))
  into v_box
  from (
    select unnest(array[s.geom_before, s.geom_after]) as geom
    from api.parcels_of_swap(core.region_of(p_fid), p_swap, p_box) s
  ) c;
  return query
  with changed as materialized (
    select s.*
    from api.parcels_of_swap(core.region_of(p_fid), p_swap, v_box) s
  ),
  shared as materialized (
    select
      o.fid as parent,
      o.reference_before,
      o.geom_after is null as is_gone,
      n.fid as child,
      n.reference_after,
      n.geom_before is null as is_new,
      st_area(o.geom_before::geography) as parent_m2,
      st_area(n.geom_after::geography) as child_m2,
      st_area((case when o.geom_before = n.geom_after then n.geom_after else st_intersection(o.geom_before, n.geom_after) end)::geography) as shared_m2
    from changed o
    join changed n on n.geom_after && o.geom_before
  ),
  pair as (
    select
      s.*,
      count(*) over parents as children,
      count(*) over children as parents,
      bool_or(s.is_new) over parents as has_new_child,
      bool_or(s.is_gone) over children as has_gone_parent
    from shared s
    where s.shared_m2 >= 1
      and (s.shared_m2 >= 0.01 * s.parent_m2 or s.shared_m2 >= 0.01 * s.child_m2)
    window
      parents as (partition by s.parent),
      children as (partition by s.child)
  )
  select
    p.parent,
    p.reference_before,
    p.child,
    p.reference_after,
    case
      when p.children = 1
        and p.parents = 1
        and (p.parent <> p.child or p.reference_before <> p.reference_after)
        and p.shared_m2 >= 0.99 * greatest(p.parent_m2, p.child_m2) then 'renumbered'
      when p.children > 1 and p.has_new_child then 'split'
      when p.parents > 1 and p.has_gone_parent then 'merge'
      else 'survey'
    end,
    round(least(p.shared_m2 / p.parent_m2, 1)::numeric, 4),
    round(least(p.shared_m2 / p.child_m2, 1)::numeric, 4)
  from pair p
  where p_fid in (p.parent, p.child);
end
$$;
comment on function api.lineage_of_swap(int4, ledger.swap, geometry) is 'Pairs of a parcel before a publication and a parcel after it that share at least 1 m² and 1 % of the area of one of them. Each pair includes the given parcel. Argument p_box contains all kept geometries of the given parcel. Kind split: one parcel became several parcels, and at least one of the several parcels is new. Kind merge: several parcels became one parcel, and at least one of the former parcels is gone. Kind renumbered: the geometry got a different fid or reference, and at least 99 % of the area of both parcels is shared. Kind survey: the parcel got a different outline';

create or replace function api.parcel_lineage(p_fid int4, out publication text, out refusal text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_region constant int4 := core.region_of(p_fid);
  v_box geometry;
begin
  perform api.hold_publication();
  publication := api.history_tag(v_region);
  if not api.keeps_history() then
    refusal := 'never_kept';
    return;
  end if;
  -- For a withdrawn region, and for a parcel that was never published, the function returns a refusal instead of data.
  if not exists (select from ledger.publication u where u.unit_code = v_region and u.state = 'current')
    or not exists (select from core.parcel_register r where r.region_code = v_region and r.fid = p_fid)
  then
    refusal := 'not_there';
    return;
  end if;
  select st_envelope(st_collect(g.geom))
  into v_box
  from (
    select h.geom
    from history.parcel h
    where h.fid = p_fid
      and not h.absent
    union all
    select p.geom
    from core.parcel p
    where p.fid = p_fid
  ) g;
  answer := (
    with pair as materialized (
      select
        s.swap_id,
        l.*
      from ledger.swap s
      cross join lateral api.lineage_of_swap(p_fid, s, v_box) l
      where s.unit_code = v_region
        and s.swap_id in (select h.until_swap from history.parcel h where h.fid = p_fid)
    ),
    relative as (
      select
        x.is_parent,
        p.swap_id,
        x.fid,
        json_build_object(
          'fid', x.fid,
          'cadastral_reference', x.reference,
          'publication', p.swap_id,
          'kind', p.kind,
          'share_of_parent', p.share_of_parent,
          'share_of_child', p.share_of_child
        ) as entry
      from pair p
      cross join lateral (
        values (true, p.parent_fid, p.parent_reference, p.child_fid), (false, p.child_fid, p.child_reference, p.parent_fid)
      ) as x (is_parent, fid, reference, of_fid)
      where x.of_fid = p_fid
    )
    select json_build_object(
      'data', (
        select json_build_object(
          'parents', coalesce(json_agg(r.entry order by r.swap_id, r.fid) filter (where r.is_parent), '[]'),
          'children', coalesce(json_agg(r.entry order by r.swap_id, r.fid) filter (where not r.is_parent), '[]')
        )
        from relative r
      ),
      'meta', json_build_object(
        'fid', p_fid,
        'kept_since', (past.since(v_region) at time zone 'Europe/Rome')::date
      )
    )
  );
end
$$;
comment on function api.parcel_lineage(int4) is 'Parents and children of a parcel in all kept publications, oldest first, with the shared area as a share of each parcel. Refusal not_there: the region is withdrawn or the parcel was never published. Refusal never_kept: a database on several nodes keeps no history';
