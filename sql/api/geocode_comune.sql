-- purpose: the gazetteer, as the reader of queries asks it
-- reads: core.comune_name, core.comune
-- writes: api.geocode_comune
-- grain: one call per query; keys are what core.comune_key gives
-- crs: none

create or replace function api.geocode_comune(p_keys text[], p_fuzzy bool) returns jsonb
language plpgsql stable
set pg_trgm.similarity_threshold = 0.3
as $$
begin
  return (
    with exact as (
      select
        n.key as asked,
        n.belfiore,
        n.kind
      from core.comune_name n
      where not p_fuzzy
        and n.key = any (p_keys)
    ),
    near as (
      select
        k.asked,
        n.belfiore,
        n.kind,
        levenshtein(n.key, k.asked) as edits
      from unnest(p_keys) as k (asked)
      join core.comune_name n on n.key % k.asked
      where p_fuzzy
        and n.kind in ('name', 'second')
        -- levenshtein refuses more than 255 bytes; no comune has a name of 64.
        and length(k.asked) between 3 and 64
        and length(n.key) <= 64
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
    ),
    hit as (
      select asked, belfiore, kind
      from exact
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
    )
    select coalesce(
      jsonb_agg(
        jsonb_build_object(
          'key', h.asked,
          'belfiore', h.belfiore,
          'kind', h.kind,
          'sigla', c.sigla,
          'provinceKey', core.comune_key(c.province_name)
        )
        order by h.asked collate "C", h.kind collate "C", h.belfiore collate "C"
      ),
      '[]'::jsonb
    )
    from counted h
    join core.comune c on c.belfiore = h.belfiore
    -- Localities of many comuni (Centro, Stazione) name no comune.
    where h.kind <> 'locality'
      or h.homonyms <= 10
  );
end
$$;
comment on function api.geocode_comune(text[], bool) is 'Comuni that the keys name, by exact key or (fuzzy) one or two letters away: key asked, cadastral code, kind of name, province; an array';
