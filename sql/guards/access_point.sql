-- purpose: addresses beside those that are published
-- reads: core.access_point
-- writes: none
-- grain: one row per comune that changed suspiciously: comune, was, now
-- crs: none

-- check: addresses_lost
-- level: error
-- expects: a comune keeps at least 90 % of its addresses
-- each: comune
with was as (
  select
    belfiore as comune,
    count(*) as addresses
  from published_access_point
  group by belfiore
),
now as (
  select
    belfiore as comune,
    count(*) as addresses
  from access_point
  group by belfiore
)
select
  w.comune,
  w.addresses as was,
  coalesce(n.addresses, 0) as now
from was w
left join now n using (comune)
where w.addresses >= 20
  and coalesce(n.addresses, 0) < 0.9 * w.addresses
order by w.comune;
