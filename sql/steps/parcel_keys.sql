-- purpose: step of a build: keys and indexes of the table parcel, for the cadastre and the land registers
-- reads: none
-- writes: none
-- grain: none
-- crs: none

alter table parcel add primary key (fid);
alter table parcel alter column belfiore set not null;
alter table parcel alter column label set not null;
alter table parcel alter column reference set not null;
alter table parcel alter column gml_id set not null;
alter table parcel alter column kind set not null;
alter table parcel alter column area_m2 set not null;
alter table parcel alter column made_valid set not null;
alter table parcel alter column point set not null;
alter table parcel alter column geom set not null;
alter table parcel alter column document_id set not null;
-- serves: search by point and by box, joins with polygons
create index on parcel using gist (geom);
-- serves: joins of zones with representative points
create index on parcel using gist (point);
-- serves: lookup by cadastral reference
create index on parcel (reference);
-- serves: the parcels of a comune
create index on parcel (belfiore);
