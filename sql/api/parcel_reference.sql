-- purpose: the current and former parcels of a national cadastral reference
-- reads: core.parcel, core.parcel_register
-- writes: api.successors, api.parcels_of_reference
-- grain: one call per reference
-- crs: none

create or replace function api.successors(p_fids int4[]) returns json
language sql stable security definer
set search_path to core, section, ledger, public, pg_temp
as $$
  select coalesce(
    json_agg(json_build_object('fid', p.fid, 'cadastral_reference', p.reference) order by p.fid),
    '[]'
  )
  from core.parcel p
  where p.fid = any (p_fids)
$$;
comment on function api.successors(int4[]) is 'JSON array with the fid and cadastral reference of those given parcels that are published';

create or replace function api.parcels_of_reference(
  p_spellings text[], out current_fid int4, out fids int4[], out successors json
)
language plpgsql stable security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_retired bool;
  v_successors int4[];
begin
  select p.fid
  into current_fid
  from core.parcel p
  where p.reference = any (p_spellings)
  order by array_position(p_spellings, p.reference), p.fid
  limit 1;
  -- Looks up each spelling in each region, because the primary key of the register consists of region and reference. Without limit 1, PostgreSQL would read the
  -- complete register of a small region.
  select
    array_agg(r.fid order by r.retired_on is not null, r.retired_on desc, r.fid),
    bool_or(r.retired_on is not null or r.published),
    array_agg(case when r.published then r.fid else r.successor_fid end)
  into fids, v_retired, v_successors
  from generate_series(1, 20) as g (code)
  cross join unnest(p_spellings) as s (reference)
  cross join lateral (
    select
      k.fid,
      k.retired_on,
      k.successor_fid,
      exists (select from core.parcel p where p.fid = k.fid) as published
    from core.parcel_register k
    where k.region_code = g.code
      and k.reference = s.reference
    limit 1
  ) r;
  fids := array_remove(coalesce(fids, '{}'), current_fid);
  if current_fid is not null then
    fids := current_fid || fids;
  elsif v_retired then
    successors := api.successors(v_successors);
  end if;
end
$$;
comment on function api.parcels_of_reference(text[]) is
  'Parcels that have or had a reference, given in one or more spellings. Result current_fid is the published parcel with the reference, null if there is none. Result fids has all parcels that ever had the reference, the current parcel first. Result successors has the published parcels that replaced the retired parcels with the reference. Result successors is null if a published parcel has the reference, or if the reference was never published';
