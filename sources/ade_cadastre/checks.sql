-- purpose: checks that the cadastral map is consistent
-- reads: layer.cadastral_parcel, layer.cadastral_sheet, layer.cadastral_coverage
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: parcel_reference_repeated
-- level: error
-- expects: each reference names only one parcel of a file, including members reused from an earlier release
-- Reused members were compared with each other when they were loaded. A reference begins with the reference of its sheet, so only members that share a sheet
-- with a newly read member are compared. The members are an array, because PostgreSQL then looks up their parcels in the index on member_id. References are
-- grouped by hash, as in load.sql.
with compared as materialized (
  select
    array(
      select c.member_id
      from cadastral_coverage c
      where c.sheet_reference in (
        select n.sheet_reference
        from cadastral_coverage n
        join member r using (member_id)
        where r.is_read
      )
    ) as members
)
select
  p.reference,
  count(*) as parcels
from cadastral_parcel p
join member m using (member_id)
where p.member_id = any ((select members from compared)::int4[])
  and hashtextextended(p.reference, 0) in (
    select hashtextextended(reference, 0)
    from cadastral_parcel
    where member_id = any ((select members from compared)::int4[])
    group by 1
    having count(*) > 1
  )
group by m.file_id, p.reference
having count(*) > 1;

-- check: sheet_reference_repeated
-- level: error
-- expects: each reference names only one sheet of a file, including members reused from an earlier release
select
  s.reference,
  count(*) as sheets
from cadastral_sheet s
join member m using (member_id)
group by m.file_id, s.reference
having count(*) > 1;

-- check: parcel_sheet_missing
-- level: warn
-- expects: the sheet of every parcel is in the list of sheets
select
  c.sheet_reference,
  sum(c.parcels) as parcels
from cadastral_coverage c
where not exists (
  select
  from cadastral_sheet s
  where s.reference = c.sheet_reference
)
group by c.sheet_reference;

-- check: parcel_of_another_comune
-- level: warn
-- expects: the file name and ADMINISTRATIVEUNIT name the same comune as the reference of the parcel
select
  belfiore,
  administrative_unit,
  file_belfiore,
  sum(parcels) as parcels
from cadastral_coverage
where administrative_unit is not null
   or file_belfiore is not null
group by belfiore, administrative_unit, file_belfiore;

-- check: sheet_of_another_comune
-- level: warn
-- expects: the file name and ADMINISTRATIVEUNIT name the same comune as the reference of the sheet
select
  belfiore,
  administrative_unit,
  file_belfiore,
  count(*) as sheets
from cadastral_sheet
where administrative_unit is not null
   or file_belfiore is not null
group by belfiore, administrative_unit, file_belfiore;
