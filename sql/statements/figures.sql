-- purpose: metrics of a table by comune and province, which the quality gate compares
-- reads: core.comune
-- writes: none
-- grain: one row per slice and comune, and per slice and province
-- crs: none

-- statement: pages_in_memory
-- With these costs, the planner looks up the parcels of few comuni in an index. With the costs of disk access, the planner would read whole tables.
set seq_page_cost to 0.1;
set random_page_cost to 0.1;

-- statement: comuni
create unlogged table :"comuni" as
select
  fid,
  belfiore,
  count(*) over (partition by fid) > 1 as moved
from (
  :"before"
  union
  :"after"
) p;
analyze :"comuni";

-- statement: comune_of_parcel
-- Looks up each parcel, because a join may read all parcels of the region.
select
  f.fid,
  p.belfiore
from (:"fids") f
cross join lateral (
  select belfiore
  from :"parcels" q
  where q.fid = f.fid
  offset 0
) p

-- statement: all_comuni
select distinct belfiore as comune
from :"comuni"

-- statement: comuni_of_fids
select distinct belfiore as comune
from :"comuni" c
where moved
  or exists (
    select
    from :"fids" f
    where f.fid = c.fid
  )

-- statement: drop_places
drop table if exists :"places"

-- statement: places
create unlogged table :"places" as
select
  fid,
  belfiore
from :"parcels"
:"only"

-- statement: of_comuni
where belfiore in (:'comuni')

-- statement: analyze_places
analyze :"places"

-- statement: largest_place
select coalesce(max(rows), 0) as rows
from (
  select count(*) as rows
  from (
    select
      :"columns"
    from :"from"
  ) r
  group by slice, province
) g

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
jsonb_build_object(:'name', jsonb_build_array(:"count", case grouping(comune) when 1 then to_jsonb(:"quantiles") else to_jsonb((:"quantiles")[1:2]) end, :"outside"))

-- statement: identity
jsonb_build_object(:'name', jsonb_build_array(count(*) filter (where :"known"), count(*) filter (where :"known" and :"broken")))

-- statement: quantiles
percentile_disc($2::float8[]) within group (order by :"column")

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
group by :"places"
order by 1, 2, 3

-- statement: comuni_and_provinces
grouping sets ((slice, province, comune), (slice, province))

-- statement: comuni_only
slice, province, comune

-- statement: value
(:'name', :"column")

-- statement: differences
select
  slice,
  province,
  field,
  value,
  sum(count)::int4 as count
from (
  select
    r.slice,
    r.province,
    v.field,
    v.value,
    -1 as count
  from (
    select
      :"columns"
    from :"before"
  ) r
  cross join lateral (values :"values") v(field, value)
  union all
  select
    r.slice,
    r.province,
    v.field,
    v.value,
    1 as count
  from (
    select
      :"columns"
    from :"after"
  ) r
  cross join lateral (values :"values") v(field, value)
) d
where value is not null
group by slice, province, field, value
having sum(count) <> 0

-- statement: changes
-- Compares the values of one field in two versions of a table. The old quantile is the first value at which the running count of old values reaches the rank of
-- the quantile. Columns median and p95 are the numbers of values that crossed the old quantile. Both columns leave out values that cross only because the
-- number of rows changed. The values crossed upwards if the quantile rose, and downwards if the quantile fell.
with value as (
  select
    slice,
    province,
    coalesce(comune, '') as comune,
    value,
    sum(was) as was,
    sum(now) as now
  from (
    select
      slice,
      province,
      comune,
      value,
      1 as was,
      0 as now
    from (
      select
        :"columns"
      from :"before"
    ) b
    union all
    select
      slice,
      province,
      comune,
      value,
      0 as was,
      1 as now
    from (
      select
        :"columns"
      from :"after"
    ) a
  ) v
  where value is not null
    and ($1::text[] is null or comune = any ($1))
  group by grouping sets ((slice, province, comune, value), (slice, province, value))
),
running as (
  select
    slice,
    province,
    comune,
    was,
    now,
    sum(was) over up_to as was_up_to,
    sum(now) over up_to as now_up_to,
    sum(was) over place as was_all,
    sum(now) over place as now_all
  from value
  window
    place as (partition by slice, province, comune),
    up_to as (partition by slice, province, comune order by value)
),
counted as (
  select
    slice,
    province,
    comune,
    was_all,
    now_all,
    greatest(sum(greatest(was - now, 0)), sum(greatest(now - was, 0))) as changed,
    coalesce(max(was_up_to) filter (where was_up_to < ceil(0.5 * was_all)), 0) as was_below_median,
    coalesce(max(now_up_to) filter (where was_up_to < ceil(0.5 * was_all)), 0) as now_below_median,
    min(was_up_to) filter (where was_up_to >= ceil(0.5 * was_all)) as was_up_to_median,
    min(now_up_to) filter (where was_up_to >= ceil(0.5 * was_all)) as now_up_to_median,
    coalesce(max(was_up_to) filter (where was_up_to < ceil(0.95 * was_all)), 0) as was_below_p95,
    coalesce(max(now_up_to) filter (where was_up_to < ceil(0.95 * was_all)), 0) as now_below_p95,
    min(was_up_to) filter (where was_up_to >= ceil(0.95 * was_all)) as was_up_to_p95,
    min(now_up_to) filter (where was_up_to >= ceil(0.95 * was_all)) as now_up_to_p95
  from running
  group by slice, province, comune, was_all, now_all
)
select
  slice,
  province,
  comune,
  was_all::int8 as before,
  now_all::int8 as after,
  changed::int8 as changed,
  case
    when now_up_to_median < ceil(0.5 * now_all) then was_up_to_median * now_all / was_all - now_up_to_median
    when now_below_median >= ceil(0.5 * now_all) then now_below_median - was_below_median * now_all / was_all
    else 0
  end::float8 as median,
  case
    when now_up_to_p95 < ceil(0.95 * now_all) then was_up_to_p95 * now_all / was_all - now_up_to_p95
    when now_below_p95 >= ceil(0.95 * now_all) then now_below_p95 - was_below_p95 * now_all / was_all
    else 0
  end::float8 as p95
from counted
where was_all > 0
  and now_all > 0
order by 1, 2, 3

-- statement: listed_comuni
select
  belfiore,
  istat_code,
  name,
  province_code,
  province_name
from core.comune
