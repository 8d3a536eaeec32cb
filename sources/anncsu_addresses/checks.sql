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
-- expects: each street has as many accesses as STRAD states, if the release has both INDIR and STRAD
select
  o.progressivo_nazionale,
  o.total_accesses,
  count(a.progressivo_accesso) as accesses
from odonimo as o
left join accesso as a on a.progressivo_nazionale = o.progressivo_nazionale
where exists (select from accesso)
  and o.total_accesses is not null
group by o.progressivo_nazionale, o.total_accesses
having count(a.progressivo_accesso) <> o.total_accesses;

-- check: coordinates_not_swapped
-- level: warn
-- expects: COORD_X_COMUNE is the longitude and COORD_Y_COMUNE is the latitude; otherwise the address is kept without a point
select
  belfiore,
  count(*) as swapped
from accesso
where coordinate_flag = 'swapped'
group by belfiore;

-- check: coordinates_believable
-- level: warn
-- expects: in each comune, at most a tenth of the published points is zero, swapped, projected or outside Italy
select
  belfiore,
  count(*) filter (where coordinate_flag in ('zero', 'swapped', 'projected', 'outside_italy')) as bad,
  count(*) as published
from accesso
where coordinate_flag <> 'none'
group by belfiore
having count(*) filter (where coordinate_flag in ('zero', 'swapped', 'projected', 'outside_italy')) > 0.1 * count(*);
