-- purpose: address search with queries from pipelines/address/parse-query.ts
-- reads: core.parcel, core.token, core.street_name, core.access_point, core.comune, core.place_name, core.province, core.region, ledger.publication
-- writes: api.geocode_tokens, api.geocode_streets, api.geocode_numbers, api.has_addresses, api.geocode_search
-- grain: one call per query
-- crs: EPSG:4326

-- The search has three steps, each with one index. The first step converts the typed words to token ids, and corrects mistyped words with the dictionary. The
-- second step finds streets by token ids, in the given comuni or in all Italy, and scores each street by its share of matching words. The last step searches
-- the house number in the best streets only, so the house number never decides the comune.

create or replace function api.geocode_tokens(p_tokens text[], p_regions int2[], p_fuzzy bool)
returns table (place int4, id int4, weight float8, quality float8, df int4)
language plpgsql stable rows 20
-- In this file, planning takes longer than execution, and the generic plan uses an index for all arguments.
set plan_cache_mode to force_generic_plan
as $$
#variable_conflict use_column
declare
  most_corrected constant int4 := 6;
  v_former constant text := api.similar_from(0.25);
begin
  return query
  with asked as (
    select
      t.text,
      min(t.place)::int4 as place
    from unnest(p_tokens) with ordinality as t (text, place)
    group by t.text
  ),
  exact as (
    select
      a.place,
      k.id,
      k.weight,
      k.df
    from asked a
    join core.token k on k.text = a.text
    where k.region_code = any (p_regions)
  ),
  -- Each correction needs a dictionary lookup. At most six words are corrected, unknown words first, because no street has more words.
  doubtful as (
    select
      a.place,
      a.text
    from asked a
    cross join lateral (select exists (select from exact e where e.place = a.place) as known) k
    where (p_fuzzy or not k.known)
      -- Words with digits are not corrected, because a similar number is a different number. levenshtein accepts at most 255 bytes.
      and a.text !~ '[0-9]'
      and length(a.text) between 3 and 64
    order by k.known, a.place
    limit most_corrected
  ),
  near as (
    select
      a.place,
      a.text as asked,
      k.text,
      levenshtein(k.text, a.text) as edits,
      k.id,
      k.weight,
      k.df
    from doubtful a
    join core.token k on k.text % a.text
    where k.text <> a.text
      and k.text !~ '[0-9]'
      and length(k.text) <= 64
      and k.region_code = any (p_regions)
    union all
    -- Searches exchanged letters separately, because a short word with two exchanged letters may have no trigram in common with the correct word.
    select
      a.place,
      a.text,
      k.text,
      1,
      k.id,
      k.weight,
      k.df
    from doubtful a
    join core.token k on k.text = any (api.transposed(a.text))
    where k.region_code = any (p_regions)
  ),
  counted as (
    select
      place,
      asked,
      text,
      min(edits) as edits,
      sum(df) as df
    from near
    group by place, asked, text
  ),
  ranked as (
    select
      place,
      text,
      edits,
      row_number() over (partition by place order by edits, df desc, text collate "C") as rank
    from counted
    where edits <= case when length(asked) <= 5 then 1 else 2 end
  )
  select place, id, weight, 1::float8, df
  from exact
  union all
  -- Both searches of `near` may find the same word.
  select distinct
    r.place,
    n.id,
    n.weight,
    case r.edits when 1 then 0.9 else 0.8 end::float8,
    n.df
  from ranked r
  join near n on n.place = r.place and n.text = r.text
  where r.rank <= 6;
  perform set_config('pg_trgm.similarity_threshold', v_former, true);
end
$$;
comment on function api.geocode_tokens(text[], int2[], bool) is 'Dictionary words for the typed words: the exact word, and at most six words with one or two different letters. Similar words are searched for at most six typed words. If p_fuzzy is false, they are searched only for typed words without an exact match. Column place is the number of the typed word';

