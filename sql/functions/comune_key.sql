-- purpose: search key of the name of a comune or province
-- reads: none
-- writes: core.comune_key
-- grain: one call per name
-- crs: none

-- Returns the same key as comuneKey in pipelines/address/normalise.ts, which the query parser uses. A test compares both functions. Accents are removed before
-- the name is converted to lower case, because a database in locale C converts only ASCII letters.
create or replace function core.comune_key(p_name text) returns text
language sql immutable parallel safe as $$
  select coalesce(
    string_agg(
      case
        when w.word = any (array[
          'san', 'santo', 'santa', 'sant', 'santi', 'sante', 'santissima', 'santissimo', 'ss', 'sts', 'st', 'sta', 'sankt', 'smo', 'sma', 'ssma', 'ssmo', 's'
        ]) then 'san'
        else w.word
      end,
      ' ' order by w.place
    ) filter (
      where w.word <> all (array[
        'di', 'de', 'del', 'dello', 'della', 'dei', 'degli', 'delle', 'dell', 'd', 'da', 'dal', 'dallo', 'dalla', 'dai', 'dagli', 'dalle', 'dall', 'a', 'al',
        'allo', 'alla', 'ai', 'agli', 'alle', 'all', 'ad', 'in', 'nel', 'nello', 'nella', 'nei', 'negli', 'nelle', 'nell', 'su', 'sul', 'sullo', 'sulla', 'sui',
        'sugli', 'sulle', 'sull', 'con', 'col', 'e', 'ed', 'il', 'lo', 'la', 'i', 'gli', 'le', 'l', 'o', 'der', 'die', 'das', 'des', 'dem', 'den', 'und', 'zu',
        'zum', 'zur', 'du', 'et', 'les'
      ])
    ),
    string_agg(w.word, ' ' order by w.place),
    ''
  )
  from regexp_split_to_table(
    core.lower_case(regexp_replace(normalize(replace(replace(p_name, 'ß', 'ss'), 'ẞ', 'ss'), nfkd), '[\u0300-\u036f]', '', 'g')),
    '[^a-z0-9]+'
  ) with ordinality as w (word, place)
  where w.word <> ''
$$;
comment on function core.comune_key(text) is 'Words of a name in lower case, without accents, articles and prepositions, such as reggio emilia for Reggio nell''Emilia. All forms of the word for saint become one word';
