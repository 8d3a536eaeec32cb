-- purpose: suggestions for the end of a query while a user types
-- reads: core.comune_name, core.street_name, core.token
-- writes: api.completions
-- grain: one call per query
-- crs: none

create or replace function api.completions(p_word text, p_places text[], out completions jsonb)
language plpgsql stable security definer
set search_path to core, section, ledger, public, pg_temp
-- Uses the generic plan, because planning takes longer than execution.
set plan_cache_mode to force_generic_plan
as $$
declare
  shortest constant int4 := 2;
  -- The server searches addresses for each completion. These limits keep the total time of the searches below a typical pause in typing.
  most_words constant int4 := 5;
  most_comuni constant int4 := 3;
begin
  completions := (
    with word as (
      select
        k.text,
        sum(k.df) as df
      from core.token k
      where k.text like p_word || '%'
        and k.text <> p_word
        and length(p_word) between shortest and 64
      group by k.text
      order by sum(k.df) desc, k.text collate "C"
      limit most_words
    ),
    begun as (
      select
        n.region_code,
        n.belfiore,
        max(p.words) as words
      from unnest(p_places) with ordinality as p (start, words)
      join core.comune_name n on n.key like p.start || '%'
      where n.kind in ('name', 'second')
        and n.key <> p.start
        and length(p.start) between shortest and 64
      group by n.region_code, n.belfiore
    ),
    comune as (
      select
        b.belfiore,
        b.words,
        s.comune_located
      from begun b
      cross join lateral (
        select x.comune_located
        from core.street_name x
        where x.region_code = b.region_code
          and x.belfiore = b.belfiore
          and x.located > 0
        limit 1
      ) s
      order by b.words desc, s.comune_located desc, b.belfiore collate "C"
      limit most_comuni
    ),
    found as (
      -- Comuni that match several words come before street words, because such a match is rarely a coincidence. A comune that matches a single word comes after
      -- the street words, because the word may belong to a street.
      select 1 - c.words as rank, -c.comune_located::numeric as nth, c.words, c.belfiore as text, true as is_comune
      from comune c
      union all
      select 0, -w.df, 1, w.text, false
      from word w
    )
    select coalesce(
      jsonb_agg(
        jsonb_build_object('words', f.words, 'text', f.text, 'is_comune', f.is_comune)
        order by f.rank, f.is_comune, f.nth, f.text collate "C"
      ),
      '[]'::jsonb
    )
    from found f
  );
end
$$;
comment on function api.completions(text, text[]) is 'JSON array of completions for the end of a query. Some completions are words in street names. These words begin with p_word, and the most frequent word is first. Other completions are comuni with located addresses whose name begins with an element of p_places (the last word, the last two words, …). Each completion has the number of query words to replace, and the new word or the cadastral code';
