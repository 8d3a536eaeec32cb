-- purpose: figures of a table by place, which the quality gate compares
-- reads: core.comune
-- writes: none
-- grain: one row per slice and comune, and per slice and province
-- crs: none

-- statement: comuni
select p.belfiore as comune
from :"parcels" p
join (:"fids") f using (fid)

-- statement: drop_places
drop table if exists :"places"

-- statement: places
create table :"places" as
select
  fid,
  belfiore
from :"parcels"

-- statement: fids
select fid
from :"table"

-- statement: by_whole
:"table" t

-- statement: by_belfiore
:"table" t
left join core.comune c on c.belfiore = t.belfiore

-- statement: by_istat_code
:"table" t
left join core.comune c on c.istat_code = t.istat_code

-- statement: by_fid
:"table" t
join :"parcels" p using (fid)
left join core.comune c on c.belfiore = p.belfiore

-- statement: place
coalesce(c.province_code, '') as province,
:"comune" as comune

-- statement: whole_place
'' as province,
:'whole' as comune

-- statement: no_slice
'' as slice

-- statement: slice_by_value
coalesce(:"t.column"::text, '') as slice

-- statement: slice_by_presence
case when :"t.column" is null then 'without ' else 'with ' end || :'name' as slice

-- statement: field
jsonb_build_object(:'name', jsonb_build_array(:"count", to_jsonb(:"quantiles"), :"outside"))

-- statement: identity
jsonb_build_object(:'name', jsonb_build_array(count(*) filter (where :"known"), count(*) filter (where :"known" and :"broken")))

-- statement: quantiles
percentile_disc(array[0.5, 0.95]) within group (order by :"column")

-- statement: figures
select
  slice,
  province,
  coalesce(comune, '') as comune,
  count(*) as rows,
  '{}'::jsonb :"fields" as fields,
  '{}'::jsonb :"identities" as identities
from (
  select
    :"columns"
  from :"from"
) r
where $1::text[] is null
  or comune = any ($1)
group by grouping sets ((slice, province, comune), (slice, province))
order by 1, 2, 3
