-- purpose: current comuni of each ISTAT code, current or former
-- version: 2
-- reads: layer.comune_code, layer.comune_suppressed
-- writes: core.comune_register
-- grain: one row per ISTAT code and current comune, for comuni that are or were in the region
-- crs: none

-- Codes of each comune in chronological order. Each code column of the list of comuni is one numbering of the comuni. If an edition has no column for
-- 2017–2025, its current codes belong to that period.
create table numbering as
select
  n.nth,
  n.code,
  c.istat_code
from comune_code c
cross join lateral (
  values (1, c.code_103), (2, c.code_107), (3, c.code_110), (4, c.code_107_2017), (5, c.istat_code)
) as n (nth, code)
where n.code is not null;

-- Changes of a comune's code from one numbering to the next. If a province is in only one of the two numberings, it was founded or abolished on the first day
-- of the later numbering. If both provinces are in both numberings, the comune moved on a day that is not in the list.
create table renumbering as
with step as (
  select
    istat_code,
    nth,
    code,
    lead(nth) over following as next_nth,
    lead(code) over following as next_code
  from numbering
  window following as (partition by istat_code order by nth)
),
province as (
  select distinct
    nth,
    left(code, 3) as code
  from numbering
),
changed as (
  select
    step.istat_code,
    step.code,
    case
      when left(step.code, 3) = left(step.next_code, 3) then 'renumbered'
      when made.code is null or abolished.code is null then 'province renumbered'
      else 'moved to another province'
    end as reason,
    case
      when step.next_nth = 2 then date '2006-01-01'
      when step.next_nth = 3 then date '2010-01-01'
      when step.next_nth = 4 or step.nth < 4 then date '2017-01-01'
      else date '2026-01-01'
    end as ended_on,
    -- If a code was reused and removed a second time, the last change is used.
    rank() over (partition by step.code order by step.nth desc) as latest
  from step
  left join province as made
    on made.nth = step.nth
    and made.code = left(step.next_code, 3)
  left join province as abolished
    on abolished.nth = step.next_nth
    and abolished.code = left(step.code, 3)
  where step.code <> step.next_code
)
select
  istat_code,
  code,
  reason,
  ended_on
from changed
where latest = 1;

-- All changes of a code. A change of the numbering leads directly to the current code. If the list contains only one successor of a divided comune, the other
-- successors are unknown.
create table code_change as
select
  x.old_code,
  x.next_code,
  f.istat_code is not null as next_in_force,
  x.ended_on,
  x.event_date,
  x.reason,
  x.partly,
  x.ended_on = max(x.ended_on) over (partition by x.old_code) as is_last
from (
  select
    code as old_code,
    istat_code as next_code,
    ended_on,
    case when reason = 'province renumbered' then ended_on end as event_date,
    reason,
    false as partly
  from renumbering
  where code <> istat_code
  union all
  select
    istat_code,
    successor_istat_code,
    event_date,
    event_date,
    case when divided or count(*) over same_event > 1 then 'divided' else 'merged' end,
    divided and count(*) over same_event = 1
  from comune_suppressed
  window same_event as (partition by istat_code, event_date)
) x
left join comune_code f on f.istat_code = x.next_code;

-- serves: the next change of a code
create index on code_change (old_code, ended_on);
analyze code_change;

-- Follows each former code from its last change through all later changes to current codes. A path never visits a code twice. Every path ends at a current
-- code, or at null if the next code is unknown or was already visited.
create table destination as
with recursive way as (
  select
    c.old_code,
    c.next_code as code,
    c.next_in_force as in_force,
    c.ended_on,
    c.partly,
    array[c.old_code, c.next_code] as passed
  from code_change c
  where c.is_last
    and not exists (select from comune_code f where f.istat_code = c.old_code)
  union all
  select
    w.old_code,
    case when not c.next_code = any (w.passed) then c.next_code end,
    coalesce(c.next_in_force and not c.next_code = any (w.passed), false),
    c.ended_on,
    w.partly or coalesce(c.partly, false),
    w.passed || c.next_code
  from way w
  left join code_change c
    on c.old_code = w.code
    -- Uses the next change in time, because a code may have been assigned twice. If a comune moved on an unknown day, its departure may seem to precede its
    -- arrival.
    and c.ended_on = coalesce(
      (select min(x.ended_on) from code_change x where x.old_code = w.code and x.ended_on >= w.ended_on),
      (select max(x.ended_on) from code_change x where x.old_code = w.code)
    )
  where w.code is not null
    and not w.in_force
),
arrival as (
  select distinct
    old_code,
    case when in_force then code end as code,
    bool_or(partly) over (partition by old_code) as partly
  from way
  where in_force
    or code is null
)
select
  old_code,
  code,
  partly or count(*) over (partition by old_code) > 1 as divided
from arrival;

-- The region's comuni, and comuni that moved to a different region. A moved comune has a former code in a province of this region. Some files still list moved
-- comuni in the former region.
create table own_comune as
select
  c.istat_code
from comune_code c
join region g on g.code = c.region_code
union
select
  n.istat_code
from numbering n
where left(n.code, 3) in (
  select left(c.istat_code, 3)
  from comune_code c
  join region g on g.code = c.region_code
);

create table comune_register as
with first_change as (
  select
    old_code,
    min(reason) as reason,
    min(event_date) as event_date
  from code_change
  where is_last
  group by old_code
)
select
  g.code as region_code,
  f.istat_code as old_istat_code,
  f.istat_code,
  f.belfiore,
  'in force' as reason,
  null::date as event_date,
  false as divided
from comune_code f
join own_comune p using (istat_code)
cross join region g
union all
select
  g.code,
  d.old_code,
  f.istat_code,
  f.belfiore,
  c.reason,
  c.event_date,
  d.divided
from destination d
join comune_code f on f.istat_code = d.code
join own_comune p on p.istat_code = d.code
cross join region g
join first_change c on c.old_code = d.old_code
order by 2, 3;

alter table comune_register add primary key (region_code, old_istat_code, istat_code);
alter table comune_register alter column belfiore set not null;
alter table comune_register alter column reason set not null;
alter table comune_register alter column divided set not null;
