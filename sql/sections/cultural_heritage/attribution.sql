-- purpose: which lists the places of culture of a region's parcels come from, and which archive of addresses placed some
-- cites: mim_schools, salute_pharmacies, mimit_fuel, mic_places, anncsu_addresses
-- reads: core.point_of_interest, core.access_point
-- writes: none
-- grain: one row per source and vintage
-- crs: none

select distinct
  case p.category
    when 'school' then 'mim_schools'
    when 'pharmacy' then 'salute_pharmacies'
    when 'fuel' then 'mimit_fuel'
    else 'mic_places'
  end as source_id,
  m.vintage
from point_of_interest p
join member_in_force m on m.member_id = p.member_id
where p.category = 'culture'
union
select
  'anncsu_addresses',
  m.vintage
from point_of_interest p
join access_point a on a.address_id = p.address_id
join member_in_force m on m.member_id = a.member_id
where p.category = 'culture';
