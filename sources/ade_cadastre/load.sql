-- purpose: repairs the geometries of parcels and sheets, and loads each reference once per file
-- reads: staging.raw_parcel, staging.raw_sheet
-- writes: layer.cadastral_parcel, layer.cadastral_sheet, layer.cadastral_coverage, duplicate, entangled, reject
-- grain: one row per parcel, one row per sheet, one row per document, sheet and comune that the document states for the sheet's parcels
-- crs: RDN2008 (EPSG:6706) in, EPSG:4326 out; PROJ treats them as identical (accuracy 1 m), so only the SRID changes

-- Steps 1 to 3 collect the few rows that need a change. Step 4 writes each row once.

-- 1. Repair invalid geometries (15 in a million). Sort the rings, because the order of rings depends on the version of GEOS.
create unlogged table suspect as
select
  'parcel' as layer,
  p.member_id,
  p.position,
  st_normalize(st_multi(st_collectionextract(st_makevalid(p.geom), 3))) as repaired
from raw_parcel p
where not st_isvalid(p.geom)
union all
select
  'sheet',
  s.member_id,
  s.position,
  st_normalize(st_multi(st_collectionextract(st_makevalid(s.geom), 3)))
from raw_sheet s
where not st_isvalid(s.geom);

-- 2. Reject the pseudo-comune A000 and empty geometries.
create unlogged table refused as
select
  u.layer,
  u.member_id,
  u.position,
  'geometry_empty' as code,
  'expected a polygon with an area, found ' || coalesce(st_isvalidreason(r.geom), 'none') as message,
  r.reference,
  r.geom
from suspect u
join (
  select 'parcel' as layer, member_id, position, reference, geom from raw_parcel
  union all
  select 'sheet', member_id, position, reference, geom from raw_sheet
) r using (layer, member_id, position)
where st_isempty(u.repaired)
  and not starts_with(r.reference, 'A000')
union all
select
  'parcel',
  p.member_id,
  p.position,
  'comune_unknown',
  'expected the cadastral code of a comune, found ' || left(p.reference, 4),
  p.reference,
  p.geom
from raw_parcel p
where starts_with(p.reference, 'A000')
union all
select
  'sheet',
  s.member_id,
  s.position,
  'comune_unknown',
  'expected the cadastral code of a comune, found ' || left(s.reference, 4),
  s.reference,
  s.geom
from raw_sheet s
where starts_with(s.reference, 'A000');

-- 3. Find repeated references. References are grouped by hash, because grouping by int8 takes half as long as grouping by text. The few rows with equal
-- hashes are compared as text.
create unlogged table repeated as
select
  'parcel' as layer,
  hashtextextended(reference, 0) as hash
from raw_parcel
group by hashtextextended(reference, 0)
having count(*) > 1
union all
select
  'sheet',
  hashtextextended(reference, 0)
from raw_sheet
group by hashtextextended(reference, 0)
having count(*) > 1;

-- If several rows of a file have the same reference, keep the first row, in the order of members (by path) and positions.
create unlogged table surplus as
select
  n.layer,
  n.member_id,
  n.position,
  n.reference,
  n.geom,
  st_orderingequals(n.geom, n.first_geom) as same
from (
  select
    r.*,
    row_number() over w as nth,
    first_value(r.geom) over w as first_geom
  from (
    select 'parcel' as layer, m.file_id, p.member_id, p.position, p.reference, p.geom
    from raw_parcel p
    join member m using (member_id)
    where hashtextextended(p.reference, 0) in (select hash from repeated where layer = 'parcel')
    union all
    select 'sheet', m.file_id, s.member_id, s.position, s.reference, s.geom
    from raw_sheet s
    join member m using (member_id)
    where hashtextextended(s.reference, 0) in (select hash from repeated where layer = 'sheet')
  ) r
  where not exists (
    select
    from refused f
    where f.layer = r.layer
      and f.member_id = r.member_id
      and f.position = r.position
  )
  window w as (partition by r.layer, r.file_id, r.reference order by r.member_id, r.position)
) n
where n.nth > 1;

create table duplicate as
select
  member_id,
  position,
  'same_' || layer as code
from surplus
where same;

create table reject as
select
  member_id,
  position,
  code,
  message,
  reference || ' ' || st_asewkt(geom) as raw
