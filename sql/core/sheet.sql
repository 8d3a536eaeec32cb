-- purpose: the cadastral sheets of the region
-- version: 2
-- reads: layer.cadastral_sheet
-- writes: core.sheet
-- grain: one row per sheet
-- crs: EPSG:4326

create table sheet as
select distinct on (s.reference collate "C")
  g.code as region_code,
  s.reference,
  s.belfiore,
  s.section,
  s.sheet,
  s.attachment,
  s.development,
  s.scale_denominator,
  s.geom
from cadastral_sheet s
cross join region g
-- If files of different days contain the same sheet in two documents, the newer file is used.
join current_member m on m.member_id = s.member_id
order by s.reference collate "C", m.rank, s.file_belfiore is null desc, s.position;

alter table sheet add primary key (region_code, reference);
alter table sheet alter column belfiore set not null;
alter table sheet alter column sheet set not null;
alter table sheet alter column attachment set not null;
alter table sheet alter column development set not null;
alter table sheet alter column geom set not null;
-- serves: the sheet at a point
create index on sheet using gist (geom);
