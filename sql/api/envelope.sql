-- purpose: what the answers of the server have in common
-- reads: ledger.publication
-- writes: api.publication_tag, api.envelope
-- grain: one call per answer
-- crs: none

create or replace function api.publication_tag(p_unit int4) returns text
language plpgsql stable as $$
begin
  -- Every answer may name a comune: the publication of Italy is always part of it.
  return (
    select coalesce(string_agg(u.unit_code || '.' || u.publication_id, '-' order by u.unit_code), '')
    from ledger.publication u
    where u.state = 'current'
      and (p_unit is null or u.unit_code in (0, p_unit))
  );
end
$$;
comment on function api.publication_tag(int4) is 'Names the publications in force that an answer about a region can depend on; null: of all regions';

create or replace function api.envelope(p_data json, p_meta json) returns text
language sql stable as $$
  select concat('{"data":', coalesce(p_data::text, '[]'), ',"meta":', p_meta::text, '}')
$$;
comment on function api.envelope(json, json) is 'JSON text of a list with its meta; data null: an empty list';
