-- purpose: checks an ANNCSU release
-- reads: layer.odonimo, layer.odonimo_indir, layer.accesso
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: accesso_street_known
-- level: error
-- expects: every access belongs to a street of the same comune
select
  a.progressivo_accesso,
  a.progressivo_nazionale,
  a.belfiore
from accesso as a
join member as m on m.member_id = a.member_id
left join (
  select street.*, home.file_id
  from odonimo_indir as street
  join member as home on home.member_id = street.member_id
) as i on i.progressivo_nazionale = a.progressivo_nazionale and i.file_id = m.file_id
where i.belfiore is distinct from a.belfiore;

-- check: total_accesses_agree
-- level: warn
-- expects: each street has as many accesses in a file as STRAD states, if the release has both INDIR and STRAD
select distinct
  o.progressivo_nazionale,
  o.total_accesses,
  coalesce(a.accesses, 0) as accesses
from odonimo as o
left join (
  select
    m.file_id,
    accesso.progressivo_nazionale,
    count(*) as accesses
  from accesso
  join member as m using (member_id)
  group by m.file_id, accesso.progressivo_nazionale
) as a on a.progressivo_nazionale = o.progressivo_nazionale
where exists (select from accesso)
  and coalesce(a.accesses, 0) <> o.total_accesses;

-- check: coordinates_not_swapped
-- level: warn
-- expects: COORD_X_COMUNE is the longitude and COORD_Y_COMUNE is the latitude; otherwise the address is kept without a point
select
  file_id,
  belfiore,
  count(*) as swapped
from accesso
join member using (member_id)
where coordinate_flag = 'swapped'
group by file_id, belfiore;

-- check: coordinates_believable
-- level: warn
-- expects: in each comune of a file, at most a tenth of the published points is zero, swapped, projected or outside Italy
select
  file_id,
  belfiore,
  count(*) filter (where coordinate_flag in ('zero', 'swapped', 'projected', 'outside_italy')) as bad,
  count(*) as published
from accesso
join member using (member_id)
where coordinate_flag <> 'none'
group by file_id, belfiore
having count(*) filter (where coordinate_flag in ('zero', 'swapped', 'projected', 'outside_italy')) > 0.1 * count(*);
