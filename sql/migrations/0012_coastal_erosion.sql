-- purpose: the section coastal_erosion
-- reads: none
-- writes: section.coastal_erosion
-- grain: one row per parcel and shoreline segment within 1,000 m, at most five per parcel
-- crs: none

create table section.coastal_erosion (
  fid int4 not null,
  ordinal int2 not null,
  dynamic text not null,
  avg_change_m_year float8,
  severity_index int2,
  distance_m float8 not null,
  primary key (fid, ordinal)
) partition by range (fid);
comment on table section.coastal_erosion is 'How the shore near a parcel moved, nearest segment first. No row: no segment of low coast within 1,000 m of which anything is known';
comment on column section.coastal_erosion.fid is 'Parcel identifier';
comment on column section.coastal_erosion.ordinal is 'Place in the order by distance, 1–5';
comment on column section.coastal_erosion.dynamic is 'erosion, accretion (more than 5 m between the surveys) or stable';
comment on column section.coastal_erosion.avg_change_m_year is 'Mean change of the shoreline, metres per year, positive seaward, 2 decimals; null: not published';
comment on column section.coastal_erosion.severity_index is 'By the mean change: not negative 0, above −0.5 m/year 1, above −1 2, above −2 3, else 4; null: mean change not published';
comment on column section.coastal_erosion.distance_m is 'Distance from the parcel (0 where the shore crosses it) in metres on the ellipsoid, 2 decimals';
