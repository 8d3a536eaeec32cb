-- purpose: checks that the cadastral map is consistent
-- reads: layer.cadastral_parcel, layer.cadastral_sheet
-- writes: none
-- grain: one row per violation
-- crs: EPSG:4326

-- check: parcel_reference_repeated
-- level: error
-- expects: each reference names only one parcel of a file, including members reused from an earlier release
-- Reused members were compared with each other before. A reference begins with the code of its comune, so only comuni in the read members are compared.
select
  p.reference,
  count(*) as parcels
from cadastral_parcel p
join member m using (member_id)
where hashtextextended(p.reference, 0) in (
  select hashtextextended(reference, 0)
  from cadastral_parcel
  where belfiore in (
    select n.belfiore
    from cadastral_parcel n
    join member r using (member_id)
    where r.is_read
  )
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
  p.sheet_reference,
  p.parcels
from (
  select
    left(reference, 11) as sheet_reference,
    count(*) as parcels
  from cadastral_parcel
  group by 1
) p
where not exists (
  select
  from cadastral_sheet s
  where s.reference = p.sheet_reference
);

-- check: parcel_of_another_comune
-- level: warn
-- expects: the file name and ADMINISTRATIVEUNIT name the same comune as the reference of the parcel
select
  belfiore,
  administrative_unit,
  file_belfiore,
  count(*) as parcels
from cadastral_parcel
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
