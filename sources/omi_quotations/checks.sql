-- purpose: checks an OMI release
-- reads: layer.omi_quotation, layer.omi_zone, layer.omi_perimeter
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: link_zona_names_one_zone
-- level: error
-- expects: In a half-year of a file, each LinkZona belongs to one zone of one comune.
select
  file_id,
  half_year,
  link_zona,
  count(*) as zones
from (
  select m.file_id, z.half_year, z.link_zona, z.belfiore, z.zona
  from omi_zone z
  join member m using (member_id)
  union
  select m.file_id, q.half_year, q.link_zona, q.belfiore, q.zona
  from omi_quotation q
  join member m using (member_id)
) z
group by file_id, half_year, link_zona
having count(*) > 1
order by file_id, half_year, link_zona;

-- check: link_zona_agrees_between_files
-- level: warn
-- expects: In a half-year, all files state the same zone for a LinkZona.
select
  half_year,
  link_zona,
  count(distinct (belfiore, zona)) as zones
from (
  select m.file_id, z.half_year, z.link_zona, z.belfiore, z.zona
  from omi_zone z
  join member m using (member_id)
  union
  select m.file_id, q.half_year, q.link_zona, q.belfiore, q.zona
  from omi_quotation q
  join member m using (member_id)
) z
group by half_year, link_zona
having count(distinct (belfiore, zona)) > 1
  and count(distinct file_id) > 1
order by half_year, link_zona;

-- check: quotations_have_their_zone
-- level: warn
-- expects: ZONE describes every quoted zone, if ZONE of this half-year and comune is loaded.
select distinct
  q.half_year,
  q.belfiore,
  q.zona
from omi_quotation q
where exists (select from omi_zone z where z.half_year = q.half_year and z.belfiore = q.belfiore)
  and not exists (select from omi_zone z where z.half_year = q.half_year and z.belfiore = q.belfiore and z.zona = q.zona)
order by q.half_year, q.belfiore, q.zona;

-- check: perimeters_have_their_zone
-- level: warn
-- expects: ZONE describes every perimeter, if ZONE of this half-year and comune is loaded (22 of 26,609 perimeters had no description in 2018/2).
select
  p.half_year,
  p.belfiore,
  p.zona
from omi_perimeter p
where exists (select from omi_zone z where z.half_year = p.half_year and z.belfiore = p.belfiore)
  and not exists (select from omi_zone z where z.half_year = p.half_year and z.belfiore = p.belfiore and z.zona = p.zona)
order by p.half_year, p.belfiore, p.zona;

-- check: one_prevalent_state
-- level: warn
-- expects: In a zone of a file, at most one state of each type is prevalent.
select
  file_id,
  half_year,
  belfiore,
  zona,
  cod_tip,
  count(*) as prevalent
from omi_quotation
join member using (member_id)
where stato_prev
group by file_id, half_year, belfiore, zona, cod_tip
having count(*) > 1
order by file_id, half_year, belfiore, zona, cod_tip;

-- check: ranges_run_upwards
-- level: warn
-- expects: The lowest price is at most the highest price. A reversed range is served as published (one of 161,999 rents in 2017/1).
select
  half_year,
  link_zona,
  cod_tip,
  stato,
  member_id,
  position
from omi_quotation
where purchase_min_eur_m2 > purchase_max_eur_m2
  or rental_min_eur_m2_month > rental_max_eur_m2_month
order by half_year, link_zona, cod_tip, stato;
