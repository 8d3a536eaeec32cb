-- purpose: the features from which the section basic of one parcel is built
-- reads: core.parcel, core.comune_register, section.postal_code, layer.cadastral_parcel, layer.trento_parcel, layer.bolzano_parcel, layer.trento_boundary, layer.bolzano_comune, layer.comune_code, layer.comune_postal_code, layer.comune_suppressed, layer.postal_code_area, ledger.file_place
-- writes: none
-- reruns: core.parcel
-- grain: one row per field and source row
-- crs: none

-- step: comune_today.sql

create view evidence as
select
  p.fid,
  'parcel' as field,
  p.reference as value,
  n.release_id,
  n.member_id,
  n.position,
  p.area_m2 as measure,
  'm2' as unit,
  case when p.made_valid then 'published polygon, repaired if invalid' else 'published polygon' end as rule
from parcel p
join current_member m on m.document_id = p.document_id
join (
  select release_id, member_id, position, reference from cadastral_parcel
  union all
  select release_id, member_id, position, reference from trento_parcel
  union all
  select release_id, member_id, position, reference from bolzano_parcel
) n on n.member_id = m.member_id and n.reference = p.reference
union all
select
  p.fid,
  'municipality',
  c.name,
  c.release_id,
  c.member_id,
  c.position,
  null,
  null,
  'comune of the cadastral code'
from parcel p
join comune_code c on c.belfiore = p.belfiore
union all
select
  p.fid,
  'cadastral.comune_catastale',
  c.name,
  c.release_id,
  c.member_id,
  c.position,
  null,
  null,
  'comune catastale in the reference, which determines the comune'
from parcel p
join (
  select 'IT.TN.' || ccat || '.' as start, name, release_id, member_id, position from trento_boundary
  union all
  select 'IT.BZ.' || ccat || '.', coalesce(name, name_other), release_id, member_id, position from bolzano_comune
) c on starts_with(p.reference, c.start)
union all
select
  p.fid,
  'cadastral.postal_code',
  n.cap,
  n.release_id,
  n.member_id,
  n.position,
  null,
  null,
  'postal code of the comune'
from parcel p
join comune_today t on t.belfiore = p.belfiore
join postal_code z on z.fid = p.fid
join comune_postal_code n on n.cap = z.cap and nullif(n.edition, '0000') is not distinct from z.edition
where n.belfiore = t.current_belfiore
  or (n.belfiore is null and exists (select from comune_register r where r.old_istat_code = n.istat_code and r.belfiore = t.current_belfiore))
union all
select
  p.fid,
  'cadastral.postal_code',
  a.cap,
  a.release_id,
  a.member_id,
  a.position,
  null,
  null,
  'area of the postal code that contains the representative point'
from parcel p
join postal_code z on z.fid = p.fid
join postal_code_area a on a.cap = z.cap and nullif(a.edition, '0000') is not distinct from z.edition and st_covers(a.geom, p.point);
