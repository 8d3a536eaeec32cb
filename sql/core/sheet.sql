-- purpose: the cadastral sheets of the region
-- version: 1
-- reads: layer.cadastral_sheet, layer.comune_code
-- writes: core.sheet
-- grain: one row per sheet
-- crs: EPSG:4326

create table sheet as
select
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
where not exists (select from comune_code c where c.belfiore = s.belfiore and c.region_code <> g.code)
order by s.reference collate "C";

alter table sheet add primary key (region_code, reference);
alter table sheet alter column belfiore set not null;
alter table sheet alter column sheet set not null;
alter table sheet alter column attachment set not null;
alter table sheet alter column development set not null;
alter table sheet alter column geom set not null;
-- serves: the sheet at a point
create index on sheet using gist (geom);
