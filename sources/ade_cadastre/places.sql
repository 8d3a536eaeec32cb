-- purpose: records the comuni in each file, the regions of the zips, and the names of comuni in file names
-- reads: layer.cadastral_parcel, layer.cadastral_sheet, layer.cadastral_coverage
-- writes: place
-- grain: one row per layer, file and comune
-- crs: none

-- A document may contain a parcel of a different comune by mistake. `named` is false if the name of the document names a different comune.
create table place as
with covered as (
  select
    member_id,
    belfiore,
    file_belfiore
  from cadastral_coverage
  union all
  -- A release that an earlier version of mappale loaded has no rows in cadastral_coverage.
  select
    member_id,
    belfiore,
    file_belfiore
  from cadastral_parcel
  where not exists (select from cadastral_coverage)
),
found as (
  select
    l.layer,
    c.member_id,
    c.belfiore,
    bool_or(c.file_belfiore is null) as named
  from covered c
  cross join (values ('cadastral_parcel'), ('cadastral_coverage')) as l (layer)
  group by l.layer, c.member_id, c.belfiore
  union all
  select
    'cadastral_sheet',
    member_id,
    belfiore,
    bool_or(file_belfiore is null)
  from cadastral_sheet
  group by member_id, belfiore
)
select
  f.layer,
  m.file_id,
  '' as series,
  f.belfiore as place,
  max(m.region_code) as region_code,
  null::int2 as likely_region_code,
  null as dated,
  bool_or(f.named) as named,
  -- File names have backticks in place of apostrophes and accents.
  min(
    core.title_case(replace(substring(m.document from '^[A-Z][0-9]{3}_(.*?)(?:_(?:ple|map))?\.gml$'), '`', ''''))
  ) filter (where left(m.document, 4) = f.belfiore) as name
from found f
join (
  select
    member_id,
    file_id,
    region_code,
    case when path = '' then file_name else substring(path from '[^/]*$') end as document
  from member
) m using (member_id)
group by f.layer, m.file_id, f.belfiore;
