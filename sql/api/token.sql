-- purpose: authentication and rate limit of a request and of the rows in a request
-- reads: access.token
-- writes: access.rate_window, api.admit, api.admit_rows
-- grain: one call per request
-- crs: none

create or replace function api.admit(
  p_sha256 text,
  p_scope text,
  p_address text,
  p_counted bool,
  out outcome text,
  out token_id int4,
  out quota int4,
  out remaining int4,
  out resets_at int8,
  out retry_after_seconds int4,
  out read_only bool,
  out network text
)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
-- A commit does not wait for the disk, because this would slow down every request. After a crash, the newest counts may be lost.
set synchronous_commit to off
as $$
declare
  v_token record;
  v_until timestamptz;
  v_count record;
begin
  read_only := current_setting('transaction_read_only')::bool;
  select t.token_id, t.scopes
  into v_token
  from access.token t
  where t.sha256 = decode(p_sha256, 'hex')
    and t.revoked_at is null
    and (t.expires_at is null or t.expires_at > now());
  if not found then
    -- Too many bad keys from a network block only further bad keys. Other clients in the same network, for example behind the same proxy, are still served.
    network := api.caller_network(p_address);
    v_until := api.blocked_until(network);
    if v_until is not null then
      outcome := 'TOO_MANY_ATTEMPTS';
      retry_after_seconds := greatest(1, ceil(extract(epoch from v_until - now())));
      return;
    end if;
    if not read_only then
      perform api.note_failure(network);
    end if;
    outcome := 'INVALID_API_KEY';
    return;
  end if;
  token_id := v_token.token_id;
  quota := api.request_quota();
  if not p_scope = any (v_token.scopes) then
    v_count := api.requests_counted(token_id);
    outcome := 'INSUFFICIENT_SCOPE';
  elsif not p_counted or read_only then
    v_count := api.requests_counted(token_id);
    outcome := case when v_count.used > quota then 'RATE_LIMITED' else 'ADMITTED' end;
  else
    v_count := api.count_request(token_id);
    outcome := case when v_count.used > quota then 'RATE_LIMITED' else 'ADMITTED' end;
  end if;
  remaining := greatest(0, quota - v_count.used);
  resets_at := ceil(extract(epoch from v_count.resets_at));
  if outcome = 'RATE_LIMITED' then
    retry_after_seconds := greatest(1, ceil(extract(epoch from v_count.resets_at - now())));
  end if;
end
$$;
comment on function api.admit(text, text, text, bool) is 'Looks up a token by the hexadecimal SHA-256 of the key. Counts the request for the token, or a bad key for the client''s network. If p_counted is false, the request is not counted. If result read_only is true, the database is read-only, and the server counts instead. Result outcome is ADMITTED, or the error code of the response';

create or replace function api.admit_rows(
  p_token_id int4,
  p_scope text,
  p_rows int4,
  out outcome text,
  out token_id int4,
  out quota int4,
  out remaining int4,
  out resets_at int8,
  out retry_after_seconds int4,
  out read_only bool
)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
set synchronous_commit to off
as $$
#variable_conflict use_column
declare
  v_count record;
begin
  token_id := p_token_id;
  read_only := current_setting('transaction_read_only')::bool;
  quota := api.request_quota();
  if not exists (select from access.token t where t.token_id = p_token_id and p_scope = any (t.scopes)) then
    outcome := 'INSUFFICIENT_SCOPE';
  elsif read_only then
    outcome := 'ADMITTED';
  else
    -- The request itself already counted as the first row. Either all rows are admitted, or none is.
    update access.rate_window w
    set used = w.used + greatest(p_rows, 1) - 1
    where w.token_id = p_token_id
      and w.used + greatest(p_rows, 1) - 1 <= quota;
    outcome := case when found then 'ADMITTED' else 'RATE_LIMITED' end;
  end if;
  v_count := api.requests_counted(p_token_id);
  remaining := greatest(0, quota - v_count.used);
  resets_at := ceil(extract(epoch from v_count.resets_at));
  if outcome = 'RATE_LIMITED' then
    retry_after_seconds := greatest(1, ceil(extract(epoch from v_count.resets_at - now())));
  end if;
end
$$;
comment on function api.admit_rows(int4, text, int4) is 'Counts the rows of an admitted request as requests of the token, if the remaining quota of the hour is sufficient. The first row was already counted as the request. Outcomes are those of api.admit';
