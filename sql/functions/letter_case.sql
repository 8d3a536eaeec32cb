-- purpose: upper and lower case independent of the locale of the database
-- reads: none
-- writes: core.upper_case, core.lower_case, core.title_case
-- grain: one call per text
-- crs: none

-- In a Turkish database upper('i') is İ, and in locale C upper('à') is à. These functions give the same result everywhere.
-- The functions convert letters of ASCII, Latin-1 and Latin Extended-A, and the Romanian ș and ț. Other letters are not changed. The functions have no "strict"
-- and no search path, so PostgreSQL inlines them.
create or replace function core.upper_case(p_text text) returns text
language sql immutable parallel safe as $$
  select upper(
    translate(
      p_text,
      'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįĳĵķĺļľŀłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷźżžșț',
      'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞŸĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮĲĴĶĹĻĽĿŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŹŻŽȘȚ'
    ) collate "C"
  )
$$;
comment on function core.upper_case(text) is 'Converts a text to upper case, independent of the locale of the database';

create or replace function core.lower_case(p_text text) returns text
language sql immutable parallel safe as $$
  select lower(
    translate(
      p_text,
      'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞŸĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮĲĴĶĹĻĽĿŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŹŻŽȘȚ',
      'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįĳĵķĺļľŀłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷźżžșț'
    ) collate "C"
  )
$$;
comment on function core.lower_case(text) is 'Converts a text to lower case, independent of the locale of the database';

create or replace function core.title_case(p_text text) returns text
language sql immutable parallel safe as $$
  select string_agg(core.upper_case(left(w.part[1], 1)) || core.lower_case(substr(w.part[1], 2)), '' order by w.place)
  from regexp_matches(p_text, '[^- ''`./()]+|[- ''`./()]+', 'g') with ordinality as w (part, place)
$$;
comment on function core.title_case(text) is 'Converts a text to lower case with a capital at the start of each word, independent of the locale of the database';
