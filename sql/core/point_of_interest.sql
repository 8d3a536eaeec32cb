-- purpose: the locations of the region's schools, pharmacies, fuel stations and places of culture
-- version: 3
-- reads: layer.school, layer.pharmacy, layer.fuel_station, layer.cultural_place, layer.comune_code, layer.boundary, layer.odonimo, layer.odonimo_indir, core.comune_register, core.comune_name, core.street, core.access_point, core.parcel
-- writes: core.point_of_interest
-- incremental: content, from the outline of the parcels
-- grain: one row per point whose comune is in the region, and per point whose region is unknown
-- crs: EPSG:4326; distances are geodesic, in metres

-- All points of the current files, except closed pharmacies. A school may be in the lists of several school years.
create table listed as
select
  x.category || ':' || x.code as id,
  x.*,
  m.rank
from (
  select
    'school' as category,
    school_id as code,
    name,
    type as categories,
    null as class,
    null as catalog_code,
    address,
    comune as locality,
    comune_key,
    province,
    belfiore,
    null as istat_code,
    region_code as stated_region,
    null::float8 as lon,
    null::float8 as lat,
    street_types,
    street_words,
    number,
    exponent,
    colour,
    regions_reached,
    school_year as edition,
    release_id,
    member_id,
    position
  from school
  union all
  select
    'pharmacy',
    pharmacy_id,
    name,
    type,
    null,
    null,
    address,
    comune,
    comune_key,
    null,
    null,
    istat_code,
    core.region_of_istat_code(istat_code),
    lon,
    lat,
    street_types,
    street_words,
    number,
    exponent,
    colour,
    regions_reached,
    '',
    release_id,
    member_id,
    position
  from pharmacy
  where open
  union all
  select
    'fuel',
    station_id,
    coalesce(name, brand, station_id),
    type,
    null,
    null,
    address,
    comune,
    comune_key,
    province,
    null,
    null,
    region_code,
    lon,
    lat,
    street_types,
    street_words,
    number,
    exponent,
    colour,
    regions_reached,
    '',
    release_id,
    member_id,
    position
  from fuel_station
  union all
  select
    'culture',
    place_id,
    name,
    type,
    class,
    catalog_code,
    address,
    comune,
    comune_key,
    province,
    null,
    null,
    region_code,
    lon,
    lat,
    street_types,
    street_words,
    number,
    exponent,
    colour,
    regions_reached,
    '',
    release_id,
    member_id,
    position
  from cultural_place
) x
join current_member m using (member_id);

analyze listed;

-- One row per point. If several lists contain a school, the list of the newest school year is used.
create table published_point as
select distinct on (t.id collate "C")
  t.*,
  -- Car plate code of the province, or else its name. The two plate codes that changed are replaced by their current form.
  case
    when t.province is null then null
    when t.province ~ '^[A-Za-z]{2}$' then
      case core.upper_case(t.province)
        when 'FO' then 'FC'
        when 'PS' then 'PU'
        else core.upper_case(t.province)
      end
    else core.comune_key(t.province)
  end as province_key
from listed t
order by t.id collate "C", t.edition collate "C" desc, t.rank, t.position;

analyze published_point;

-- Current and former provinces of each comune, with car plate codes. The comune's codes of other years identify the former provinces.
create table plate as
select distinct
  c.belfiore,
  c.region_code,
  p.sigla,
  p.region_code as plate_region_code
from comune_code c
cross join lateral (
  values (c.istat_code), (c.province_code || '000'), (c.province_historic_code || '000'), (c.code_107_2017), (c.code_110), (c.code_107), (c.code_103)
) as n (code)
join (
  select province_code as code, sigla, region_code from comune_code
  union
  select province_historic_code, sigla, region_code from comune_code
) p on p.code = left(n.code, 3)
where exists (select from published_point);

-- Provinces by car plate code and by name.
create table province_named as
select
  k.key,
  c.sigla,
  c.region_code
from (
  select distinct
    province_name,
    sigla,
    region_code
  from comune_code
  where exists (select from published_point)
) c
cross join lateral (
  select c.sigla as key
  union
  select core.comune_key(n.name)
  from unnest(string_to_array(c.province_name, '/')) as n (name)
) k;

analyze province_named;

