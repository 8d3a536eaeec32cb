-- purpose: the envelope of every API response, and the tag that identifies the data of a response
-- reads: ledger.publication, ledger.applied_file, ledger.swap
-- writes: api.publication_tag, api.history_tag, api.envelope
-- grain: one call per response
-- crs: none

create or replace function api.publication_tag(p_unit int4) returns text
language plpgsql stable as $$
begin
  -- The publication of Italy is always included, because every response may name a comune. The time of a publication distinguishes it from a publication with
  -- the same number in a different database. The version of the SQL files is included, because the SQL builds the responses.
  return (
    select concat_ws(
      '-',
      string_agg(concat_ws('.', u.unit_code, u.publication_id, extract(epoch from u.published_at), u.digest), '-' order by u.unit_code),
      (
        select extract(epoch from max(a.applied_at))
        from ledger.applied_file a
      )
    )
    from ledger.publication u
    where u.state = 'current'
      and (p_unit is null or u.unit_code in (0, p_unit))
  );
end
$$;
comment on function api.publication_tag(int4) is 'Identifies the data from which a response about a region (null: about all regions) is built: the current publications with their times, and the version of the SQL';

create or replace function api.history_tag(p_unit int4) returns text
language plpgsql stable as $$
begin
  -- A rollback adds a swap, even if an earlier publication becomes current again. Pruning deletes swaps or sets the start of the kept history.
  return (
    select concat_ws('-', api.publication_tag(p_unit), count(*), max(s.swap_id), extract(epoch from max(s.kept_from)))
    from ledger.swap s
    where p_unit is null
      or s.unit_code in (0, p_unit)
  );
end
$$;
comment on function api.history_tag(int4) is 'Identifies the data from which a response about the history of a region (null: of all regions) is built: api.publication_tag and the kept publications';

create or replace function api.envelope(p_data json, p_meta json) returns text
language sql stable as $$
  select concat('{"data":', coalesce(p_data::text, '[]'), ',"meta":', p_meta::text, '}')
$$;
comment on function api.envelope(json, json) is 'JSON text of a response with a list as member data, and with member meta. The list is empty if argument p_data is null';
