-- purpose: the comuni, localities and provinces named in an address query
-- reads: core.comune_name, core.place_name, core.comune, core.province
-- writes: api.transposed, api.similar_from, api.geocode_comune
-- grain: one call per query, with keys from core.comune_key
-- crs: none

create or replace function api.transposed(p_word text) returns text[]
language sql immutable parallel safe as $$
  select coalesce(
    array_agg(left(p_word, n - 1) || substr(p_word, n + 1, 1) || substr(p_word, n, 1) || substr(p_word, n + 2)),
    '{}'
  )
  from generate_series(1, length(p_word) - 1) as n
  where length(p_word) between 4 and 64
    and substr(p_word, n, 1) <> substr(p_word, n + 1, 1)
$$;
comment on function api.transposed(text) is 'Variants of a word, each with one pair of neighbouring letters exchanged, such as roma for rmoa. Empty for words with fewer than 4 or more than 64 letters';

-- Uses set_config instead of a `set` clause, because only a superuser can restore a function with `set pg_trgm...` from a dump.
create or replace function api.similar_from(p_threshold real) returns text
language plpgsql stable as $$
declare
  -- This call loads the library of pg_trgm, which defines the setting.
  v_former constant real := show_limit();
begin
  perform set_config('pg_trgm.similarity_threshold', p_threshold::text, true);
  return v_former::text;
end
$$;
comment on function api.similar_from(real) is 'Sets the similarity threshold of the pg_trgm operator % until the end of the transaction. Returns the previous threshold';

-- The function finds the names of all Italian comuni, even if only one region is loaded. A query that names an unloaded comune therefore never returns an
-- address of a different comune.
create or replace function api.geocode_comune(p_keys text[], p_fuzzy bool) returns jsonb
language plpgsql stable
-- Uses the generic plan, because planning takes longer than execution.
set plan_cache_mode to force_generic_plan
as $$
declare
  v_former constant text := api.similar_from(0.3);
  v_found jsonb;
begin
  v_found := (
    with exact as (
      select
        n.key as asked,
        n.belfiore,
        n.kind
      from core.comune_name n
      where not p_fuzzy
        and n.key = any (p_keys)
      union
      select
        n.key as asked,
        n.code as belfiore,
        n.kind
      from core.place_name n
      where not p_fuzzy
        and n.key = any (p_keys)
        and (
          n.kind in ('name', 'second', 'former')
          -- A foreign name matches only if no locality has the same name.
          or n.kind = 'foreign' and not exists (select from core.comune_name o where o.key = n.key)
        )
    ),
    -- Keys that are not the exact name of a place. Similar names are searched in core.place_name, which is empty if the list of comuni is not loaded. Without
    -- the list, a key might be the exact name of an unknown comune.
    unknown as (
      select k.asked
      from unnest(p_keys) as k (asked)
      where p_fuzzy
        -- levenshtein accepts at most 255 bytes, and all names of comuni have fewer than 64 letters.
        and length(k.asked) between 3 and 64
        and not exists (select from core.place_name n where n.key = k.asked)
        and not exists (select from core.comune_name n where n.key = k.asked)
    ),
    -- Finds keys that are the first words of the name of exactly one comune, such as `Lamezia`.
    begun as (
      select
        u.asked,
        min(n.code) as belfiore
      from unknown u
      join core.place_name n on n.key like u.asked || ' %'
      where n.kind in ('name', 'second')
        and length(u.asked) >= 4
      group by u.asked
      having count(distinct n.code) = 1
    ),
    near as (
      select
        u.asked,
        n.code as belfiore,
        n.kind,
        levenshtein(n.key, u.asked) as edits
      from unknown u
      join core.place_name n on n.key % u.asked
      where n.kind in ('name', 'second')
        and length(n.key) <= 64
      union all
      select
        u.asked,
        n.code,
        n.kind,
        1
      from unknown u
      join core.place_name n on n.key = any (api.transposed(u.asked))
      where n.kind in ('name', 'second')
    ),
    best as (
      select
        asked,
        belfiore,
        kind,
        edits,
        min(edits) over (partition by asked) as least
      from near
      where edits <= case when length(asked) <= 5 then 1 else 2 end
        and not exists (select from begun b where b.asked = near.asked)
    ),
    hit as (
      select asked, belfiore, kind
      from exact
      union
      select asked, belfiore, 'name'
      from begun
      union
      select asked, belfiore, kind
      from best
      where edits = least
    ),
    counted as (
      select
        asked,
        belfiore,
        kind,
        count(*) over (partition by asked, kind) as homonyms
      from hit
    ),
    answer as (
      select
        h.asked,
        h.belfiore,
        h.kind,
        c.sigla,
        c.province_name,
        c.region_code,
        array(
          select n.key
          from core.place_name n
          where n.code = h.belfiore
            and n.kind = 'past_province'
          order by n.key collate "C"
        ) as past_provinces
      from counted h
      left join core.comune c on c.belfiore = h.belfiore
      -- A locality name that many comuni share, such as Centro, identifies no comune unless another key names the comune.
      where h.kind <> 'locality'
        or h.homonyms <= 10
        or h.belfiore in (select o.belfiore from hit o where o.kind <> 'locality')
      union all
      select distinct
        n.key as asked,
        null as belfiore,
        'province' as kind,
        p.abbreviation as sigla,
        p.name as province_name,
        p.region_code,
        '{}'::text[] as past_provinces
      from core.place_name n
      left join core.province p
        on p.code = n.code
        and n.kind = 'province'
      where not p_fuzzy
        and n.key = any (p_keys)
        and (
          n.kind = 'province' and p.code is not null
          -- Two-letter car plate codes are excluded here, because the query parser reads them as provinces.
          or n.kind = 'past_province' and length(n.key) > 2
        )
    )
    select coalesce(
      jsonb_agg(
        jsonb_build_object(
          'key', asked,
          'belfiore', belfiore,
          'kind', kind,
          'sigla', sigla,
          'provinceKey', core.comune_key(province_name),
          'region', region_code,
          'pastProvinces', past_provinces
        )
        order by asked collate "C", kind collate "C", belfiore collate "C"
      ),
      '[]'::jsonb
    )
    from answer
  );
  perform set_config('pg_trgm.similarity_threshold', v_former, true);
  return v_found;
end
$$;
comment on function api.geocode_comune(text[], bool) is 'JSON array of places that the keys name. If p_fuzzy is false, keys match exactly. If p_fuzzy is true, only keys without an exact match are searched. Such a key matches names with one or two different letters, or is the beginning of exactly one name. Each place has the searched key, cadastral code, kind of name, province, region, and plates and names of earlier provinces. The function finds all comuni of Italy. Provinces, which have no cadastral code, match only exactly';
