-- purpose: the changes of each publication of a region, and the list of publications
-- reads: core.parcel_register, ledger.publication, ledger.swap, ledger.swap_count, ledger.swap_source
-- writes: api.changes_begin, api.removed_parcels, api.changed_parcels, api.publication_summary, api.publication_feed, api.publication_counts
-- grain: one row per publication and parcel
-- crs: EPSG:4326, longitude latitude

-- In the changelog, a publication is a swap (ledger.swap) of the region or of Italy, including rollbacks and withdrawals.

create or replace function api.changes_begin(p_region int4, p_swap int4, p_fid int4, p_day date, out swap int4, out fid int4, out refusal json)
language plpgsql stable as $$
declare
  v_since constant timestamptz := past.since(p_region);
  v_start constant timestamptz := p_day::timestamp at time zone 'Europe/Rome';
  v_first ledger.swap;
  v_is_cut bool;
  -- Number of the last swap whose changes are no longer kept, or the number before the region's first swap.
  v_base int4;
begin
  if not api.keeps_history() then
    refusal := json_build_object('reason', 'never_kept');
    return;
  end if;
  select s.*
  into v_first
  from ledger.swap s
  where s.unit_code = p_region
  order by s.swap_id
  limit 1;
  if v_first.swap_id is null then
    refusal := json_build_object('reason', 'not_published');
    return;
  end if;
  v_is_cut := v_since > v_first.happened_at or v_first.kept_from is not null;
  v_base := v_first.swap_id - 1;
  if v_is_cut then
    select max(s.swap_id)
    into v_base
    from ledger.swap s
    where s.unit_code in (0, p_region)
      and s.happened_at <= v_since;
  end if;
  if p_swap > (select max(s.swap_id) from ledger.swap s) then
    refusal := json_build_object('reason', 'unknown');
  elsif v_is_cut and (p_swap < v_base or (p_swap = v_base and p_fid is not null) or v_start < v_since) then
    -- Reports the first day with all changes kept, and the publication after which all changes are kept.
    refusal := json_build_object('reason', 'not_kept', 'kept_since', (v_since at time zone 'Europe/Rome')::date + 1, 'kept_after', v_base);
  elsif p_day is null then
    swap := greatest(p_swap, v_base);
    fid := p_fid;
  else
    swap := greatest(v_base, (select max(s.swap_id) from ledger.swap s where s.unit_code in (0, p_region) and s.happened_at < v_start));
  end if;
end
$$;
comment on function api.changes_begin(int4, int4, int4, date) is 'Position in the changelog of a region after which changes are returned. The position is a fid of a publication, the end of a publication (fid null), or the start of a day in Europe/Rome. Refusal not_kept: changes that old are no longer kept; the refusal has the first possible day and publication. Refusal unknown: there is no such publication. Refusal not_published: the region was never published. Refusal never_kept: a database on several nodes keeps no history';

create or replace function api.removed_parcels(p_region int4, p_after int4, p_end int4, p_most int4, out fids int4[], out parcels json)
language plpgsql stable as $$
begin
  select
    array_agg(r.fid order by r.fid),
    json_agg(json_build_array(r.fid, r.reference, r.belfiore, null) order by r.fid)
  into fids, parcels
  from (
    select distinct on (k.fid)
      k.fid,
      k.reference,
      -- References of land registers begin with IT. and contain no code of a comune.
      case when k.reference !~ '^IT[.]' then left(k.reference, 4) end as belfiore
    from core.parcel_register k
    where k.region_code = p_region
      and k.fid > p_after
      and k.fid < p_end
    order by k.fid, k.retired_on desc nulls first, k.reference
    limit p_most
  ) r;
end
$$;
comment on function api.removed_parcels(int4, int4, int4, int4) is 'First parcels of a withdrawn region with fids in a range, including retired parcels. The parcels come from the register of fids, because a withdrawn region has no tables. Parcels have the format of past.columns_at, without geometries. The comune is null for a parcel of a land register';

create or replace function api.changed_parcels(
  p_region int4, p_range int4[], p_swap int4, p_fid int4, p_day date, p_until int4, p_most int4, p_sections text[],
  out publication text, out refusal json, out last int4, out swap int4, out happened_at text, out fids int4[],
  out parcels_before json, out cells_before text, out parcels_after json, out cells_after text
)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_begin record;
  v_swap ledger.swap;
  v_moment timestamptz;
  v_after int4;