create or replace function api.geocode_streets(p_reading jsonb, p_limit int4, p_fuzzy bool)
returns table (region_code int2, street_id int8, belfiore text, comune_located int4, score numeric)
language plpgsql stable rows 20
set plan_cache_mode to force_generic_plan
as $$
#variable_conflict use_column
declare
  -- Weight of a typed word that is in no street name of the searched regions. A word that occurs in one of 8,000 street names has about this weight.
  unknown_weight constant numeric := 9;
  least_score constant numeric := 0.5;
  -- In the first attempt of a search in all Italy, the maximum total weight of the words of a street name that are not in the query. A word that occurs in one
  -- of 400 street names has about this weight.
  rest_of_name constant numeric := 6;
  v_limit constant int4 := greatest(p_limit, 20);
  v_tokens text[] := array(select jsonb_array_elements_text(p_reading -> 'tokens'));
  v_type text := p_reading ->> 'streetType';
  v_other_types text[] := array(select jsonb_array_elements_text(p_reading -> 'otherTypes'));
  v_whole bool := coalesce((p_reading ->> 'whole')::bool, false);
  v_province text := p_reading ->> 'province';
  v_locality text := p_reading ->> 'locality';
  v_comuni text[];
  v_regions int2[];
  v_ids int4[];
  v_places int4[];
  v_weights float8[];
  v_qualities float8[];
  v_dfs int4[];
  v_rarest int4[];
  v_second int4[];
  v_asked int4[];
  v_asked_weights numeric[];
  v_order int4[];
  v_best numeric;
  v_best_partial numeric;
  v_best_heavy numeric;
  v_heaviest float8;
  v_is_known bool;
  v_streets core.street_name[];
  v_name_regions int2[];
  v_name_ids int4[];
  v_scores numeric[];
