-- purpose: where Italy's regions lie, roughly
-- reads: none
-- writes: core.region_box
-- grain: one row per region
-- crs: EPSG:4326

create table core.region_box (
  region_code int2 primary key,
  geom geometry(polygon, 4326) not null
);
comment on table core.region_box is 'Boxes of Italy''s 20 regions, islands included: ISTAT, Confini delle unità amministrative a fini statistici, rounded outwards to a hundredth of a degree. They tell how much of Italy a file reaches';
comment on column core.region_box.region_code is 'ISTAT region code, 1–20';
comment on column core.region_box.geom is 'The box, EPSG:4326';

insert into core.region_box (region_code, geom)
select
  region_code,
  st_makeenvelope(west, south, east, north, 4326)
from (
  values
    (1, 6.62, 44.06, 9.22, 46.47),
    (2, 6.80, 45.46, 7.94, 45.99),
    (3, 8.49, 44.67, 11.43, 46.64),
    (4, 10.38, 45.67, 12.48, 47.10),
    (5, 10.62, 44.79, 13.11, 46.69),
    (6, 12.32, 45.58, 13.92, 46.65),
    (7, 7.49, 43.77, 10.08, 44.68),
    (8, 9.19, 43.73, 12.76, 45.14),
    (9, 9.68, 42.23, 12.38, 44.48),
    (10, 11.89, 42.36, 13.27, 43.62),
    (11, 12.18, 42.68, 13.92, 43.97),
    (12, 11.44, 40.78, 14.03, 42.84),
    (13, 13.01, 41.68, 14.79, 42.90),
    (14, 13.94, 41.36, 15.17, 42.07),
    (15, 13.76, 39.99, 15.81, 41.51),
    (16, 14.93, 39.79, 18.53, 42.23),
    (17, 15.33, 39.89, 16.87, 41.14),
    (18, 15.63, 37.91, 17.21, 40.15),
    (19, 11.92, 35.49, 15.66, 38.82),
    (20, 8.13, 38.85, 9.83, 41.32)
) as box (region_code, west, south, east, north);
