-- purpose: step of an attribution: the lists that contain the parcels' points, and the address archive that located some of the points
-- reads: core.point_of_interest, core.access_point
-- writes: none
-- grain: one row per key, source and vintage
-- crs: none

-- Before this step, the attribution file creates the view `shown_point` (fid, id) with the points of a section.
with used as (
  select
    s.fid,
    p.category || case when p.placed_by = 'address' then '+' else '' end as kind,
    case p.category
      when 'school' then 'mim_schools'
      when 'pharmacy' then 'salute_pharmacies'
      when 'fuel' then 'mimit_fuel'
      else 'mic_places'
    end as source_id,
    m.vintage
  from shown_point s
  join point_of_interest p on p.id = s.id
  join current_member m on m.member_id = p.member_id
  union
  select
    s.fid,
    p.category || '+',
    'anncsu_addresses',
    m.vintage
  from shown_point s
  join point_of_interest p on p.id = s.id
  join access_point a on a.address_id = p.address_id
  join current_member m on m.member_id = a.member_id
),
of_parcel as (
  select
    fid,
    string_agg(distinct kind collate "C", ' ' order by kind collate "C") as key,
    array_agg(distinct source_id || ' ' || vintage) as cited
  from used
  group by fid
),
of_most as (
  select
    key,
    mode() within group (order by cited) as cited
  from of_parcel
  group by key
),
named as (
  select
    key,
    cited
  from of_most
  union
  -- A parcel gets a separate key if the vintages of its points differ from those of most parcels with the same key.
  select
    p.key || ' ' || p.fid,
    p.cited
  from of_parcel p
  join of_most o on o.key = p.key
  where p.cited <> o.cited
)
select
  n.key,
  split_part(c.cited, ' ', 1) as source_id,
  split_part(c.cited, ' ', 2) as vintage
from named n
cross join lateral unnest(n.cited) as c (cited);
