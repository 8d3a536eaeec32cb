-- purpose: the cadastre, land register and postal codes that parcels with the same citation key cite
-- cites: ade_cadastre, trento_cadastre, bolzano_cadastre, postal_codes
-- reads: core.parcel, section.postal_code, layer.cadastral_parcel, layer.trento_parcel, layer.bolzano_parcel, layer.trento_boundary, layer.bolzano_comune
-- writes: none
-- incremental: rows of parcels, with vintages of layer.cadastral_parcel, layer.trento_parcel, layer.bolzano_parcel, layer.trento_boundary, layer.bolzano_comune
-- grain: one row per key, source and vintage
-- crs: none

create table fact as
select distinct
  k.place,
  p.document_id,
  z.fid is not null as has_code,
  z.edition,
  k.place || case when z.fid is not null then ' ' || coalesce(z.edition, '') else '' end as key
from parcel p
left join postal_code z on z.fid = p.fid
cross join lateral (select case when p.sheet is null then left(p.reference, -length(p.label) - 1) else p.belfiore end as place) k;

-- citations of the facts
select distinct
  k.key,
  case left(k.place, 6) when 'IT.TN.' then 'trento_cadastre' when 'IT.BZ.' then 'bolzano_cadastre' else 'ade_cadastre' end as source_id,
  m.vintage
from fact k
join current_member m on m.document_id = k.document_id
-- If several current files contain the same document, only files whose parcels were read are cited.
where (select count(*) from current_member o where o.document_id = k.document_id) = 1
  or exists (select from cadastral_parcel n where n.member_id = m.member_id)
  or exists (select from trento_parcel n where n.member_id = m.member_id)
  or exists (select from bolzano_parcel n where n.member_id = m.member_id)
union
select
  key,
  'postal_codes',
  coalesce(edition, '')
from fact
where has_code
union
-- Cites the file with the name of the comune catastale.
select
  k.key,
  r.source_id,
  m.vintage
from fact k
join (
  select 'IT.TN.' || ccat as prefix, 'trento_cadastre' as source_id, member_id from trento_boundary
  union all
  select 'IT.BZ.' || ccat, 'bolzano_cadastre', member_id from bolzano_comune
) r on r.prefix = k.place
join current_member m on m.member_id = r.member_id;
