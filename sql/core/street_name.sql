-- purpose: the names of the region's streets as sets of words
-- version: 2
-- reads: layer.odonimo, layer.odonimo_indir, core.street, core.token
-- writes: core.street_name
-- grain: one row per street and name
-- crs: none

-- Stores the names in a table, so that the planner can estimate their number. Without the table, the planner expects ten names and searches all streets once
-- per name.
create table named_street as
select
  t.region_code,
  t.street_id,
  n.ordinal::int2 as ordinal,
  t.belfiore,
  n.kind,
  n.street_type,
  n.tokens,
  t.locality_key,
  t.located,
  t.comune_located
from (
  select member_id, position, search_kinds, search_types, search_tokens from odonimo
  union all
  select member_id, position, search_kinds, search_types, search_tokens from odonimo_indir
) s
-- Joins by the record only, because each record belongs to one street.
join (
  select
    *,
    (sum(located) over (partition by belfiore))::int4 as comune_located
  from street
) t on t.member_id = s.member_id and t.position = s.position
cross join lateral unnest(s.search_kinds, s.search_types, s.search_tokens) with ordinality as n (kind, street_type, tokens, ordinal);

analyze named_street;

create table street_name as
with coded as (
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
    from named_street
  ) w
  join token t on t.text = w.word
  group by w.street_id, w.ordinal
),
-- Gives the same number (name_id) to equal names in the region. A street with several spellings of a name counts once.
numbered as (
  select
    n.*,
    c.token_ids,
    c.weight,
    (dense_rank() over (order by c.token_ids, n.street_type, n.locality_key))::int4 as name_id,
    n.located > 0
      and row_number() over (partition by n.street_id, c.token_ids, n.street_type order by n.ordinal) = 1 as counts
  from named_street n
  join coded c on c.street_id = n.street_id and c.ordinal = n.ordinal
)
select
  region_code,
  street_id,
  ordinal,
  belfiore,
  kind,
  street_type,
  token_ids,
  weight,
  locality_key,
  located,
  comune_located,
  name_id,
  -- Position among the streets with the same name. The search returns equal matches in this order.
  case
    when counts then (row_number() over (partition by name_id, counts order by comune_located desc, belfiore collate "C", street_id))::int4
  end as nth
from numbered
order by belfiore, street_id, ordinal;

alter table street_name add primary key (region_code, street_id, ordinal);
alter table street_name alter column belfiore set not null;
alter table street_name alter column kind set not null;
alter table street_name alter column token_ids set not null;
alter table street_name alter column weight set not null;
alter table street_name alter column located set not null;
alter table street_name alter column comune_located set not null;
alter table street_name alter column name_id set not null;
-- serves: streets by their words, in a comune
create index on street_name using gin (token_ids);
-- serves: the distinct names with a word, in all Italy
create index on street_name using gin (token_ids) where nth = 1;
-- serves: the first streets with a name
create index on street_name (name_id, nth) where nth is not null;
-- serves: streets of a comune
create index on street_name (belfiore);