-- Comuni that moved to a different region, for the search by name. The former car plate code still identifies such a comune.
create table moved as
select
  c.region_code,
  p.sigla,
  core.comune_key(c.name) as key
from comune_code c
join plate p on p.belfiore = c.belfiore
where p.plate_region_code <> c.region_code;

-- Region of each ISTAT code, current or former, that belongs to only one region.
create table code_region as
select
  n.code,
  min(c.region_code) as region_code
from comune_code c
cross join lateral (values (c.istat_code), (c.code_107_2017), (c.code_110), (c.code_107), (c.code_103)) as n (code)
where n.code is not null
  and exists (select from published_point)
group by n.code
having count(distinct c.region_code) = 1;

-- Region of each name of an Italian comune that occurs in only one region, for points without a known province. Such a point may be in any region.
create table name_anywhere as
select
  core.comune_key(c.name) as key,
  min(c.region_code) as region_code
from comune_code c
where exists (
  select
  from published_point p
  where p.comune_key is not null
    and p.istat_code is null
    and p.stated_region is null
    and not exists (select from province_named n where n.key = p.province_key)
)
group by core.comune_key(c.name)
having count(distinct c.region_code) = 1;

-- The region of a point is found by the code of the comune, the name of a comune that moved, the stated region, the province, or the name of the comune. The
-- first of these with a known region is used. A point without a known region is kept in every region. If a comune moved to a different region but its parcels
-- are still in the files of the former region, the comune's points are also kept in the former region.
create table kept as
with comune as (
  select
    c.belfiore,
    core.comune_key(c.name) as key
  from comune_code c
  cross join region g
  where c.region_code <> g.code
    and c.belfiore in (select belfiore from comune_register)
    and c.belfiore in (select belfiore from parcel)
)
select
  p.id
from published_point p
join comune c on c.belfiore = p.belfiore
union
select
  p.id
from published_point p
join comune_register r on r.old_istat_code = p.istat_code
join comune c on c.belfiore = r.belfiore
union
select
  p.id
from published_point p
join comune c on c.key = p.comune_key
join province_named q on q.key = p.province_key
join plate l on l.belfiore = c.belfiore and l.sigla = q.sigla
where p.belfiore is null
  and p.istat_code is null;

create table mine as
select
  x.id,
  x.province_key,
  x.comune_key
from (
  select
    p.id,
    p.province_key,
    p.comune_key,
    coalesce(s.region_code, f.region_code, m.region_code, p.stated_region, n.region_code, a.region_code) as region_code,
    k.id is not null as is_kept
  from published_point p
  left join comune_code s on s.belfiore = p.belfiore
  left join code_region f on f.code = p.istat_code
  left join moved m on m.key = p.comune_key and m.sigla = p.province_key and p.belfiore is null and p.istat_code is null
  left join (
    select
      key,
      min(region_code) as region_code
    from province_named
    group by key
    having count(distinct region_code) = 1
  ) n on n.key = p.province_key
  left join name_anywhere a on a.key = p.comune_key
  left join kept k on k.id = p.id
) x
cross join region g
where coalesce(x.region_code, g.code) = g.code
  or x.is_kept;

analyze mine;

-- Possible comuni of a point, by code or else by name. Current names in the stated province come first, or in any province if the stated province is unknown.
-- Former names come second. Current names in other provinces of the region come last.
create table candidate as
with by_code as (
  select
    p.id,
    n.belfiore
  from published_point p
  join mine using (id)
  join (select distinct belfiore from comune_name where kind = 'name') n on n.belfiore = p.belfiore
  union
  select
    p.id,
    r.belfiore
  from published_point p
  join mine using (id)
  join comune_register r on r.old_istat_code = p.istat_code
),
by_name as (
  select
    m.id,
    n.belfiore,
    min(
      case
        when n.kind = 'former' then 2
        when l.belfiore is not null or not exists (select from province_named q where q.key = m.province_key) then 1
        else 3
      end
    ) as tier
  from mine m
  join comune_name n on n.key = m.comune_key and n.kind in ('name', 'second', 'former')
  left join province_named q on q.key = m.province_key
  left join plate l on l.belfiore = n.belfiore and l.sigla = q.sigla
  where m.id not in (select id from by_code)
  group by m.id, n.belfiore
)
select
  id,
  belfiore
