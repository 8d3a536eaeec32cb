-- purpose: step of an attribution: the editions of one source that each parcel cites
-- reads: none
-- writes: none
-- grain: one row per key and vintage
-- crs: none

-- Before this step, the attribution file creates two relations. The table cited_edition (source_id, vintage) contains the vintages of the current files. The
-- view cited_parcel (fid, vintages) contains the vintages that each parcel cites, and has no rows if all files have the same vintage.
-- The query of_parcel is used twice, so PostgreSQL reads the view once and keeps the rows.
with of_parcel as (
  select
    fid,
    vintages
  from cited_parcel
),
of_most as (
  select coalesce(mode() within group (order by vintages), (select array_agg(vintage) from cited_edition)) as vintages
  from of_parcel
)
select
  '' as key,
  e.source_id,
  e.vintage
from of_most o
join cited_edition e on e.vintage = any (o.vintages)
union all
-- Parcels whose vintages differ from those of most parcels get a separate key.
select
  p.fid::text,
  e.source_id,
  e.vintage
from of_parcel p
cross join of_most o
join cited_edition e on e.vintage = any (p.vintages)
where p.vintages <> o.vintages;
