-- purpose: one parcel's record as it was answered at the end of a day
-- reads: ledger.publication, ledger.swap
-- writes: api.parcel_as_of
-- grain: one call per parcel
-- crs: EPSG:4326, longitude latitude

create or replace function api.parcel_as_of(p_fid int4, p_include text[], p_day date, out publication text, out answer text, out refusal json)
language plpgsql volatile security definer
set search_path to public, pg_temp
as $$
declare
  v_region constant int4 := core.region_of(p_fid);
  v_moment constant timestamptz := (p_day + 1)::timestamp at time zone 'Europe/Rome';
  v_since timestamptz;
  v_first date;
  v_swap ledger.swap;
  v_retired json;
  v_gone bool;
begin
  perform api.hold_publication();
  publication := api.publication_tag(v_region);
  v_since := past.since(v_region);
  v_first := (v_since at time zone 'Europe/Rome')::date;
  if v_since is null or v_moment <= v_since then
    refusal := json_build_object('reason', 'not_kept', 'kept_since', v_first);
    return;
  end if;
  select *
  into v_swap
  from ledger.swap s
  where s.unit_code = v_region
    and s.happened_at < v_moment
  order by s.swap_id desc
  limit 1;
  if v_swap.publication_id is null or not exists (select from ledger.publication u where u.unit_code = v_region and u.state = 'current') then
    refusal := json_build_object('reason', 'withdrawn', 'kept_since', v_first);
    return;
  end if;
  answer := past.record_at(p_fid, p_include, v_moment);
  if answer is not null then
    answer := left(answer, -2) || ',"as_of":' || json_build_object(
      'date', p_day,
      'publication', v_swap.publication_id,
      'in_force_since', to_char(v_swap.happened_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    ) || '}}';
    return;
  end if;
  -- It had gone when it had been there: what is kept says so, or, where nothing became of it since, the register does.
  v_retired := api.retired_parcel(p_fid);
  v_gone := exists (
    select
    from history.parcel h
    where h.fid = p_fid
      and h.until_swap <= v_swap.swap_id
      and not h.absent
  ) or v_retired is not null and not exists (
    select
    from history.parcel h
    where h.fid = p_fid
      and h.until_swap > v_swap.swap_id
  );
  refusal := json_build_object('reason', case when v_gone then 'gone' else 'not_there' end, 'kept_since', v_first, 'successor_fid', v_retired -> 'successor_fid');
end
$$;
comment on function api.parcel_as_of(int4, text[], date) is 'The record of api.parcel as it was answered at the end of a day, Europe/Rome, as JSON text with meta.as_of; or why there is none: not_kept: nothing was published by then, or it is no longer kept; withdrawn: nothing of the region was or is served; gone: the parcel was no longer published; not_there: it was not yet. kept_since: the first day that is answered for; publication: as in other answers';
