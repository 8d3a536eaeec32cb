-- purpose: source citations of the sections in a parcel's record
-- reads: ledger.cited, ledger.publication
-- writes: api.cite
-- grain: one call per record
-- crs: none

create or replace function api.cite(p_region int4, p_sections text[], p_blocks text[], p_keys text[], p_from anyelement, out blocks text, out citations uuid[])
language plpgsql stable
-- A custom plan for each call is not faster, and costs planning time for every record.
set plan_cache_mode to force_generic_plan
set enable_seqscan to off
as $$
declare
  -- For most parcels, the key of a section is the section's name.
  v_keys constant text[] := array_append(p_keys || p_sections, '*');
  v_sections text[];
  v_citations uuid[];
  v_sources text[];
  v_others uuid[];
begin
  -- Orders the keys by length, longest first. Empty blocks have no citation. Blocks with names of comuni also cite the publication of Italy.
  select
    array_agg(n.section),
    array_agg(n.citation),
    array_agg(n.source),
    array_agg(n.citation) filter (where n.section in ('+', '*'))
  into v_sections, v_citations, v_sources, v_others
  from (
    select
      d.section,
      d.citation,
      d.source,
      length(d.key) as specific
    from unnest(v_keys) as k (key)
    join ledger.cited d on d.publication_id = (
        select u.publication_id
        from publication u
        where u.unit_code = p_region
          and u.state = 'current'
      )
      and d.key = k.key
    union all
    select
      '+',
      d.citation,
      d.source,
      length(d.key)
    from ledger.cited d
    where d.publication_id = (
        select u.publication_id
        from publication u
        where u.unit_code = 0
          and u.state = 'current'
      )
      and p_blocks[array_position(p_sections, d.section)] not in ('null', '[]')
    order by specific desc
  ) n;
  -- Replaces the placeholder for the source in each block as text, because parsing JSON would be slower.
  select
    string_agg('"' || b.section || '":' || replace(b.block, '"source" : null', '"source" : ' || coalesce(v_sources[b.own], 'null')), ','),
    array_remove(array_agg(v_citations[b.own]) filter (where b.block not in ('null', '[]')), null) || v_others
  into blocks, citations
  from (
    select
      s.section,
      s.block,
      array_position(v_sections, s.section) as own
    from unnest(p_sections, p_blocks) as s (section, block)
    -- Computes each position once.
    offset 0
  ) b;
end
$$;
comment on function api.cite(int4, text[], text[], text[], anyelement) is 'Returns the section blocks of a parcel as members of a JSON object, with their sources, and the ids of the citations. Citations are those of the values, of the names of comuni, and the citations that every record has. Argument p_keys has keys of ledger.cited. If several keys of a section match, the longest key is used';