begin
  perform api.hold_publication();
  publication := api.history_tag(p_region);
  v_begin := api.changes_begin(p_region, p_swap, p_fid, p_day);
  refusal := v_begin.refusal;
  if refusal is not null then
    return;
  end if;
  select max(s.swap_id)
  into last
  from ledger.swap s
  where s.unit_code in (0, p_region)
    and s.swap_id <= coalesce(p_until, s.swap_id);
  for v_swap in
    select s.*
    from ledger.swap s
    where s.unit_code in (0, p_region)
      and s.swap_id >= case when v_begin.fid is null then v_begin.swap + 1 else v_begin.swap end
      and s.swap_id <= last
    order by s.swap_id
  loop
    v_after := case when v_swap.swap_id = v_begin.swap then v_begin.fid else p_range[1] - 1 end;
    if not exists (select from ledger.publication u where u.unit_code = p_region and u.state = 'current') then
      -- For a withdrawn region, only the removal of the parcels is returned, without earlier changes.
      continue when v_swap.unit_code = 0 or v_swap.publication_id is not null
        or exists (select from ledger.swap s where s.unit_code = p_region and s.swap_id > v_swap.swap_id);
      select r.* into fids, parcels_before from api.removed_parcels(p_region, v_after, p_range[2], p_most) r;
      continue when fids is null;
      cells_before := '{}';
      cells_after := '{}';
    else
      fids := array(select t.fid from past.touched(p_region, v_swap.swap_id, v_after, p_range[2], p_most) t order by t.fid);
      continue when cardinality(fids) = 0;
      select c.* into parcels_before, cells_before from past.columns_at(p_region, fids, p_sections, v_swap.happened_at) c;
      select c.* into parcels_after, cells_after from past.columns_at(p_region, fids, p_sections, v_swap.happened_at + interval '1 microsecond') c;
    end if;
    swap := v_swap.swap_id;
    happened_at := to_char(v_swap.happened_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
    return;
  end loop;
  fids := null;
end
$$;
comment on function api.changed_parcels(int4, int4[], int4, int4, date, int4, int4, text[]) is 'First parcels that may have changed in the first publication after a position in the changelog (api.changes_begin). The values of each parcel are returned before and after the publication, in the format of past.columns_at. Argument p_range has the first fid of the region, and the first fid after the region. Argument p_until is the last publication to return (null: the newest). Result last is the number of that publication. Result swap is the number of the publication that changed the parcels, null if no changed parcel follows';

create or replace function api.publication_summary(p_swap int4, p_region int4) returns json
language plpgsql stable as $$
begin
  return (
    select json_build_object(
      'publication', s.swap_id,
      'region', s.unit_code,
      'published_at', to_char(s.happened_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
      'kind', case
        when s.publication_id is null then 'withdrawal'
        when exists (select from ledger.swap e where e.publication_id = s.publication_id and e.swap_id < s.swap_id) then 'rollback'
        else 'publication'
      end,
      'counts', case
        when c.comuni is not null then json_build_object('added', c.added, 'removed', c.removed, 'changed', c.changed, 'unchanged', c.unchanged)
      end,
      'comuni', c.comuni,
      'sources', (
        select json_object_agg(x.source_id, x.cut_off order by x.source_id)
        from ledger.swap_source x
        where x.swap_id = s.swap_id
      )
    )
    from ledger.swap s
    left join lateral (
      select
        sum(n.added) as added,
        sum(n.removed) as removed,
        sum(n.changed) as changed,
        sum(n.unchanged) as unchanged,
        count(*) filter (where n.added + n.removed + n.changed > 0) as comuni
      from ledger.swap_count n
      where n.swap_id = s.swap_id
        and (p_region is null or n.region_code = p_region)
      having count(*) > 0
    ) c on true
    where s.swap_id = p_swap
  );
end
$$;
comment on function api.publication_summary(int4, int4) is 'A publication, rollback or withdrawal (ledger.swap) with its number, region (0: Italy), time and kind. The result has the numbers of added, removed, changed and unchanged parcels, and the number of comuni with changes, in a region (null: in all regions). All these numbers are null if the changes were not counted. Each source has its cut-off date';

create or replace function api.publication_feed(p_region int4, p_most int4, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.history_tag(p_region);
  answer := (
    select json_agg(api.publication_summary(f.swap_id, p_region) order by f.swap_id desc)
    from (
      select s.swap_id
      from ledger.swap s
      where p_region is null
        or s.unit_code in (0, p_region)
      order by s.swap_id desc
      limit p_most
    ) f
  );
end
$$;
comment on function api.publication_feed(int4, int4) is 'Latest publications, rollbacks and withdrawals of a region and of Italy, newest first, each as in api.publication_summary. If the region is null, those of all regions';

create or replace function api.publication_counts(p_swap int4, p_region int4, out publication text, out answer text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.history_tag(p_region);
  answer := (
    select json_build_object(
      'data', (
        select coalesce(json_agg(json_build_object(
          'region', n.region_code,
          'comune', n.belfiore,
          'added', n.added,
          'removed', n.removed,
          'changed', n.changed,
          'unchanged', n.unchanged
        ) order by n.region_code, n.belfiore), '[]')
        from ledger.swap_count n
        where n.swap_id = s.swap_id
          and (p_region is null or n.region_code = p_region)
      ),
      'meta', api.publication_summary(s.swap_id, p_region)
    )
    from ledger.swap s
    where s.swap_id = p_swap
      and (p_region is null or s.unit_code in (0, p_region))
  );
end
$$;
comment on function api.publication_counts(int4, int4) is 'For each comune, numbers of parcels that a publication added, removed, changed or left unchanged, in a region (null: in all regions). The result includes api.publication_summary. The result is null if no such publication of the region is kept';
