-- purpose: data for the dossier of a parcel
-- reads: ledger.publication
-- writes: none
-- grain: one row per dossier
-- crs: EPSG:4326, longitude latitude

-- statement: hold
select api.hold_publication()

-- statement: record
select
  api.parcel($1, $2) as record,
  (
    select to_char(u.published_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    from ledger.publication u
    where u.unit_code = core.region_of($1)
      and u.state = 'current'
  ) as published_at

-- statement: neighbours
select answer::json as answer
from api.parcel_neighbours($1, $2)

-- statement: around
select answer::json as answer
from api.locate_box($1, $2, $3, $4, -1, $5, 'feature')
