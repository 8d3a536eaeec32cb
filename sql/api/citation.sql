-- purpose: the sources that one parcel's sections cite
-- reads: ledger.citation, ledger.cited, ledger.publication
-- writes: api.comune_of, api.cited, api.all_cited, api.cited_licenses, api.citations
-- grain: one call per section or record
-- crs: none

create or replace function api.comune_of(p_fid int4) returns text
language plpgsql stable as $$
begin
  return (
    select p.belfiore
    from core.parcel p
    where p.fid = p_fid
  );
end
$$;
comment on function api.comune_of(int4) is 'Cadastral code of a parcel''s comune; null: there is no such parcel';

create or replace function api.cited(p_fid int4, p_section text, p_keys text[], out cited uuid, out source text)
language plpgsql stable as $$
begin
  select
    c.citation,
    c.source
  into cited, source
  from ledger.publication u
  join ledger.cited d on d.publication_id = u.publication_id
    and d.section = p_section
    and d.key = any (array_append(p_keys, ''))
  join ledger.citation c on c.citation = d.citation
  where u.unit_code = core.region_of(p_fid)
    and u.state = 'current'
  order by array_position(p_keys, d.key)
  limit 1;
end
$$;
comment on function api.cited(int4, text, text[]) is 'Combination of sources that a section of a parcel cites, and their titles with periods. p_keys: facts of the section, from the narrowest to the widest; the first that is noted counts, else the combination of most parcels. Nulls: nothing is noted';

create or replace function api.all_cited(p_region int4, p_sections text[], p_cited uuid[]) returns uuid[]
language plpgsql stable as $$
begin
  return (
    with own as (
      select
        c.citation,
        c.section,
        c.terms
      from ledger.citation c
      where c.citation = any (p_cited)
      union all
      -- Names of comuni come from the publication of Italy.
      select
        c.citation,
        c.section,
        c.terms
      from ledger.publication u
      join ledger.cited d on d.publication_id = u.publication_id
        and d.section = any (p_sections)
      join ledger.citation c on c.citation = d.citation
      where u.unit_code = 0
        and u.state = 'current'
    ),
    -- The cadastre names the same holder as quotations do, under another licence.
    mandatory as (
      select distinct on (c.terms)
        c.citation,
        c.source_ids
      from ledger.publication u
      join ledger.cited d on d.publication_id = u.publication_id
        and d.section = '*'
      join ledger.citation c on c.citation = d.citation
      where u.unit_code = p_region
        and u.state = 'current'
        and not exists (select from own o where o.terms && c.terms)
      order by c.terms, c.source desc, c.source_ids
    )
    select array_agg(x.citation order by x.place, x.source_ids)
    from (
      select
        o.citation,
        array_position(p_sections, o.section) as place,
        null::text[] as source_ids
      from own o
      union all
      select
        m.citation,
        null,
        m.source_ids
      from mandatory m
    ) x
  );
end
$$;
comment on function api.all_cited(int4, text[], uuid[]) is 'Combinations that an answer cites, in the order of its sections: those of its values, that of the names of comuni, and the mandatory ones that no other has the terms of';

create or replace function api.cited_licenses(p_sections text[], p_cited uuid[]) returns json
language plpgsql stable as $$
begin
  return (
    select coalesce(json_agg(l.license::json order by array_position(p_sections, c.section), l.source_id collate "C"), '[]'::json)
    from ledger.citation c
    cross join lateral unnest(c.source_ids, c.licenses) as l (source_id, license)
    where c.citation = any (p_cited)
  );
end
$$;
comment on function api.cited_licenses(text[], uuid[]) is 'Licences of combinations, by section and source';

create or replace function api.citations(p_cited uuid[]) returns json
language plpgsql stable security definer
set search_path to public, pg_temp
as $$
begin
  return (
    select coalesce(json_agg(json_build_array(c.citation, c.section, c.source_ids, c.licenses)), '[]'::json)
    from ledger.citation c
    where c.citation = any (p_cited)
  );
end
$$;
comment on function api.citations(uuid[]) is 'JSON array of [citation, section, sources, licences as JSON texts] of combinations';