begin
  if jsonb_typeof(p_reading -> 'comuni') = 'array' then
    v_comuni := array(select jsonb_array_elements_text(p_reading -> 'comuni'));
  elsif v_province is not null then
    v_comuni := array(
      select c.belfiore
      from core.province p
      join core.comune c on c.province_code = p.code
      where core.lower_case(p.abbreviation) = v_province
        or ' ' || core.comune_key(p.name) || ' ' like '% ' || v_province || ' %'
    );
    -- A current province takes precedence over an earlier province with the same car plate code or name.
    if cardinality(v_comuni) = 0 then
      v_comuni := array(
        select n.code
        from core.place_name n
        where n.key = v_province
          and n.kind = 'past_province'
      );
    end if;
  end if;
  if v_comuni is not null then
    v_regions := array(select distinct s.region_code from core.street_name s where s.belfiore = any (v_comuni));
  else
    -- Adds the published regions, because core.region is empty if no list of comuni is loaded.
    v_regions := array(
      select r.code from core.region r
      union
      select u.unit_code from ledger.publication u where u.state = 'current' and u.unit_code > 0
    );
  end if;
  select array_agg(t.id), array_agg(t.place), array_agg(t.weight), array_agg(t.quality), array_agg(t.df)
  into v_ids, v_places, v_weights, v_qualities, v_dfs
  from api.geocode_tokens(v_tokens, v_regions, p_fuzzy) t
  where t.quality = 1
    or not v_whole;
  if v_ids is null then
    return;
  end if;
  -- v_asked: typed words, each once.
  -- v_order: known words from the rarest to the most frequent.
  -- v_best: highest possible score.
  -- v_best_partial: highest possible score without the second-rarest word.
  -- v_best_heavy: highest possible score of a name with a higher weight than v_heaviest.
  select
    a.asked_places,
    a.asked_weights,
    a.places,
    a.is_known,
    a.known + rest_of_name,
    round(a.quality * (0.8 * a.known / a.asked + 0.2), 4),
    round(a.quality * (0.8 * (a.known - a.known_weights[2]) / a.asked + 0.2), 4),
    round(a.quality * (0.8 * a.known / a.asked + 0.2 * a.known / (a.known + rest_of_name)), 4)
  into v_asked, v_asked_weights, v_order, v_is_known, v_heaviest, v_best, v_best_partial, v_best_heavy
  from (
    select
      array_agg(w.place) as asked_places,
      array_agg(coalesce(w.weight, unknown_weight)) as asked_weights,
      array_agg(w.place order by w.df, w.place) filter (where w.weight is not null) as places,
      array_agg(w.weight order by w.df, w.place) as known_weights,
      bool_and(w.weight is not null) as is_known,
      max(w.quality) as quality,
      sum(w.weight) as known,
      sum(coalesce(w.weight, unknown_weight)) as asked
    from (
      select
        p.place,
        max(w.weight)::numeric as weight,
        max(w.quality)::numeric as quality,
        sum(w.df) as df
      from generate_series(1, cardinality(v_tokens)) as p (place)
      left join unnest(v_places, v_weights, v_qualities, v_dfs) as w (place, weight, quality, df) on w.place = p.place
      -- A word that is typed twice counts once.
      where v_tokens[p.place] <> all (v_tokens[: p.place - 1])
      group by p.place
    ) w
  ) a;
  if v_best < least_score or v_whole and not v_is_known then
    return;
  end if;
  if v_comuni is null then
    -- A search in all Italy selects the names that contain the rarest known word. The first attempt selects only names that also contain the second-rarest word
    -- and have a weight of at most v_heaviest.
    v_rarest := array(select w.id from unnest(v_ids, v_places) as w (id, place) where w.place = v_order[1]);
    v_second := case
      when cardinality(v_order) > 1 then array(select w.id from unnest(v_ids, v_places) as w (id, place) where w.place = v_order[2])
      else v_rarest
    end;
  end if;
  -- Each step is a separate statement, because preparing a scan of the tables of all regions takes longer than scoring.
  loop
    -- A search in all Italy reads the first street of each name. A search in given comuni reads all streets of these comuni that contain a typed word.
    if v_comuni is null then
      v_streets := array(
        select n
        from core.street_name n
        where n.token_ids && v_rarest
          and n.token_ids && v_second
          and n.weight <= v_heaviest
          and n.nth = 1
      );
    else
      v_streets := array(
        select n
        from core.street_name n
        where n.region_code = any (v_regions)
          and n.belfiore = any (v_comuni)
          and n.token_ids && v_ids
          and n.located > 0
      );
    end if;
    with word as (
      select *
      from unnest(v_ids, v_places, v_weights, v_qualities) as w (id, place, weight, quality)
    ),
    asked as (
      select *
      from unnest(v_asked, v_asked_weights) as w (place, weight)
    ),
    -- Scores each name once per region, because many comuni have streets with the same name.
    name as materialized (
      select
        c.*,
        row_number() over () as number
      from (
        select distinct on (n.region_code, n.name_id)
          n.region_code,
          n.name_id,
          n.token_ids,
          n.weight,
          n.street_type,
          n.street_id,
          v_locality is null or n.locality_key is not distinct from v_locality as is_there
        from unnest(v_streets) n
        order by n.region_code, n.name_id
      ) c
    ),
    said as (
      select
        c.number as name,
        w.place,
        w.weight,
        w.quality,
        -- Typed words that match the same word of the street (roma, rora) count once.
        row_number() over (partition by c.number, t.id order by w.quality desc, w.place) as nth
      from name c
      cross join lateral unnest(c.token_ids) as t (id)
      join word w on w.id = t.id
    ),
    matched as (
      select
        s.name,
        s.place,
        max(s.weight)::numeric as weight,
        max(s.weight * s.quality)::numeric as credit
      from said s
      where s.nth = 1
      group by s.name, s.place
    ),
    summed as (
      select
        m.name,
        sum(m.credit) as credit,
        count(*) as word_count,
        -- The weight of the query is the sum of the weights of its words. A matched word has its weight in the street's region. Any other word has the highest
        -- of its weights in the searched regions, or unknown_weight if the word is unknown.
        sum(m.weight) + (select sum(a.weight) from asked a) - sum(a.weight) as asked
      from matched m
      join asked a on a.place = m.place
      group by m.name
    ),
    scored as (
      select
        c.region_code,
        c.name_id,
        c.street_id,
        round(
          -- The matched share of the query has a weight of 80 % in the score, and the matched share of the street name has a weight of 20 %. Users often omit
          -- given names of a street.
          (0.8 * s.credit / s.asked + 0.2 * s.credit / c.weight::numeric)
            * case
              when v_type is null then case when c.street_type is null then 1 else 0.98 end
              when c.street_type = v_type then 1
              when c.street_type is null or c.street_type = any (v_other_types) then 0.97
              else 0.93
            end
            * case when c.is_there then 1 else 0.97 end,
          4
        ) as score
      from summed s
      join name c on c.number = s.name
      -- A reading marked as whole matches only complete street names. Some of its words may name a comune, so a street with a similar name is probably wrong.
      where not v_whole
        or (s.word_count = (select count(*) from asked) and s.word_count = cardinality(c.token_ids) and (v_type is null or c.street_type = v_type))
    ),
    good as (
      select *
      from scored
      where score >= least_score
    ),
    -- Lowest score of the best v_limit streets. A name with a lower score has no street in the result.
    enough as (
      select min(f.score) as score
      from (
        select max(x.score) as score
        from good x
        group by x.region_code, x.street_id
        order by max(x.score) desc
        limit v_limit
      ) f
    )
    select array_agg(x.region_code), array_agg(x.name_id), array_agg(x.score)
    into v_name_regions, v_name_ids, v_scores
    from good x
    where x.score >= (select e.score from enough e);
    if v_comuni is not null then
      return query
      select
        c.region_code,
        c.street_id,
        c.belfiore,
        c.comune_located,
        max(x.score) as score
      from unnest(v_name_regions, v_name_ids, v_scores) as x (region_code, name_id, score)
      join unnest(v_streets) c on c.region_code = x.region_code and c.name_id = x.name_id
      group by c.region_code, c.street_id, c.belfiore, c.comune_located
      order by max(x.score) desc, c.comune_located desc, c.belfiore collate "C", c.street_id
      limit v_limit;
      return;
    end if;
    return query
    with first as (
      select
        n.region_code,
        n.street_id,
        n.belfiore,
        n.comune_located,
        max(x.score) as score
      from unnest(v_name_regions, v_name_ids, v_scores) as x (region_code, name_id, score)
      cross join lateral (
        select *
        from core.street_name n
        where n.region_code = x.region_code
          and n.name_id = x.name_id
          and n.nth <= v_limit
      ) n
      group by n.region_code, n.street_id, n.belfiore, n.comune_located
      order by max(x.score) desc, n.comune_located desc, n.belfiore collate "C", n.street_id
      limit v_limit
    )
    select
      f.region_code,
      f.street_id,
      f.belfiore,
      f.comune_located,
      f.score
    from first f
    where v_whole
      or v_heaviest = 'infinity'
      -- The first attempt is sufficient if all other streets have a lower score than these streets.
      or (select count(*) = v_limit and min(o.score) > greatest(v_best_partial, v_best_heavy) from first o)
    order by f.score desc, f.comune_located desc, f.belfiore collate "C", f.street_id;
    exit when found or v_whole or v_heaviest = 'infinity';
    v_second := v_rarest;
    v_heaviest := 'infinity';
  end loop;
