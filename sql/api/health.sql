-- purpose: published regions for the health endpoint
-- reads: ledger.publication, ledger.publication_table, core.region
-- writes: api.health
-- grain: one call per response
-- crs: none

create or replace function api.health(out dataset text)
language sql stable security definer
set search_path to core, section, ledger, public, pg_temp
as $$
  select json_build_object(
    'published', exists (select from ledger.publication c where c.state = 'current' and c.unit_code > 0),
    'regions', coalesce(
      (
        select json_agg(
          json_build_object(
            'code', u.unit_code,
            'name', r.name,
            'published_at', to_char(u.published_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
          )
          order by u.unit_code
        )
        from ledger.publication u
        left join core.region r on r.code = u.unit_code
        where u.state = 'current'
          and u.unit_code > 0
      ),
      '[]'::json
    ),
    'addresses', coalesce(sum(t.rows) filter (where t.relation = 'core.access_point'), 0),
    'parcels', coalesce(sum(t.rows) filter (where t.relation = 'core.parcel'), 0)
  )::text
  from ledger.publication p
  join ledger.publication_table t using (publication_id)
  where p.state = 'current'
$$;
comment on function api.health() is 'Published regions, with the numbers of published parcels and addresses that the ledger records';
