-- One function sets the workspace of a transaction. On several machines it does so on each of them,
-- and is the only one that has to know about that.

create function set_tenant(wanted text) returns text
language sql volatile
as $$
  select set_config('app.tenant', wanted, true)
$$;

create or replace function enter_tenant(wanted_tenant bigint) returns bigint
language plpgsql volatile
as $$
declare
  found_epoch bigint;
begin
  perform set_tenant(wanted_tenant::text);
  select access_epoch into found_epoch from tenants where tenant_id = wanted_tenant;
  return found_epoch;
end
$$;

create or replace function enter_call(wanted_tenant bigint, wanted_hash bytea)
returns table (
  access_epoch bigint, tenant_status text, timezone text, currency text,
  currency_decimals smallint, clock_offset_ms bigint, idle_seconds integer,
  token_expires_at timestamptz, token_spent_at timestamptz, session_id uuid,
  session_used_at timestamptz, session_revoked_at timestamptz,
  principal_kind text, principal_id bigint, principal_name text, principal_status text,
  principal_expires_at timestamptz, roles text[], party_id bigint, allowed_addresses text[]
)
language plpgsql volatile
as $$
begin
  perform set_tenant(wanted_tenant::text);
  return query
    select t.access_epoch, t.status, t.timezone, t.currency,
      t.currency_decimals, t.clock_offset_ms, t.idle_seconds,
      k.expires_at, k.spent_at, s.session_id, s.used_at, s.revoked_at,
      case when l.login_id is not null then 'Login' when c.client_number is not null then 'Client' end,
      coalesce(l.login_id, c.client_number), coalesce(l.username, c.client_id),
      coalesce(l.status, c.status), c.expires_at, coalesce(l.roles, c.roles), l.party_id,
      c.allowed_addresses
    from tenants t
    left join tokens k
      on k.tenant_id = t.tenant_id and k.token_hash = wanted_hash and k.kind = 'access'
    left join sessions s on s.tenant_id = k.tenant_id and s.session_id = k.session_id
    left join logins l on l.tenant_id = s.tenant_id and l.login_id = s.login_id
    left join clients c on c.tenant_id = s.tenant_id and c.client_number = s.client_number
    where t.tenant_id = wanted_tenant;
end
$$;

create or replace function workspaces_with_documents_to_make() returns setof bigint
language plpgsql
as $$
declare
  found bigint;
begin
  for found in select tenant_id from workspaces order by tenant_id loop
    perform set_tenant(found::text);
    if exists (select from document_queue where tenant_id = found) then
      return next found;
    end if;
  end loop;
end
$$;

create or replace function unsealed_workspaces() returns setof bigint
language plpgsql
as $$
declare
  found bigint;
begin
  for found in
    select w.tenant_id from workspaces w
    where not exists (
      select from ended_workspaces e
      where e.tenant_id = w.tenant_id and e.delete_after <= now() and e.deleted_at is null
    )
    order by w.tenant_id
  loop
    perform set_tenant(found::text);
    if exists (select from seal_queue where tenant_id = found) then
      return next found;
    end if;
  end loop;
end
$$;

create or replace function webhooks_with_work(at timestamptz)
returns table (tenant_id bigint, webhook_id bigint, failures integer)
language plpgsql
as $$
declare
  found bigint;
begin
  for found in
    select w.tenant_id from workspace_webhooks w order by w.tenant_id
  loop
    perform set_tenant(found::text);
    return query
      select h.tenant_id, h.webhook_id, h.failures
      from webhooks h
      where h.tenant_id = found and h.status = 'Active' and (
        exists (
          select from webhook_messages m
          where m.tenant_id = found and m.webhook_id = h.webhook_id and m.next_attempt_at <= at
        )
        or exists (
          select from events e
          where e.tenant_id = found and (e.written_in, e.event_id) > (h.read_in, h.read_event_id)
            and e.written_in < pg_snapshot_xmin(pg_current_snapshot())
        )
      );
  end loop;
end
$$;

-- The connections are of this machine; the attempts may be on another. So they are read apart.
create or replace function end_lost_attempts(lease interval) returns setof bigint
language plpgsql volatile security definer
set search_path = public, pg_temp
as $$
declare
  lost record;
  tenant bigint := require_tenant();
  attempts record;
begin
  select array_agg(a.job_id) as jobs, array_agg(a.backend_pid) as pids,
    array_agg(a.started_at) as starts
  into attempts
  from chunk_attempts a
  where a.tenant_id = tenant and a.seen_at < clock_timestamp() - lease;
  -- A loop, so that nothing is ended before every condition was looked at.
  for lost in
    select a.job_id, s.pid
    from unnest(attempts.jobs, attempts.pids, attempts.starts) a (job_id, pid, started_at)
    join pg_stat_activity s on s.pid = a.pid and s.xact_start <= a.started_at
  loop
    if pg_terminate_backend(lost.pid) then
      return next lost.job_id;
    end if;
  end loop;
end
$$;