end
$$;
comment on function api.geocode_streets(jsonb, int4, bool) is 'Streets with a located access point that may match a reading of a query. The score (0–1) is the share of matching words by weight, including street type and locality. A reading with whole = true matches only streets with exactly the same name';

create or replace function api.geocode_numbers(p_reading jsonb, p_limit int4, p_fuzzy bool)
returns table (region_code int2, address_id int8, belfiore text, comune_located int4, street_score numeric, rank int4, distance int4, match_type text)
language plpgsql stable rows 50 as $$
#variable_conflict use_column
begin
  return query
  with reading as (
    select
      (p_reading ->> 'number')::int4 as number,
      (p_reading ->> 'rangeTo')::int4 as range_to,
      nullif(regexp_replace(core.upper_case(p_reading ->> 'exponent'), '[^A-Z0-9]', '', 'g'), '') as exponent,
      p_reading ->> 'colour' as colour,
      -- Red numbers are a separate series. Black numbers belong to the common series.
      coalesce(p_reading ->> 'colour' = 'ROSSO', false) as is_red,
      (p_reading ->> 'metricM')::int4 as metric_m,
      (p_reading ->> 'snc')::bool as snc
  ),
  street as materialized (
    select *
    from api.geocode_streets(p_reading, p_limit, p_fuzzy)
  ),
  found as (
    -- Finds the number of the query, and the end of a range, with any exponent and colour.
    select
      s.region_code,
      s.street_id,
      n.address_id,
      n.exponent,
      case
        when n.same_colour and n.same_exponent then case when n.number = r.number then 0 else 1 end
        when n.same_colour and n.exponent is null then 2
        -- Ranks an exponent with the same beginning after the nearest number, because B and BIS, or T and TER, are different numbers.
        when n.same_colour and r.exponent is not null and (starts_with(n.exponent, r.exponent) or starts_with(r.exponent, n.exponent)) then 7
        when n.same_colour then 3
        when n.same_exponent then 4
        else 5
      end as rank,
      0 as distance
    from reading r
    cross join street s
    cross join lateral (
      select
        k.address_id,
        k.number,
        k.exponent,
        -- Some comuni publish red numbers with a colour, and others with an exponent such as R.
        case
          when r.colour is not null then coalesce(k.colour, case right(k.exponent, 1) when 'R' then 'ROSSO' when 'N' then 'NERO' end, '') = r.colour
          else k.colour is null or k.colour <> 'ROSSO' or r.exponent = 'R'
        end as same_colour,
        case
          when r.colour is not null and k.colour is null then k.exponent = concat(r.exponent, left(r.colour, 1))
          when r.exponent = 'R' and k.colour = 'ROSSO' then k.exponent is null
          else k.exponent is not distinct from r.exponent
        end as same_exponent
      from (
        select
          a.address_id,
          a.number,
          nullif(regexp_replace(a.exponent, '[^A-Z0-9]', '', 'g'), '') as exponent,
          a.colour
        from core.access_point a
        where a.region_code = s.region_code
          and a.street_id = s.street_id
          and a.number in (r.number, r.range_to)
          and a.geom is not null
      ) k
    ) n
    union all
    -- Finds the next higher and lower numbers on the same side of the street. Numbers in the series of the query rank before numbers in the other series.
    select
      s.region_code,
      s.street_id,
      n.address_id,
      n.exponent,
      case when n.is_red = r.is_red then 6 else 7 end as rank,
      abs(n.number - r.number) * 2 + case when n.number > r.number then 1 else 0 end as distance
    from reading r
    cross join street s
    cross join (values (false), (true)) as series (is_red)
    cross join lateral (
      (
        select a.address_id, a.number, a.exponent, series.is_red
        from core.access_point a
        where a.region_code = s.region_code
          and a.street_id = s.street_id
          and a.number > r.number
          and a.number % 2 = r.number % 2
          and a.geom is not null
          and (a.colour is not distinct from 'ROSSO' or (a.colour is null and a.exponent is not distinct from 'R' and r.is_red)) = series.is_red
        order by a.number, a.exponent nulls first, a.address_id
        limit 1
      )
      union all
      (
        select a.address_id, a.number, a.exponent, series.is_red
        from core.access_point a
        where a.region_code = s.region_code
          and a.street_id = s.street_id
          and a.number < r.number
          and a.number % 2 = r.number % 2
          and a.geom is not null
          and (a.colour is not distinct from 'ROSSO' or (a.colour is null and a.exponent is not distinct from 'R' and r.is_red)) = series.is_red
        order by a.number desc, a.exponent nulls first, a.address_id
        limit 1
      )
    ) n
    where r.number is not null
    union all
    select
      s.region_code,
      s.street_id,
      n.address_id,
      n.exponent,
      case when n.metric_m = r.metric_m then 0 else 6 end as rank,
      abs(n.metric_m - r.metric_m) as distance
    from reading r
    cross join street s
    cross join lateral (
      select a.address_id, a.metric_m, a.exponent
      from core.access_point a
      where a.region_code = s.region_code
        and a.street_id = s.street_id
        and a.metric_m is not null
        and a.geom is not null
      order by abs(a.metric_m - r.metric_m), a.metric_m, a.address_id
      limit 1
    ) n
    where r.metric_m is not null
    union all
    select
      s.region_code,
      s.street_id,
      n.address_id,
      null as exponent,
      0 as rank,
      0 as distance
    from reading r
    cross join street s
    cross join lateral (
      select a.address_id
      from core.access_point a
      where a.region_code = s.region_code
        and a.street_id = s.street_id
        and a.number is null
        and a.metric_m is null
        and a.geom is not null
      order by a.address_id
      limit p_limit
    ) n
    where r.snc
    union all
    -- Finds the street itself, represented by its first access point.
    select
      s.region_code,
      s.street_id,
      n.address_id,
      null as exponent,
      9 as rank,
      0 as distance
    from street s
    cross join lateral (
      select a.address_id
      from core.access_point a
      where a.region_code = s.region_code
        and a.street_id = s.street_id
        and a.geom is not null
      order by a.number, a.exponent nulls first, a.address_id
      limit 1
    ) n
  ),
  ranked as (
    select
      f.*,
      min(f.rank) over (partition by f.region_code, f.street_id) as best,
      row_number() over (partition by f.region_code, f.street_id order by f.rank, f.distance, f.exponent collate "C" nulls first, f.address_id) as place
    from found f
  )
  select
    k.region_code,
    k.address_id,
    s.belfiore,
    s.comune_located,
    s.score,
    k.rank,
    k.distance,
    case when k.rank <= 1 then 'number' when k.rank <= 5 then 'number_without_exponent' when k.rank <= 7 then 'nearest_number' else 'street' end
  from ranked k
  join street s on s.region_code = k.region_code and s.street_id = k.street_id
  where (k.rank <= 5 or (k.best >= 6 and (k.rank <= 7 or k.best = 9)))
    -- Unless the reading names exactly one comune, each street returns only its best address, so that addresses in several comuni appear.
    and (k.place = 1 or (jsonb_typeof(p_reading -> 'comuni') = 'array' and jsonb_array_length(p_reading -> 'comuni') = 1));
