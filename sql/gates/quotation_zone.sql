-- purpose: zones that ZONE reports as built up but VALORI of the same half-year and elaboration does not quote
-- reads: core.quotation, core.quotation_zone, layer.omi_quotation, layer.omi_zone, ledger.file
-- writes: none
-- grain: one row per half-year, with the number of tested zones and of zones without a quotation
-- crs: none

-- In 2017/1 and 2017/2 all 18,461 zones with a prevalent type of building have quotations. Two thirds of the zones with a crop (codes from 101) or without a
-- type also have quotations. Only files that are present in the data folders count. Otherwise, rows of a complete file that a truncated VALORI replaced would
-- stay current and hide the loss.
with present as (
  select m.member_id
  from current_member m
  join ledger.file f on f.file_id = m.file_id
  where f.present
),
quoted as (
  select distinct
    half_year,
    belfiore,
    zona
  from quotation
  where member_id in (select member_id from present)
),
elaboration as (
  select distinct
    half_year,
    elaborated
  from omi_quotation
  where member_id in (select member_id from present)
)
select
  k.half_year::text as slice,
  count(*) as known,
  count(*) filter (where q.zona is null) as broken
from quotation_zone k
join omi_zone z
  on z.member_id = k.member_id
  and z.position = k.position
-- Reads only half-years that have ZONE and VALORI of the same elaboration, because other half-years cannot show a truncated file.
join elaboration e
  on e.half_year = k.half_year
  and e.elaborated = z.elaborated
left join quoted q
  on q.belfiore = k.belfiore
  and q.zona = k.zona
  and q.half_year = k.half_year
where z.prevalent_cod_tip < 101
  and k.member_id in (select member_id from present)
group by k.half_year
order by k.half_year;
