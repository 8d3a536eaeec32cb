-- purpose: tokens of the API
-- reads: access.rate_window, access.token
-- writes: access.token
-- grain: one row per token
-- crs: none

-- statement: add
insert into access.token (name, sha256, scopes, expires_at)
values ($1, decode($2, 'hex'), $3, $4::timestamptz)
returning token_id as id

-- statement: list
select
  t.token_id as id,
  t.name,
  t.scopes,
  to_char(t.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as created_at,
  to_char(t.expires_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as expires_at,
  to_char(t.revoked_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as revoked_at,
  case when t.revoked_at is not null then 'revoked' when t.expires_at <= now() then 'expired' else 'valid' end as state,
  coalesce((
    select w.used
    from access.rate_window w
    where w.token_id = t.token_id
      and w.started_at > now() - interval '1 hour'
  ), 0) as used
from access.token t
order by t.token_id

-- statement: revoke
update access.token
set revoked_at = coalesce(revoked_at, now())
where token_id = $1
returning token_id
