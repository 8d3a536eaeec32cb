-- purpose: the words of the region's street names, by frequency
-- version: 2
-- reads: layer.odonimo, layer.odonimo_indir, core.street
-- writes: core.token
-- grain: one row per distinct word
-- crs: none

create table token as
with mine as (
  select
    g.code as region_code,
    unnest(n.search_tokens) as tokens
  from street s
  cross join region g
  join (
    select member_id, position, search_tokens from odonimo
    union all
    select member_id, position, search_tokens from odonimo_indir
  ) n on n.member_id = s.member_id and n.position = s.position
),
total as (
  select count(*) as names from mine
),
counted as (
  select
    m.region_code,
    w.word as text,
    count(*)::int4 as df
  from mine m
  -- A word that occurs twice in a name counts once.
  cross join lateral (select distinct word from unnest(string_to_array(m.tokens, ' ')) as word) w
  group by m.region_code, w.word
)
select
  region_code,
  (region_code * 10000000 + row_number() over (order by df desc, text collate "C"))::int4 as id,
  text,
  df,
  round(ln(1 + (select names from total)::float8 / df)::numeric, 4)::float8 as weight
from counted
order by id;

alter table token add primary key (region_code, id);
alter table token alter column text set not null;
alter table token alter column df set not null;
alter table token alter column weight set not null;
-- serves: lookup of a typed word, and of the words of a name when ids are assigned
create index on token (text);
-- serves: correction of a mistyped word
create index on token using gin (text gin_trgm_ops);
