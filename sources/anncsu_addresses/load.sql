-- purpose: loads each street and access of a file once, with the point only if it is plausible
-- reads: staging.raw_access, staging.raw_street
-- writes: layer.odonimo, layer.odonimo_indir, layer.accesso
-- grain: one row per street and one row per access of a file
-- crs: EPSG:6706 degrees become EPSG:4326; PROJ treats the two as identical, so only the SRID changes

-- The streets of INDIR are stored on the rows of their first accesses.
create table indir_street as
select
  member_id,
  position,
  progressivo_nazionale,
  belfiore,
  street[1] as istat_code,
  street[2] as codice_comunale,
  street[3] as odonimo,
  street[4] as localita,
  street[5] as name_1,
  street[6] as name_2,
  null::int4 as total_accesses,
  street[7] as display_name,
  street[8] as display_localita,
  street[9] as localita_key,
  search_kinds,
  search_types,
  search_tokens
from raw_access
where street is not null;

-- Few keys repeat. Repeated keys are found by hash, and only the rows with these keys are sorted.
create table repeated_access as
select
  progressivo_accesso
from raw_access
group by progressivo_accesso
having count(*) > 1;

create table duplicate as
select
  member_id,
  position,
  'access_repeated' as code
from (
  select
    raw.member_id,
    raw.position,
    row_number() over (partition by member.file_id, raw.progressivo_accesso order by raw.member_id, raw.position) as place
  from raw_access as raw
  join member using (member_id)
  join repeated_access using (progressivo_accesso)
  where raw.belfiore <> 'A000'
) as ranked
where place > 1
union all
select
  member_id,
  position,
  'street_repeated' as code
from (
  select
    raw.member_id,
    raw.position,
    row_number() over (partition by member.file_id, raw.progressivo_nazionale order by raw.member_id, raw.position) as place
  from raw_street as raw
  join member using (member_id)
  where raw.belfiore <> 'A000'
) as ranked
where place > 1;

-- The line of a reject is rebuilt from its fields. Trailing zeros of decimals are lost, because the staged numbers do not keep trailing zeros.
create table reject as
select
  raw.member_id,
  raw.position,
  'comune_unknown' as code,
  'CODICE_COMUNE: expected the cadastral code of a comune, found "' || raw.belfiore || '"' as message,
  concat_ws(
    ';',
    raw.belfiore,
    coalesce(street.istat_code, ''),
    raw.progressivo_nazionale::text,
    coalesce(street.codice_comunale, ''),
    coalesce(street.odonimo, ''),
    coalesce(street.localita, ''),
    coalesce(street.name_1, ''),
    coalesce(street.name_2, ''),
    raw.progressivo_accesso::text,
    coalesce(raw.codice_comunale_accesso, ''),
    coalesce(raw.civico::text, ''),
    coalesce(raw.esponente, ''),
    coalesce(raw.specificita, ''),
    coalesce(raw.metrico::text, ''),
    coalesce(raw.progressivo_snc::text, ''),
    coalesce(replace(raw.coord_x::text, '.', ','), ''),
    coalesce(replace(raw.coord_y::text, '.', ','), ''),
    coalesce(replace(raw.quota_m::text, '.', ','), ''),
    coalesce(raw.metodo::text, '')
  ) as raw
from raw_access as raw
left join (
  select distinct on (s.belfiore, s.progressivo_nazionale)
    s.*
  from indir_street as s
  where s.belfiore = 'A000'
  order by s.belfiore, s.progressivo_nazionale, s.member_id, s.position
) as street using (belfiore, progressivo_nazionale)
where raw.belfiore = 'A000'
union all
select
  raw.member_id,
  raw.position,
  'comune_unknown' as code,
  'CODICE_COMUNE: expected the cadastral code of a comune, found "' || raw.belfiore || '"' as message,
  concat_ws(
    ';',
    raw.belfiore,
    coalesce(raw.istat_code, ''),
    raw.progressivo_nazionale::text,
    coalesce(raw.codice_comunale, ''),
    raw.odonimo,
    coalesce(raw.localita, ''),
    coalesce(raw.total_accesses::text, ''),
    coalesce(raw.name_1, ''),
    coalesce(raw.name_2, ''),
    ''
  ) as raw
from raw_street as raw
where raw.belfiore = 'A000';

analyze duplicate;

create table odonimo as
select
  release.release_id,
  raw.member_id,
  raw.position,
  raw.progressivo_nazionale,
  raw.belfiore,
  raw.istat_code,
  raw.codice_comunale,
  raw.odonimo,
  raw.localita,
  raw.name_1,
  raw.name_2,
  raw.total_accesses,
  raw.display_name,
  raw.display_localita,
  raw.localita_key,
  raw.search_kinds,
  raw.search_types,
  raw.search_tokens
from raw_street as raw
cross join release
where raw.belfiore <> 'A000'
  and not exists (select from duplicate as d where d.member_id = raw.member_id and d.position = raw.position and d.code = 'street_repeated');

create table odonimo_indir as
select distinct on (member.file_id, raw.progressivo_nazionale)
  release.release_id,
  raw.*
from indir_street as raw
join member using (member_id)
cross join release
where raw.belfiore <> 'A000'
order by member.file_id, raw.progressivo_nazionale, raw.member_id, raw.position;

create table accesso as
select
  release.release_id,
  raw.member_id,
  raw.position,
  raw.progressivo_accesso,
  raw.progressivo_nazionale,
  raw.belfiore,
  raw.codice_comunale_accesso,
  raw.civico,
  raw.esponente,
  raw.specificita,
  raw.metrico,
  raw.progressivo_snc,
  case
    when raw.coordinate_flag in ('good', 'without_method') then st_setsrid(st_makepoint(raw.coord_x, raw.coord_y), 4326)
  end::geometry(point, 4326) as geom,
  raw.quota_m,
  raw.metodo,
  raw.coordinate_flag
from (
  select
    *,
    case
      when coord_x is null and coord_y is null and metodo is null then 'none'
      when coord_x is null and coord_y is null then 'method_without_coordinates'
      when coord_x is null or coord_y is null then 'incomplete'
      when coord_x = 0 and coord_y = 0 then 'zero'
      when coord_x between 6 and 19 and coord_y between 35 and 47.5 and metodo is null then 'without_method'
      when coord_x between 6 and 19 and coord_y between 35 and 47.5 then 'good'
      when coord_y between 6 and 19 and coord_x between 35 and 47.5 then 'swapped'
      when abs(coord_x) > 180 or abs(coord_y) > 90 then 'projected'
      else 'outside_italy'
    end as coordinate_flag
  from raw_access
) as raw
cross join release
where raw.belfiore <> 'A000'
  and not exists (select from duplicate as d where d.member_id = raw.member_id and d.position = raw.position and d.code = 'access_repeated');

drop table repeated_access;
drop table indir_street;
