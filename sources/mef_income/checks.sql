-- purpose: checks a MEF release
-- reads: layer.income
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: brackets_add_up_to_the_total
-- level: error
-- expects: The eight brackets add up to the total, in taxpayers and in euro, unless a value is withheld.
select
  tax_year,
  level,
  belfiore,
  cap
from income
where lte_zero_n + from_0_to_10k_n + from_10k_to_15k_n + from_15k_to_26k_n + from_26k_to_55k_n + from_55k_to_75k_n + from_75k_to_120k_n + over_120k_n <> total_income_n
  or lte_zero_eur + from_0_to_10k_eur + from_10k_to_15k_eur + from_15k_to_26k_eur + from_26k_to_55k_eur + from_55k_to_75k_eur + from_75k_to_120k_eur + over_120k_eur <> total_income_eur
order by tax_year, level, belfiore, cap;

-- check: brackets_stay_below_the_taxpayers
-- level: error
-- expects: The sum of the taxpayers in the brackets is at most the number of all taxpayers.
select
  tax_year,
  level,
  belfiore,
  cap
from income
where coalesce(lte_zero_n, 0) + coalesce(from_0_to_10k_n, 0) + coalesce(from_10k_to_15k_n, 0) + coalesce(from_15k_to_26k_n, 0) + coalesce(from_26k_to_55k_n, 0) + coalesce(from_55k_to_75k_n, 0) + coalesce(from_75k_to_120k_n, 0) + coalesce(over_120k_n, 0) > taxpayers
order by tax_year, level, belfiore, cap;

-- check: withheld_counts_are_never_published
-- level: warn
-- expects: No count is 1, 2 or 3, because the publisher withholds such counts.
select
  tax_year,
  level,
  belfiore,
  cap
from income
where lte_zero_n between 1 and 3 or from_0_to_10k_n between 1 and 3 or from_10k_to_15k_n between 1 and 3 or from_15k_to_26k_n between 1 and 3 or from_26k_to_55k_n between 1 and 3 or from_55k_to_75k_n between 1 and 3 or from_75k_to_120k_n between 1 and 3 or over_120k_n between 1 and 3
order by tax_year, level, belfiore, cap;

-- check: one_comune_per_postal_code
-- level: warn
-- expects: In a table by postal code (subcomunale), each postal code belongs to one comune.
select
  file_id,
  tax_year,
  cap,
  count(distinct belfiore) as comuni
from income
join member using (member_id)
where level = 'cap'
group by file_id, tax_year, cap
having count(distinct belfiore) > 1
order by file_id, tax_year, cap;

-- check: postal_codes_stay_below_their_comune
-- level: warn
-- expects: The sum of the taxpayers in the postal codes of a comune in a file is at most the number of taxpayers in the comune.
select
  m.file_id,
  c.tax_year,
  c.belfiore,
  sum(c.taxpayers) as of_postal_codes,
  w.taxpayers as of_comune
from income c
join member m using (member_id)
join income w on w.tax_year = c.tax_year and w.belfiore = c.belfiore and w.level = 'comune'
where c.level = 'cap'
group by m.file_id, c.tax_year, c.belfiore, w.member_id, w.position, w.taxpayers
having sum(c.taxpayers) > w.taxpayers
order by m.file_id, c.tax_year, c.belfiore;
