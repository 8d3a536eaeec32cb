-- purpose: checks that each comune catastale is complete: its parcels have the stated number and the area of the boundary
-- reads: layer.trento_parcel, layer.trento_piece, layer.trento_boundary
-- writes: none
-- grain: one row per violation
-- crs: none; areas are in square metres of the file's projection

-- check: parcels_are_as_many_as_said
-- level: error
-- expects: each comune catastale has as many parcels as its boundary states (BD_SUMPART)
select
  b.ccat,
  b.name,
  b.parcels as expected,
  coalesce(p.parcels, 0) as found
from trento_boundary b
join member m using (member_id)
left join (
  select
    m.file_id,
    p.ccat,
    count(*) as parcels
  from trento_parcel p
  join member m using (member_id)
  group by m.file_id, p.ccat
) p on p.file_id = m.file_id and p.ccat = b.ccat
where b.parcels <> coalesce(p.parcels, 0);

-- check: parcel_without_boundary
-- level: error
-- expects: parcels belong to the comune catastale of the boundary in the same zip or folder
select
  p.ccat,
  count(*) as parcels
from trento_parcel p
join member m using (member_id)
where not exists (
  select
  from trento_boundary b
  join member n using (member_id)
  where n.file_id = m.file_id
    and b.ccat = p.ccat
)
group by p.ccat;

-- check: parcels_cover_the_boundary
-- level: error
-- expects: the areas of the parcels of a comune catastale add up to the area of the boundary within a thousandth
select
  b.ccat,
  b.name,
  b.drawn_area_m2 as expected_m2,
  p.drawn_area_m2 as found_m2
from trento_boundary b
join member m using (member_id)
join (
  select
    m.file_id,
    p.ccat,
    sum(p.drawn_area_m2) as drawn_area_m2
  from trento_parcel p
  join member m using (member_id)
  group by m.file_id, p.ccat
) p on p.file_id = m.file_id and p.ccat = b.ccat
where abs(p.drawn_area_m2 - b.drawn_area_m2) > b.drawn_area_m2 / 1000;

-- The publisher's parcels meet without a gap. Rounding errors of the sums are below 0.01 m2. A difference above 0.01 m2 that is still small means
-- that one parcel was drawn differently.
-- check: parcels_cover_the_boundary_exactly
-- level: warn
-- expects: the areas of the parcels of a comune catastale add up to the area of the boundary within 0.01 m2
select
  b.ccat,
  b.name,
  b.drawn_area_m2 as expected_m2,
  p.drawn_area_m2 as found_m2
from trento_boundary b
join member m using (member_id)
join (
  select
    m.file_id,
    p.ccat,
    sum(p.drawn_area_m2) as drawn_area_m2
  from trento_parcel p
  join member m using (member_id)
  group by m.file_id, p.ccat
) p on p.file_id = m.file_id and p.ccat = b.ccat
where abs(p.drawn_area_m2 - b.drawn_area_m2) > 0.01;

-- check: roof_known
-- level: warn
-- expects: a piece is under a roof (S) or not (N)
select
  roof,
  count(*) as pieces
from (
  select roof from trento_parcel
  union all
  select roof from trento_piece
) p
where roof is distinct from 'S'
  and roof is distinct from 'N'
group by roof;
