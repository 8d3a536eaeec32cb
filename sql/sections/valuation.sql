-- purpose: the OMI zone of each parcel now and in the half-year before
-- version: 1
-- reads: section.valuation_history, core.quotation, core.quotation_zone
-- writes: section.valuation
-- carries: rows of parcels
-- grain: one row per parcel
-- crs: none

create table valuation as
with newest as (
  -- The newest half-year with quotations that has the comune; a comune that is there without any has none now.
  select
    z.belfiore,
    max(z.half_year) as half_year
  from quotation_zone z
  where z.half_year in (select q.half_year from quotation q)
  group by z.belfiore
),
window_start as (
  select min(since) as half_year
  from valuation_history
)
select
  h.fid,
  h.belfiore,
  h.zona,
  n.half_year,
  case when n.half_year - 1 >= w.half_year then h.then_belfiore else h.belfiore end as previous_belfiore,
  case when n.half_year - 1 >= w.half_year then h.then_zona else h.zona end as previous_zona
from valuation_history h
join newest n on n.belfiore = h.belfiore
cross join window_start w
-- The runs of a parcel cover the window without gaps, so exactly one has the half-year before, or the first one stands for all before.
where greatest(n.half_year - 1, w.half_year) between h.since and h.until
order by h.fid;

alter table valuation add primary key (fid);