from by_code
union all
select
  id,
  belfiore
from (
  select
    *,
    min(tier) over (partition by id) as best
  from by_name
) ranked
where tier = best;

analyze candidate;

create table reported as
select
  p.id,
  case
    when p.lon is null or p.lat is null then null
    when p.lon = 0 or p.lat = 0 then 'zero'
    when p.lon between 6 and 19 and p.lat between 35 and 47.5 then 'in Italy'
    when p.lat between 6 and 19 and p.lon between 35 and 47.5 then 'swapped'
    else 'elsewhere'
  end as quality,
  st_setsrid(st_makepoint(p.lon, p.lat), 4326)::geometry(point, 4326) as geom
from published_point p
join mine using (id);

-- A boundary of an earlier year has the ISTAT code of that year, so former codes are matched too. If several editions have a comune, the newest edition is
-- used.
create table drawn as
select
  b.belfiore,
  b.member_id,
  b.position
from (
  select
    coalesce(meaning.belfiore, boundary.belfiore) as belfiore,
    boundary.member_id,
    boundary.position,
    rank() over (partition by coalesce(meaning.belfiore, boundary.belfiore) order by file.rank) as edition
  from boundary
  join current_member as file using (member_id)
  left join (
    select
      old_istat_code as code,
      belfiore
    from comune_register
    where not divided
    union
    select
      istat_code,
      belfiore
    from comune_code
  ) as meaning on meaning.code = boundary.code
  where boundary.kind = 'comune'
    and coalesce(meaning.belfiore, boundary.belfiore) in (select belfiore from candidate)
) b
where b.edition = 1;

-- Points whose coordinates are in a possible comune or near it, at most 200 m from the boundary. In Italy, a degree of latitude is at least 110.9 km long, and
-- a degree of longitude is 111.3 km times the cosine of the latitude. The cosine is computed slightly further north, so that the box is never too small.
create table inside_comune as
select distinct on (id)
  id,
  belfiore
from (
  select
    r.id,
    c.belfiore,
    case
      when st_covers(b.geom, r.geom) then 0
      else round(st_distance(b.geom::geography, r.geom::geography)::numeric, 2)
    end as distance_m,
    200 as most_m
  from reported r
  join candidate c using (id)
  join drawn d on d.belfiore = c.belfiore
  join boundary b on b.member_id = d.member_id and b.position = d.position
  where r.quality = 'in Italy'
    and st_expand(r.geom, 200 / (111320 * cos(radians(st_y(r.geom) + 0.1))), 200 / 110900.0) && b.geom
  union all
  -- If a comune has no boundary, distances are measured to the comune's parcels. The limit is then 15 m.
  select
    r.id,
    c.belfiore,
    round(st_distance(p.geom::geography, r.geom::geography)::numeric, 2),
    15
  from reported r
  join candidate c using (id)
  join parcel p
    on p.geom && st_expand(r.geom, 15 / (111320 * cos(radians(st_y(r.geom) + 0.1))), 15 / 110900.0)
    and p.belfiore = c.belfiore
  where r.quality = 'in Italy'
    and not exists (select from drawn d where d.belfiore = c.belfiore)
) near
where distance_m <= most_m
order by id, distance_m, belfiore collate "C";

-- For each comune that points name: whether it has an outline to compare with coordinates, and whether it has addresses.
create table candidate_comune as
select
  c.belfiore,
  exists (select from drawn d where d.belfiore = c.belfiore) or p.belfiore is not null as has_shape,
  a.belfiore is not null as has_addresses
from (select distinct belfiore from candidate) c
left join (select distinct belfiore from parcel) p using (belfiore)
left join (select distinct belfiore from access_point) a using (belfiore);

-- Addresses of the points that cannot be located by coordinates.
create table asked as
select
  p.id,
  c.belfiore,
  p.street_types,
  p.street_words,
  (select w.word from unnest(p.street_words) as w (word) order by length(w.word) desc, w.word collate "C" limit 1) as longest_word,
  p.number,
  p.exponent,
  p.colour
from published_point p
join mine using (id)
join candidate c using (id)
where p.number is not null
  and cardinality(p.street_words) > 0
  and not exists (select from inside_comune i where i.id = p.id);

