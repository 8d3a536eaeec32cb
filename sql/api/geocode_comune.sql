-- purpose: the gazetteer, as the reader of queries asks it
-- reads: core.comune_name, core.place_name, core.comune, core.province
-- writes: api.transposed, api.similar_from, api.geocode_comune
-- grain: one call per query; keys are what core.comune_key gives
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
comment on function api.transposed(text) is 'The word with each pair of neighbouring letters exchanged: roma for rmoa; none for words of fewer than 4 letters';

-- A function with `set pg_trgm...` can be restored by a superuser only.
create or replace function api.similar_from(p_threshold real) returns text
language plpgsql stable as $$
declare
  -- Loads the library, which gives the setting its value.
  v_former constant real := show_limit();
begin
  perform set_config('pg_trgm.similarity_threshold', p_threshold::text, true);
  return v_former::text;
end
$$;
comment on function api.similar_from(real) is 'Sets from which similarity on two words are alike for the operator % of pg_trgm, until the end of the transaction; returns the former threshold';

-- Names of all Italy are known, also where one region is loaded: a name that is a comune's leads there, or nowhere.
create or replace function api.geocode_comune(p_keys text[], p_fuzzy bool) returns jsonb
language plpgsql stable
-- Planning takes longer than running.
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
          -- A foreign name is free only where no locality has it.
          or n.kind = 'foreign' and not exists (select from core.comune_name o where o.key = n.key)
        )
    ),
    -- Without the list of comuni nobody knows whether a key is another comune's name: then nothing is like anything.
    unknown as (
      select k.asked
      from unnest(p_keys) as k (asked)
      where p_fuzzy
        -- levenshtein refuses more than 255 bytes; no comune has a name of 64.
        and length(k.asked) between 3 and 64
        and not exists (select from core.place_name n where n.key = k.asked)
        and not exists (select from core.comune_name n where n.key = k.asked)
    ),
    -- `Lamezia`: the whole words that one comune's name alone begins with.
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
      -- Localities of many comuni (Centro, Stazione) name no comune, unless another key names theirs.
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
          -- Plates of two letters are provinces wherever one is written.
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
comment on function api.geocode_comune(text[], bool) is 'Places that the keys name, by exact key or (fuzzy) one or two letters away or the beginning of one name alone: key asked, cadastral code, kind of name, province, region, plates and names of earlier provinces; an array. Comuni of all Italy are known, and provinces (without a cadastral code)';
