-- purpose: limits on the requests of a token, and on the bad keys of a client
-- reads: access.rate_window, access.failed_attempt
-- writes: access.rate_window, access.failed_attempt, api.request_quota, api.count_request, api.requests_counted, api.caller_network, api.blocked_until, api.note_failure
-- grain: one row per token, or per network of a client
-- crs: none

create or replace function api.request_quota() returns int4
language sql immutable as $$
  select 1000
$$;
comment on function api.request_quota() is 'Maximum number of requests of a token in one hour, which starts with the first request';

create or replace function api.count_request(p_token_id int4, out used int4, out resets_at timestamptz)
language plpgsql volatile as $$
#variable_conflict use_column
begin
  -- The hour starts with the token's first request. The counter stops at one more than the quota, so refused requests cannot make the counter overflow.
  insert into access.rate_window as w (token_id, started_at, used)
  values (p_token_id, now(), 1)
  on conflict (token_id) do update set
    started_at = case when w.started_at <= now() - interval '1 hour' then now() else w.started_at end,
    used = case when w.started_at <= now() - interval '1 hour' then 1 else least(w.used, api.request_quota()) + 1 end
  returning w.used, w.started_at + interval '1 hour'
  into used, resets_at;
end
$$;
comment on function api.count_request(int4) is 'Counts one request of a token. The request must be refused if result used is greater than the quota';

create or replace function api.requests_counted(p_token_id int4, out used int4, out resets_at timestamptz)
language sql stable as $$
  select
    coalesce(max(w.used), 0),
    coalesce(max(w.started_at), now()) + interval '1 hour'
  from access.rate_window w
  where w.token_id = p_token_id
    and w.started_at > now() - interval '1 hour'
$$;
comment on function api.requests_counted(int4) is 'Number of requests of a token in its current hour. The call itself is not counted';

create or replace function api.caller_network(p_address text) returns text
language sql immutable as $$
  -- A client with one IPv6 address usually has the whole /64 network.
  select case family(p_address::inet) when 6 then network(set_masklen(p_address::inet, 64))::text else host(p_address::inet) end
$$;
comment on function api.caller_network(text) is 'The network of a client: the IPv4 address, or the /64 network of the IPv6 address';

create or replace function api.blocked_until(p_network text) returns timestamptz
language plpgsql stable as $$
begin
  return (
    select f.started_at + interval '15 minutes'
    from access.failed_attempt f
    where f.address = p_network
      and f.attempts >= 20
      and f.started_at > now() - interval '15 minutes'
  );
end
$$;
comment on function api.blocked_until(text) is 'Time until which bad keys of a client are refused, after 20 bad keys in 15 minutes. Null if bad keys are not refused';

create or replace function api.note_failure(p_network text) returns void
language sql volatile as $$
  insert into access.failed_attempt as f (address, started_at, attempts)
  values (p_network, now(), 1)
  on conflict (address) do update set
    started_at = case when f.started_at <= now() - interval '15 minutes' then now() else f.started_at end,
    attempts = case when f.started_at <= now() - interval '15 minutes' then 1 else least(f.attempts, 20) + 1 end;
  -- Each bad key deletes up to 10 expired rows, so an attacker with many addresses cannot fill the table.
  delete from access.failed_attempt
  where address in (
    select f.address
    from access.failed_attempt f
    where f.started_at <= now() - interval '15 minutes'
    order by f.started_at
    limit 10
    for update skip locked
  )
$$;
comment on function api.note_failure(text) is 'Counts a bad key of a client';