end
$$;
comment on function api.geocode_numbers(jsonb, int4, bool) is 'Access points that may match a reading of a query. Rank 0 is the number or kilometre position in the query (or an access point without a number, if the query asks for one), rank 1 the end of a range, and ranks 2–5 the number with a different exponent or colour. Rank 6 is the next higher or lower number on the same side of the street, or the nearest kilometre position. Rank 7 is an exponent with the same beginning, or the nearest number of the other series (red or black). Rank 9 is the street';

create or replace function api.has_addresses(p_comuni text[]) returns bool
language plpgsql stable as $$
begin
  return exists (
    select
    from core.street_name n
    where n.belfiore = any (p_comuni)
      and n.located > 0
  );
end
$$;
comment on function api.has_addresses(text[]) is 'True if one of these comuni (cadastral codes) has a loaded address with a point';

create or replace function api.geocode_search(p_query jsonb, p_limit int4) returns jsonb
language plpgsql stable
-- JIT is off, because compiling the plans would take about a hundred times as long as running the plans. Generic plans are used, because planning the JSON of
-- each address takes longer than execution.
set jit to off
set plan_cache_mode to force_generic_plan
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  -- The search stops when the best score reaches this value. Further readings and fuzzy attempts are then skipped.
  good_enough constant numeric := 0.85;
  -- Maximum number of readings, the same as in parse-query.ts. Further readings are ignored.
  most_readings constant int4 := 6;
  -- Time limit of a search, which usually takes milliseconds. After this time, the search returns the results found so far.
  budget constant interval := '1 second';
  v_until timestamptz := clock_timestamp() + budget;
  v_reading jsonb;
  v_ordinal int4;
  v_fuzzy bool;
  v_pass jsonb;
  v_best numeric := 0;
  v_found jsonb := '[]'::jsonb;