from refused
union all
select
  member_id,
  position,
  'reference_conflict',
  'expected one geometry for ' || reference || ', found a different second geometry',
  reference || ' ' || st_asewkt(geom)
from surplus
where not same;

-- Record members that contain a reference of a different member. The choice of the kept row depends on all members with this reference, so these members are
-- reused only together. A reference that is repeated only within one member does not depend on other members.
create table entangled as
select distinct r.member_id
from (
  select
    c.member_id,
    min(c.member_id) over whole <> max(c.member_id) over whole as is_shared
  from (
    select 'parcel' as layer, member_id, hashtextextended(reference, 0) as hash
    from raw_parcel
    where hashtextextended(reference, 0) in (select hash from repeated where layer = 'parcel')
    union all
    select 'sheet', member_id, hashtextextended(reference, 0)
    from raw_sheet
    where hashtextextended(reference, 0) in (select hash from repeated where layer = 'sheet')
  ) c
  window whole as (partition by c.layer, c.hash)
) r
where r.is_shared;

create unlogged table dropped as
select layer, member_id, position from refused
union all
select layer, member_id, position from surplus;

-- 4. Create the layers. The reader rejected contradictions between the reference and the identifiers, so gml_id and the parts of the reference are derived
-- from the reference.
create table cadastral_parcel as
select
  release.release_id,
  p.member_id,
  p.position,
  left(p.reference, 4) as belfiore,
  nullif(substr(p.reference, 5, 1), '_') as section,
  substr(p.reference, 6, 4) as sheet,
  substr(p.reference, 10, 1) as attachment,
  substr(p.reference, 11, 1) as development,
  substr(p.reference, 13) as label,
  p.reference,
  'CadastralParcel.IT.AGE.PLA.' || p.reference as gml_id,
  case
    -- A road or water label is STRADA or ACQUA, with or without a suffix that the office added: a letter, bis, ter, quater, or any text that does not begin
    -- with a letter (STRADA001B, STRADA001/B). Longer words are names of land parcels.
    when core.upper_case(substr(p.reference, 13, 6)) = 'STRADA' and core.lower_case(substr(p.reference, 19)) ~ '^([^a-z].*|[a-z]|bis|ter|quater)?$' then 'road'
    when core.upper_case(substr(p.reference, 13, 5)) = 'ACQUA' and core.lower_case(substr(p.reference, 18)) ~ '^([^a-z].*|[a-z]|bis|ter|quater)?$' then 'water'
    else 'land'
  end as kind,
  u.repaired is not null as made_valid,
  p.administrative_unit,
  p.file_belfiore,
  st_setsrid(coalesce(u.repaired, p.geom), 4326)::geometry(multipolygon, 4326) as geom
from raw_parcel p
cross join release
left join suspect u on u.layer = 'parcel' and u.member_id = p.member_id and u.position = p.position
left join dropped d on d.layer = 'parcel' and d.member_id = p.member_id and d.position = p.position
where d.member_id is null;

-- A refresh reads these few rows instead of all parcels of the file.
create table cadastral_coverage as
select
  release_id,
  member_id,
  min(position) as position,
  belfiore,
  left(reference, 11) as sheet_reference,
  administrative_unit,
  file_belfiore,
  count(*)::int4 as parcels
from cadastral_parcel
group by release_id, member_id, belfiore, left(reference, 11), administrative_unit, file_belfiore;

create table cadastral_sheet as
select
  release.release_id,
  s.member_id,
  s.position,
  left(s.reference, 4) as belfiore,
  nullif(substr(s.reference, 5, 1), '_') as section,
  substr(s.reference, 6, 4) as sheet,
  substr(s.reference, 10, 1) as attachment,
  substr(s.reference, 11, 1) as development,
  s.label,
  s.reference,
  'CadastralZoning.IT.AGE.MAP.' || s.reference as gml_id,
  s.begin_date,
  s.end_date,
  s.scale_denominator,
  u.repaired is not null as made_valid,
  s.administrative_unit,
  s.file_belfiore,
  st_setsrid(coalesce(u.repaired, s.geom), 4326)::geometry(multipolygon, 4326) as geom
from raw_sheet s
cross join release
left join suspect u on u.layer = 'sheet' and u.member_id = s.member_id and u.position = s.position
left join dropped d on d.layer = 'sheet' and d.member_id = s.member_id and d.position = s.position
where d.member_id is null;

drop table suspect, refused, repeated, surplus, dropped;
