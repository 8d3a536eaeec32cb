-- purpose: the comuni catastali of the land registers, each with its current comune
-- version: 1
-- reads: layer.trento_boundary, layer.bolzano_comune, layer.comune_code, core.comune_register
-- writes: core.comune_catastale
-- incremental: content
-- grain: one row per comune catastale
-- crs: none

-- Finds the comune by its ISTAT code of any year, or else by its name in either language. If a code belongs to several current comuni, the name selects one of
-- them. Some comuni catastali of Trento belong to comuni of other regions.
create table comune_catastale as
with named as (
  select distinct on (prefix)
    *
  from (
    select
      'IT.TN.' || b.ccat as prefix,
      b.ccat as code,
      b.name,
      b.name_other,
      b.istat_code,
      array[core.comune_key(b.comune_name), core.comune_key(b.comune_name_other)] as comune_keys,
      0 as parcels,
      b.position
    from trento_boundary b
    union all
    select
      'IT.BZ.' || c.ccat,
      c.ccat,
      c.name,
      c.name_other,
      c.istat_code,
      array[core.comune_key(c.comune_name), core.comune_key(c.comune_name_other)],
      c.parcels,
      c.position
    from bolzano_comune c
  ) n
  order by prefix, parcels desc, position
),
key_of_comune as (
  select
    c.belfiore,
    core.comune_key(c.name) as key
  from comune_code c
  union
  select
    c.belfiore,
    core.comune_key(o.name)
  from comune_code c
  cross join lateral unnest(string_to_array(c.name_other, '/')) as o (name)
),
candidate as (
  select
    n.prefix,
    c.belfiore,
    1 as turn
  from named n
  join comune_code c on c.istat_code = n.istat_code
  union
  select
    n.prefix,
    r.belfiore,
    case when r.divided then 2 else 1 end
  from named n
  join comune_register r on r.old_istat_code = n.istat_code
  union
  select
    n.prefix,
    k.belfiore,
    3
  from named n
  join key_of_comune k on k.key = any (n.comune_keys)
),
-- If a comune was divided, the part with the comune's name is chosen. A match only by name is used if exactly one comune has the name.
chosen as (
  select
    c.prefix,
    (array_agg(c.belfiore order by c.turn, c.belfiore collate "C"))[1] as belfiore
  from candidate c
  where c.turn = 1
    or c.turn = 3 and not exists (select from candidate o where o.prefix = c.prefix and o.turn < 3)
      and (select count(distinct o.belfiore) from candidate o where o.prefix = c.prefix) = 1
    or c.turn = 2 and exists (select from candidate o where o.prefix = c.prefix and o.turn = 3 and o.belfiore = c.belfiore)
  group by c.prefix
)
select
  g.code as region_code,
  n.prefix,
  n.code,
  n.name,
  n.name_other,
  c.belfiore
from named n
cross join region g
left join chosen c using (prefix)
order by n.prefix collate "C";

alter table comune_catastale add primary key (region_code, prefix);
alter table comune_catastale alter column code set not null;
-- serves: the comuni catastali of a comune
create index on comune_catastale (belfiore);