begin
  <<readings>>
  for v_reading, v_ordinal in
    select r.value, r.ordinality::int4
    from jsonb_array_elements(p_query -> 'readings') with ordinality as r (value, ordinality)
    where r.ordinality <= most_readings
    order by r.ordinality
  loop
    -- A query that is only the name of a comune without loaded addresses is not searched as a street.
    continue when v_reading ? 'called' and not api.has_addresses(array(select jsonb_array_elements_text(v_reading -> 'called')));
    foreach v_fuzzy in array array[false, true] loop
      exit readings when clock_timestamp() > v_until;
      -- A reading marked as whole has no fuzzy attempt, because some of its words may name a comune. Such a word must not be corrected to a word of a street
      -- name.
      continue when v_fuzzy and (v_reading ->> 'whole')::bool;
      select coalesce(jsonb_agg(to_jsonb(n) || jsonb_build_object('reading', v_ordinal)), '[]'::jsonb), greatest(v_best, max(n.street_score))
      into v_pass, v_best
      from api.geocode_numbers(v_reading, p_limit, v_fuzzy) n;
      v_found := v_found || v_pass;
      exit readings when v_best >= good_enough;
    end loop;
  end loop;
  return (
    with judged as (
      select
        x.*,
        -- The match type lowers the score only slightly, so that a house number rarely moves a street with a different type or place before the named street.
        round(
          x.street_score * case x.match_type when 'number' then 1 when 'number_without_exponent' then 0.99 when 'nearest_number' then 0.98 else 0.97 end,
          4
        ) as score
      from jsonb_to_recordset(v_found) as x (
        region_code int2, address_id int8, belfiore text, comune_located int4, street_score numeric, rank int4, distance int4, match_type text, reading int4
      )
      -- Leaves out results with a street score below 60 % of the best street score.
      where x.street_score >= v_best * 0.6
    ),
    hit as (
      select distinct on (j.region_code, j.address_id)
        j.*
      from judged j
      order by j.region_code, j.address_id, j.score desc, j.reading, j.rank
    ),
    sorted as (
      select
        h.*,
        row_number() over (
          order by h.score desc, h.reading, h.comune_located desc, h.belfiore collate "C", h.rank, h.distance, h.address_id
        ) as place
      from hit h
    )
    select coalesce(
      jsonb_agg(
        api.address_json(s.region_code, s.address_id, null::core.parcel) || jsonb_build_object('match_type', s.match_type, 'score', trim_scale(s.score))
        order by s.place
      ),
      '[]'::jsonb
    )
    from sorted s
    where s.place <= p_limit
  );
end
$$;
comment on function api.geocode_search(jsonb, int4) is 'Addresses for a query that parse-query.ts parsed ({"readings": […]}), at most p_limit, best first. Addresses with equal scores have a fixed order. Each address has match_type, and a score from 0 to 1. The search stops after six readings, at the time limit, or at a score that is good enough';
