-- purpose: the half-years of the quotations, and of the perimeters that locate the parcels
-- cites: omi_quotations
-- reads: section.valuation, core.quotation
-- writes: none
-- incremental: rows of parcels
-- grain: one row per key and vintage
-- crs: none

with place as (
  select distinct
    belfiore,
    zona,
    half_year,
    perimeter_half_year,
    previous_belfiore,
    previous_zona
  from valuation
  where half_year is not null
),
kind as (
  select distinct
    p.half_year,
    p.perimeter_half_year,
    b.zona is not null as has_previous
  from place p
  join quotation q on q.belfiore = p.belfiore
    and q.zona = p.zona
    and q.half_year = p.half_year
  left join quotation b on b.belfiore = p.previous_belfiore
    and b.zona = p.previous_zona
    and b.half_year = p.half_year - 1
    and b.cod_tip = q.cod_tip
    and b.stato is not distinct from q.stato
)
select distinct
  concat_ws(' ', k.half_year, k.perimeter_half_year, case when k.has_previous then 'previous' end) as key,
  'omi_quotations' as source_id,
  h.half_year / 2 || '_' || h.half_year % 2 + 1 as vintage
from kind k
cross join lateral (values (k.half_year), (k.perimeter_half_year), (case when k.has_previous then k.half_year - 1 end)) as h (half_year)
where h.half_year is not null;
