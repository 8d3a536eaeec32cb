-- purpose: the comuni catastali (C.C.) in each file
-- reads: layer.bolzano_parcel, layer.bolzano_piece, layer.bolzano_comune
-- writes: place
-- grain: one row per layer, file and C.C.
-- crs: none

create table place as
select
  l.layer,
  m.file_id,
  '' as series,
  l.ccat as place,
  null::int2 as region_code,
  null::int2 as likely_region_code,
  null as dated,
  true as named,
  null as name
from (
  select 'bolzano_parcel' as layer, member_id, ccat from bolzano_parcel
  union
  select 'bolzano_piece', member_id, ccat from bolzano_piece
  union
  select 'bolzano_comune', member_id, ccat from bolzano_comune
) l
join member m using (member_id)
group by l.layer, m.file_id, l.ccat;
