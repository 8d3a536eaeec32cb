-- purpose: every zone that ZONE says is built up has quotations in VALORI of the same half-year
-- reads: core.quotation, core.quotation_zone, layer.omi_zone
-- writes: none
-- grain: one row per half-year: slice, known zones, broken ones
-- crs: none

-- In 2017/1 and 2017/2 all of the 18,461 zones with a prevalent type of building have quotations; of those with a crop (codes from 101) or nothing, two thirds.
select
  k.half_year::text as slice,
  count(*) as known,
  count(*) filter (
    where not exists (
      select
      from quotation q
      where q.belfiore = k.belfiore
        and q.zona = k.zona
        and q.half_year = k.half_year
    )
  ) as broken
from quotation_zone k
join omi_zone z
  on z.member_id = k.member_id
  and z.position = k.position
where z.prevalent_cod_tip < 101
  -- Where VALORI of a half-year was not supplied at all, nothing is cut.
  and k.half_year in (select half_year from quotation)
group by k.half_year
order by k.half_year;
