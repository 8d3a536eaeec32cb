-- purpose: checks that the parcels of Bolzano are consistent
-- reads: layer.bolzano_parcel, layer.bolzano_comune
-- writes: none
-- grain: one row per violation
-- crs: none

-- check: parcel_of_bolzano_repeated
-- level: error
-- expects: each reference occurs once in a file, even if members are reused from an earlier release
select
  p.reference,
  count(*) as parcels
from bolzano_parcel p
join member m using (member_id)
group by m.file_id, p.reference
having count(*) > 1;

-- check: drawn_as_registered
-- level: warn
-- expects: the drawn area of a parcel of 100 m2 or more is between half and twice the registered area
select
  ccat,
  count(*) as parcels,
  min(reference) as example
from bolzano_parcel
where registered_area_m2 >= 100
  and not core.area_m2(geom) between registered_area_m2 / 2 and registered_area_m2 * 2
group by ccat;

-- check: comune_catastale_says_its_comune
-- level: error
-- expects: each comune catastale states its comune by ISTAT code or by name
select
  ccat,
  parcels
from bolzano_comune
where istat_code is null
  and comune_name is null
  and comune_name_other is null;

-- check: comune_catastale_in_one_comune
-- level: warn
-- expects: all parcels of a comune catastale state the same names and the same comune
select
  c.ccat,
  c.parcels as say_so,
  p.parcels
from bolzano_comune c
join (
  select
    member_id,
    ccat,
    sum(pieces) as parcels
  from bolzano_parcel
  group by member_id, ccat
) p using (member_id, ccat)
where c.parcels < p.parcels;