analyze asked;

create table street_form as
select
  s.street_id,
  s.belfiore,
  n.street_type,
  array(select w.word from unnest(string_to_array(n.tokens, ' ')) as w (word) group by w.word order by w.word collate "C") as words
from street s
join (
  select member_id, position, search_types, search_tokens from odonimo
  union all
  select member_id, position, search_types, search_tokens from odonimo_indir
) o on o.member_id = s.member_id and o.position = s.position
cross join lateral unnest(o.search_types, o.search_tokens) as n (street_type, tokens)
where s.belfiore in (select belfiore from asked);

create table street_word as
select
  f.street_id,
  f.belfiore,
  f.street_type,
  f.words,
  w.word
from street_form f
cross join lateral unnest(f.words) as w (word);

analyze street_word;

-- Finds streets with exactly the words of the address. If there is no such street, finds streets with additional words, such as Via Giuseppe Garibaldi for VIA
-- GARIBALDI.
create table asked_street as
select distinct
  id,
  street_id
from (
  select
    a.id,
    f.street_id,
    f.words = a.street_words as is_whole,
    bool_or(f.words = a.street_words) over (partition by a.id) as any_whole
  from asked a
  join street_word f on f.belfiore = a.belfiore and f.word = a.longest_word
  where f.words @> a.street_words
    and (cardinality(a.street_types) = 0 or f.street_type = any (a.street_types))
) found
where is_whole or not any_whole;

create table found_access as
select
  s.id,
  min(x.address_id) as address_id,
  count(distinct x.address_id) as accesses
from asked_street s
join (select distinct id, number, exponent, colour from asked) a using (id)
join access_point x on x.street_id = s.street_id and x.number = a.number
where x.geom is not null
  and case
    -- In a comune where numbers have colours, 12R is the red number 12. In other comuni, R is an exponent.
    when a.exponent in ('R', 'N') and x.exponent is null then x.colour = case a.exponent when 'R' then 'ROSSO' else 'NERO' end
    else x.exponent is not distinct from a.exponent and (x.colour = a.colour or (a.colour is null and x.colour is distinct from 'ROSSO'))
  end
group by s.id;

create table point_of_interest as
select
  g.code as region_code,
  p.id,
  p.category,
  p.code,
  p.name,
  p.categories,
  p.class,
  p.catalog_code,
  p.address,
  p.locality,
  p.province,
  coalesce(i.belfiore, x.belfiore, only_one.belfiore) as belfiore,
  case
    when i.id is not null then 'coordinates'
    when x.address_id is not null then 'address'
  end as placed_by,
  x.address_id,
  case
    when i.id is not null or x.address_id is not null then null
    when only_one.candidates is null then 'not_found'
    when r.quality in ('zero', 'swapped', 'elsewhere') then r.quality
    when r.quality is not null and only_one.has_shape then 'elsewhere'
    when not only_one.has_shape and not only_one.has_addresses then 'comune_not_loaded'
    when p.number is null or cardinality(p.street_words) = 0 then 'no_number'
    when f.accesses > 1 then 'ambiguous'
    else 'not_found'
  end as reason,
  case when i.id is not null then r.geom else x.geom end::geometry(point, 4326) as geom,
  p.regions_reached,
  p.release_id,
  p.member_id,
  p.position
from published_point p
join mine using (id)
cross join region g
join reported r using (id)
left join inside_comune i using (id)
left join found_access f using (id)
left join access_point x on x.address_id = f.address_id and f.accesses = 1
left join (
  select
    id,
    count(*) as candidates,
    case when count(*) = 1 then min(belfiore) end as belfiore,
    bool_or(has_shape) as has_shape,
    bool_or(has_addresses) as has_addresses
  from candidate
  join candidate_comune using (belfiore)
  group by id
) only_one using (id)
order by p.id collate "C";

alter table point_of_interest add primary key (region_code, id);
alter table point_of_interest alter column category set not null;
alter table point_of_interest alter column code set not null;
alter table point_of_interest alter column name set not null;
alter table point_of_interest alter column regions_reached set not null;
alter table point_of_interest alter column release_id set not null;
alter table point_of_interest alter column member_id set not null;
alter table point_of_interest alter column position set not null;
