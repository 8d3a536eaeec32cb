-- purpose: the section risk
-- reads: none
-- writes: section.risk
-- grain: one row per parcel
-- crs: none

create table section.risk (
  fid int4 primary key,
  seismic_zone int2,
  seismic_zone_label text,
  pga_g float8,
  flood_level text,
  landslide_level text,
  pga_mapped bool not null,
  flood_mapped bool not null,
  landslide_mapped bool not null
) partition by range (fid);
comment on table section.risk is 'Seismic, flood and landslide hazard of each parcel: land, roads and water';
comment on column section.risk.fid is 'Parcel identifier';
comment on column section.risk.seismic_zone is 'Seismic zone of the comune, 1 (most severe) to 4: the most severe digit of the label; null: the comune is not in the classification loaded';
comment on column section.risk.seismic_zone_label is 'Seismic zone as published, with its subzones: 2B, 2A-3A-3B; null as seismic_zone';
comment on column section.risk.pga_g is 'Peak ground acceleration at the representative point, g, 10 % in 50 years on rock, 4 decimals; null: more than 5 km from any node of the model';
comment on column section.risk.flood_level is 'Worst flood hazard class that shares area with the parcel: P3 high, P2 medium, P1 low, HPH an area without a class; null: none known, see flood_mapped';
comment on column section.risk.landslide_level is 'Worst landslide hazard class that shares area with the parcel: P4, P3, P2, P1, AA; null: none known, see landslide_mapped';
comment on column section.risk.pga_mapped is 'False: the model does not cover the place';
comment on column section.risk.flood_mapped is 'True: a null flood_level means no flood hazard; false: nobody has said';
comment on column section.risk.landslide_mapped is 'True: a null landslide_level means no landslide hazard; false: nobody has said, or only areas of undetermined class are here';
