-- purpose: one parcel's record at the end of a past day
-- reads: history.retired, ledger.publication, ledger.swap
-- writes: api.keeps_history, api.retired_parcel_at, api.parcel_as_of
-- grain: one call per parcel
-- crs: EPSG:4326, longitude latitude

create or replace function api.keeps_history() returns bool
language plpgsql stable as $$
begin
  -- The table pg_dist_partition exists only with Citus.
  if to_regclass('pg_catalog.pg_dist_partition') is null then
    return true;
  end if;
  return not exists (
    select
    from pg_catalog.pg_dist_partition d
    where d.logicalrelid = 'core.parcel'::regclass
  );
end
$$;
comment on function api.keeps_history() is 'True if the database keeps the history of publications. False if parcels are on several nodes';

create or replace function api.retired_parcel_at(p_fid int4, p_moment timestamptz) returns json
language plpgsql stable as $$
declare
  v_then history.retired;
begin
  select h.*
  into v_then
  from history.retired h
  join ledger.swap s on s.swap_id = h.until_swap
  where h.fid = p_fid
    and s.happened_at >= p_moment
  order by s.happened_at
  limit 1;
  if v_then is null then
    return api.retired_parcel(p_fid);
  end if;
  return case when v_then.retired then json_build_object('successor_fid', v_then.successor_fid) end;
end
$$;
comment on function api.retired_parcel_at(int4, timestamptz) is 'The result that api.retired_parcel had just before a given time';

create or replace function api.parcel_as_of(p_fid int4, p_include text[], p_day date, out publication text, out answer text, out refusal json)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_region constant int4 := core.region_of(p_fid);
  v_moment constant timestamptz := (p_day + 1)::timestamp at time zone 'Europe/Rome';
  v_since timestamptz;
  v_first date;
  v_swap ledger.swap;
  v_withdrawn text;
  v_parts record;
  v_retired json;
begin
  perform api.hold_publication();
  -- A rollback makes an earlier publication current again, but changes meta.as_of of the day.
  publication := api.history_tag(v_region);
  v_since := past.since(v_region);
  v_first := (v_since at time zone 'Europe/Rome')::date;
  if v_since is null or v_moment <= v_since then
    refusal := json_build_object('reason', case when api.keeps_history() then 'not_kept' else 'never_kept' end, 'kept_since', v_first);
    return;
  end if;
  select *
  into v_swap
  from ledger.swap s
  where s.unit_code = v_region
    and s.happened_at < v_moment
  order by s.swap_id desc
  limit 1;
  if v_swap.publication_id is null then
    v_withdrawn := 'withdrawn_then';
  elsif not exists (select from ledger.publication u where u.unit_code = v_region and u.state = 'current') then
    v_withdrawn := 'withdrawn';
  else
    v_parts := past.record_at(p_fid, p_include, v_moment);
    answer := api.whole_record(v_parts.head, p_include, v_parts.citations, json_build_object(
      'date', p_day,
      'publication', v_swap.publication_id,
      'in_force_since', to_char(v_swap.happened_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    ));
  end if;
  if answer is not null then
    return;
  end if;
  -- A retired parcel is reported as gone, even if its region is withdrawn.
  v_retired := api.retired_parcel_at(p_fid, v_moment);
  refusal := json_build_object(
    'reason', case when v_retired is null then coalesce(v_withdrawn, 'not_there') else 'gone' end,
    'kept_since', v_first,
    'successor_fid', v_retired -> 'successor_fid'
  );
end
$$;
comment on function api.parcel_as_of(int4, text[], date) is
  'The record of api.parcel at the end of a day in Europe/Rome as JSON text with meta.as_of, or a refusal. Refusal not_kept: the day is before the start of the kept history, or the region was never published. Refusal never_kept: a database on several nodes keeps no history. Refusal gone: the parcel was no longer published on the day. Refusal withdrawn_then: the region was withdrawn on the day. Refusal withdrawn: the region is withdrawn now. Refusal not_there: the parcel did not exist yet. Member kept_since of the refusal is the first day for which a record is kept. Result publication is that of api.history_tag';
