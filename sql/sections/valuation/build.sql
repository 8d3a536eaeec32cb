-- purpose: the OMI zone of each parcel in the newest quoted half-year and in the previous half-year
-- version: 2
-- reads: section.valuation_history, core.quotation_zone
-- writes: section.valuation
-- incremental: rows of parcels
-- grain: one row per parcel
-- crs: none

create table valuation as
with window_start as (
  select min(since) as half_year
  from valuation_history
),
-- Finds the zone with the same LinkZona in the previous half-year. This zone is used if the history does not include the previous half-year.
before as (
  select distinct on (c.belfiore, c.zona, c.half_year)
    c.belfiore,
    c.zona,
    c.half_year,
    b.belfiore as previous_belfiore,
    b.zona as previous_zona
  from (select distinct belfiore, zona, half_year from valuation_history) c
  join quotation_zone z on z.belfiore = c.belfiore and z.zona = c.zona and z.half_year = c.half_year
  join quotation_zone b on b.link_zona = z.link_zona and b.half_year = c.half_year - 1
  order by c.belfiore, c.zona, c.half_year, b.belfiore collate "C", b.zona collate "C"
)
select
  h.fid,
  h.belfiore,
  h.zona,
  h.half_year,
  h.perimeter_half_year,
  case when h.half_year > w.half_year then h.then_belfiore else b.previous_belfiore end as previous_belfiore,
  case when h.half_year > w.half_year then h.then_zona else b.previous_zona end as previous_zona
from valuation_history h
cross join window_start w
left join before b on b.belfiore = h.belfiore and b.zona = h.zona and b.half_year = h.half_year
-- The runs of a parcel cover the 22 half-years without gaps, so exactly one run contains the previous half-year. If the previous half-year is unknown or before
-- the first run, the first run is used.
where greatest(h.half_year - 1, w.half_year) between h.since and h.until
order by h.fid;

alter table valuation add primary key (fid);
