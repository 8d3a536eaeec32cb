-- purpose: the half-years in which each parcel has a zone, and the half-years of the perimeters and zones that determine the current zone
-- cites: omi_quotations
-- reads: section.valuation_history
-- writes: none
-- incremental: rows of parcels
-- grain: one row per key and vintage
-- crs: none

with kind as (
  select distinct
    key,
    runs,
    perimeter_half_year,
    half_year
  from (
    select
      concat_ws(
        ' ',
        string_agg(since || '-' || until, ',' order by since) filter (where then_zona is not null),
        'perimeter ' || min(perimeter_half_year),
        'quoted ' || min(half_year)
      ) as key,
      array_agg(int4range(since, until, '[]') order by since) filter (where then_zona is not null) as runs,
      min(perimeter_half_year) as perimeter_half_year,
      min(half_year) as half_year
    from valuation_history
    group by fid
  ) p
)
select
  u.key,
  'omi_quotations' as source_id,
  u.half_year / 2 || '_' || u.half_year % 2 + 1 as vintage
from (
  select
    k.key,
    h.half_year
  from kind k
  cross join lateral unnest(k.runs) as r (run)
  cross join lateral generate_series(lower(r.run), upper(r.run) - 1) as h (half_year)
  union
  select
    key,
    perimeter_half_year
  from kind
  union
  select
    key,
    half_year
  from kind
) u
where u.half_year is not null;
