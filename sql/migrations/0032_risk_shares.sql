-- purpose: what the section risk says beside its levels
-- reads: section.risk
-- writes: none
-- grain: one row per parcel
-- crs: none

-- Constants and nulls: no row of what is published is written anew.
alter table section.risk add column seismic_zone_exact bool;
alter table section.risk add column flood_partial bool not null default false;
alter table section.risk add column flood_share float8;
alter table section.risk add column landslide_share float8;
alter table section.risk add column landslide_attention bool;
comment on column section.risk.seismic_zone_exact is 'False: the comune has several zones, or was merged from comuni of several, so that the zone of this place may be a milder one; null as seismic_zone';
comment on column section.risk.flood_mapped is 'True: all three scenarios were mapped in the comune, so that a null flood_level means no flood hazard';
comment on column section.risk.flood_partial is 'True: not all three scenarios were mapped, but P1 or P2 was, or an area is here all the same: flood_level is a lower bound. Where neither this nor flood_mapped is true nobody has said';
comment on column section.risk.flood_share is 'Part of the parcel, 0–1, 6 decimals, that lies in areas of the class flood_level, each place counted once; null: no level';
comment on column section.risk.landslide_share is 'Part of the parcel, 0–1, 6 decimals, that lies in areas of the class landslide_level, each place counted once; null: no level';
comment on column section.risk.landslide_attention is 'True: an area of attention (AA) overlaps, whatever the level; false: none does; null: none does, and nobody has mapped the place';
