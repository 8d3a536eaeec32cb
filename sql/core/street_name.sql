-- purpose: the names of the region's streets as sets of words
-- version: 1
-- reads: layer.odonimo, layer.odonimo_indir, core.street, core.token
-- writes: core.street_name
-- grain: one row per street and name
-- crs: none

create table street_name as
with name as (
  select
    s.progressivo_nazionale as street_id,
    n.ordinal::int2 as ordinal,
    n.kind,
    n.street_type,
    n.tokens
  from (
    select member_id, position, progressivo_nazionale, search_kinds, search_types, search_tokens from odonimo
    union all
    select member_id, position, progressivo_nazionale, search_kinds, search_types, search_tokens from odonimo_indir
  ) s
  join street t on t.member_id = s.member_id and t.position = s.position and t.street_id = s.progressivo_nazionale
  cross join lateral unnest(s.search_kinds, s.search_types, s.search_tokens) with ordinality as n (kind, street_type, tokens, ordinal)
),
coded as (
  select
    w.street_id,
    w.ordinal,
    array_agg(t.id order by t.id) as token_ids,
    round(sum(t.weight::numeric), 4)::float8 as weight
  from (
    select distinct
      street_id,
      ordinal,
      unnest(string_to_array(tokens, ' ')) as word
    from name
  ) w
  join token t on t.text = w.word
  group by w.street_id, w.ordinal
),
comune_size as (
  select
    belfiore,
    sum(located)::int4 as located
  from street
  group by belfiore
)
select
  s.region_code,
  s.street_id,
  n.ordinal,
  s.belfiore,
  n.kind,
  n.street_type,
  c.token_ids,
  c.weight,
  s.locality_key,
  s.located,
  z.located as comune_located
from street s
join name n on n.street_id = s.street_id
join coded c on c.street_id = n.street_id and c.ordinal = n.ordinal
join comune_size z on z.belfiore = s.belfiore
order by s.belfiore, s.street_id, n.ordinal;

alter table street_name add primary key (region_code, street_id, ordinal);
alter table street_name alter column belfiore set not null;
alter table street_name alter column kind set not null;
alter table street_name alter column token_ids set not null;
alter table street_name alter column weight set not null;
alter table street_name alter column located set not null;
alter table street_name alter column comune_located set not null;
-- serves: streets by their words, in all Italy
create index on street_name using gin (token_ids);
-- serves: streets of a comune
create index on street_name (belfiore);
