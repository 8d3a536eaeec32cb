-- purpose: the releases of the address archive that contain the parcels' access points
-- cites: anncsu_addresses
-- reads: core.access_point, section.address
-- writes: none
-- grain: one row per key and vintage
-- crs: none

create table cited_edition as
select distinct
  'anncsu_addresses' as source_id,
  m.vintage
from access_point a
join current_member m on m.member_id = a.member_id;

-- If all access points have the same vintage, the parcels are not read.
create view cited_parcel as
select
  d.fid,
  array_agg(distinct m.vintage order by m.vintage) as vintages
from address d
join access_point a on a.address_id = d.address_id
join current_member m on m.member_id = a.member_id
where (select count(*) > 1 from cited_edition)
group by d.fid;

-- step: cited_editions.sql
