-- purpose: for each comune, the half-year of the newest quotations, and the half-year of the perimeters that assign zones to parcels
-- version: 1
-- reads: layer.omi_quotation, layer.omi_zone, layer.omi_perimeter, layer.comune_code, core.quotation_zone
-- writes: core.quoted_comune
-- grain: one row per comune that has an OMI zone in any half-year
-- crs: none

-- Selects for each comune the newest half-year in which VALORI contains the comune, even if other comuni have newer quotations. If a file contains both VALORI
-- and ZONE of a half-year, a comune that is only in ZONE is not quoted in this half-year, and its older quotations are not used. If a file contains only ZONE,
-- it is unknown whether a comune is quoted, and the file is ignored.
create table quoted_comune as
with valori as (
  select distinct
    q.half_year,
    q.belfiore,
    m.file_id
  from omi_quotation q
  join current_member m on m.member_id = q.member_id
),
published as (
  select
    half_year,
    belfiore
  from valori
  union
  select
    z.half_year,
    z.belfiore
  from omi_zone z
  join current_member m on m.member_id = z.member_id
  where (z.half_year, m.file_id) in (select half_year, file_id from valori)
),
newest as (
  select
    belfiore,
    max(half_year) as half_year
  from published
  group by belfiore
),
-- A perimeter names its zone, but not the zone's LinkZona. The LinkZona comes from the row of the zone in the same half-year.
linked as (
  select
    belfiore,
    half_year
  from omi_perimeter
  intersect
  select
    belfiore,
    half_year
  from quotation_zone
),
-- Prefers the perimeters of the half-year of the quotations. Otherwise uses the newest perimeters. Only half-years with zones of the comune in
-- quotation_zone count.
placement as (
  select
    l.belfiore,
    coalesce(max(l.half_year) filter (where l.half_year = n.half_year), max(l.half_year)) as half_year
  from linked l
  left join newest n on n.belfiore = l.belfiore
  group by l.belfiore
)
select
  g.code as region_code,
  z.belfiore,
  n.half_year,
  p.half_year as perimeter_half_year,
  exists (select from comune_code c where c.belfiore = z.belfiore) or not exists (select from comune_code) as listed
from (select distinct belfiore from quotation_zone) z
cross join region g
left join newest n on n.belfiore = z.belfiore
left join placement p on p.belfiore = z.belfiore
order by z.belfiore collate "C";

alter table quoted_comune add primary key (region_code, belfiore);
