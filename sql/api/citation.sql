-- purpose: licences of the sources that a record cites
-- reads: ledger.citation
-- writes: api.cited_licenses, api.citation_licenses
-- grain: one call per record or per new citation
-- crs: none

create or replace function api.cited_licenses(p_sections text[], p_cited uuid[], out licenses text)
language plpgsql stable security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_sections constant text[] := api.included(p_sections);
begin
  licenses := (
    with license as (
      select
        c.section,
        l.*
      from ledger.citation c
      cross join lateral unnest(c.source_ids, c.licenses, c.terms) as l (source_id, license, term)
      where c.citation = any (p_cited)
    )
    select coalesce(json_agg(l.license::json order by array_position(v_sections, l.section), l.source_id collate "C"), '[]'::json)::text
    from license l
    -- Compares the terms instead of the holder, because the cadastre and the quotations have the same holder but different licences.
    where l.section <> '*'
      or not exists (select from license o where o.section <> '*' and o.term = l.term)
  );
end
$$;
comment on function api.cited_licenses(text[], uuid[]) is 'JSON text of the licences of the cited combinations of sources, ordered by section and source. Mandatory licences are last. A mandatory licence is left out if another licence has the same terms';

create or replace function api.citation_licenses(p_cited uuid[], out licenses json)
language plpgsql stable security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  licenses := (
    select
      coalesce(
        json_agg(
          json_build_object(
            'citation', c.citation,
            'section', c.section,
            'source', l.source_id,
            'license', l.license,
            'terms', l.term
          )
        ),
        '[]'::json
      )
    from ledger.citation c
    cross join lateral unnest(c.source_ids, c.licenses, c.terms) as l (source_id, license, term)
    where c.citation = any (p_cited)
  );
end
$$;
comment on function api.citation_licenses(uuid[]) is 'The licences of citations, one element per citation and source. Member license is the JSON text of a licence. The server caches these licences and joins them in the same way as api.cited_licenses';
