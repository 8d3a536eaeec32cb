-- purpose: the postal codes of parcels, read by basic and economics
-- reads: none
-- writes: section.postal_code
-- grain: one row per parcel whose postal code is known
-- crs: none

create table section.postal_code (
  fid int4 primary key,
  cap text not null
) partition by range (fid);
comment on table section.postal_code is 'Postal code of a parcel, from what the operator supplied: the only one of its comune, else the one whose area contains the representative point. No row: not known';
comment on column section.postal_code.fid is 'Parcel identifier';
comment on column section.postal_code.cap is 'Postal code (CAP), 5 digits, text';
