-- The rules for a database of several machines, where the first files did not keep them.

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
  ended bigint[] := array(
    select e.tenant_id from ended_workspaces e
    where e.delete_after <= now() and e.deleted_at is null);
begin
  for found in
    select w.tenant_id from workspaces w where w.tenant_id <> all(ended) order by w.tenant_id
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
  attempts record;
begin
  select array_agg(a.job_id) as jobs, array_agg(a.backend_pid) as pids,
    array_agg(a.started_at) as starts
  into attempts
  from chunk_attempts a
  where a.tenant_id = require_tenant() and a.seen_at < clock_timestamp() - lease;
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

-- Triggers read a transition table alone: what they find goes on in arrays, because the table
-- itself is known to no other machine. The insert takes the workspace from a table, so that it is
-- the machine of that workspace that does it.

create or replace function queue_for_seal() returns trigger
language plpgsql
as $$
declare
  tenant bigint;
  items text[];
begin
  if tg_argv[0] = 'audit' then
    select min(tenant_id), array_agg(distinct 'audit ' || request_id) into tenant, items
    from changed;
  elsif tg_argv[0] = 'journal' then
    select min(tenant_id), array_agg('journal ' || journal_id order by 'journal ' || journal_id)
    into tenant, items from changed;
  elsif tg_argv[0] = 'credit-note' then
    select min(tenant_id),
      array_agg('credit-note ' || credit_note_id order by 'credit-note ' || credit_note_id)
    into tenant, items from changed;
  elsif tg_argv[0] = 'document' then
    select min(tenant_id), array_agg('document ' || document_id order by 'document ' || document_id)
    into tenant, items from changed;
  else
    -- What is still to be sent changes soon.
    select min(tenant_id), array_agg('delivery ' || delivery_id order by 'delivery ' || delivery_id)
    into tenant, items from changed
    where status in ('Sent', 'Delivered', 'Failed', 'Uncertain');
  end if;
  if items is not null then
    insert into seal_queue (tenant_id, item)
    select own.tenant_id, i.item
    from (select t.tenant_id from tenants t where t.tenant_id = tenant) own
    cross join unnest(items) as i (item)
    on conflict (tenant_id, item) do update set item = excluded.item;
  end if;
  return null;
end
$$;

create or replace function queue_receipt_mails() returns trigger
language plpgsql
as $$
declare
  own constant bigint := require_tenant();
  payment_ids bigint[];
begin
  if exists (select from tenants where tenant_id = own and receipt_mail is not null) then
    select array_agg(payment_id) into payment_ids from changed where direction = 'In';
    insert into document_queue (tenant_id, kind, subject_id)
    select t.tenant_id, 'ReceiptMail', p.payment_id
    from (select tenant_id from tenants where tenant_id = own) t
    cross join unnest(payment_ids) as p (payment_id)
    on conflict do nothing;
  end if;
  return null;
end
$$;

create or replace function count_meters() returns trigger
language plpgsql
as $$
declare
  changed record;
  tenant bigint;
  blocks bigint[];
  lives bigint[];
  totals bigint[];
begin
  if tg_op = 'INSERT' then
    select min(n.tenant_id), array_agg(n.block), array_agg(n.live_rows), array_agg(n.all_rows)
    into tenant, blocks, lives, totals
    from (
      select tenant_id, meter_id / 1000 as block, count(*) filter (where status = 'Active') as live_rows,
        count(*) as all_rows
      from new_rows
      group by 1, 2
      order by 1, 2
    ) n;
    insert into row_blocks as b (tenant_id, kind, block, live_rows, all_rows)
    select own.tenant_id, 'meter', n.block, n.live_rows, n.all_rows
    from (select t.tenant_id from tenants t where t.tenant_id = tenant) own
    cross join unnest(blocks, lives, totals) as n (block, live_rows, all_rows)
    on conflict (tenant_id, kind, block) do update
      set live_rows = b.live_rows + excluded.live_rows, all_rows = b.all_rows + excluded.all_rows;
    return null;
  end if;
  for changed in
    select tenant_id, meter_id / 1000 as block, sum(step) as delta
    from (
      select tenant_id, meter_id, 1 as step from new_rows where status = 'Active'
      union all
      select tenant_id, meter_id, -1 from old_rows where status = 'Active'
    ) steps
    group by 1, 2
    having sum(step) <> 0
    order by 1, 2
  loop
    update row_blocks set live_rows = live_rows + changed.delta
    where tenant_id = changed.tenant_id and kind = 'meter' and block = changed.block;
  end loop;
  return null;
end
$$;

create or replace function count_parties() returns trigger
language plpgsql
as $$
declare
  changed record;
  tenant bigint;
  blocks bigint[];
  lives bigint[];
  totals bigint[];
begin
  if tg_op = 'INSERT' then
    select min(n.tenant_id), array_agg(n.block), array_agg(n.live_rows), array_agg(n.all_rows)
    into tenant, blocks, lives, totals
    from (
      select tenant_id, party_id / 1000 as block, count(*) filter (where not archived) as live_rows,
        count(*) as all_rows
      from new_rows
      group by 1, 2
      order by 1, 2
    ) n;
    insert into row_blocks as b (tenant_id, kind, block, live_rows, all_rows)
    select own.tenant_id, 'party', n.block, n.live_rows, n.all_rows
    from (select t.tenant_id from tenants t where t.tenant_id = tenant) own
    cross join unnest(blocks, lives, totals) as n (block, live_rows, all_rows)
    on conflict (tenant_id, kind, block) do update
      set live_rows = b.live_rows + excluded.live_rows, all_rows = b.all_rows + excluded.all_rows;
    return null;
  end if;
  for changed in
    select tenant_id, party_id / 1000 as block, sum(step) as delta
    from (
      select tenant_id, party_id, 1 as step from new_rows where not archived
      union all
      select tenant_id, party_id, -1 from old_rows where not archived
    ) steps
    group by 1, 2
    having sum(step) <> 0
    order by 1, 2
  loop
    update row_blocks set live_rows = live_rows + changed.delta
    where tenant_id = changed.tenant_id and kind = 'party' and block = changed.block;
  end loop;
  return null;
end
$$;

create or replace function count_readings() returns trigger
language plpgsql
as $$
declare
  tenant bigint;
  blocks bigint[];
  lives bigint[];
  totals bigint[];
begin
  select min(n.tenant_id), array_agg(n.block), array_agg(n.live_rows), array_agg(n.all_rows)
  into tenant, blocks, lives, totals
  from (
    select tenant_id, reading_id / 1000 as block, count(*) as live_rows,
      count(*) as all_rows
    from new_rows
    group by 1, 2
    order by 1, 2
  ) n;
  insert into row_blocks as b (tenant_id, kind, block, live_rows, all_rows)
  select own.tenant_id, 'reading', n.block, n.live_rows, n.all_rows
  from (select t.tenant_id from tenants t where t.tenant_id = tenant) own
  cross join unnest(blocks, lives, totals) as n (block, live_rows, all_rows)
  on conflict (tenant_id, kind, block) do update
    set live_rows = b.live_rows + excluded.live_rows, all_rows = b.all_rows + excluded.all_rows;
  return null;
end
$$;

create or replace function count_subscriptions() returns trigger
language plpgsql
as $$
declare
  tenant bigint;
  counted record;
begin
  select min(n.tenant_id) as tenant, array_agg(n.block) as blocks,
    array_agg(n.context_id) as context_ids, array_agg(n.status) as statuses,
    array_agg(n.is_metered) as are_metered, array_agg(n.has_quantities) as have_quantities,
    array_agg(n.amount) as amounts
  into counted
  from (
    select tenant_id, subscription_id / 1000 as block, context_id, status, is_metered,
      has_quantities, count(*) as amount
    from new_rows
    group by 1, 2, 3, 4, 5, 6
    order by 1, 2, 3, 4, 5, 6
  ) n;
  tenant := counted.tenant;
  insert into subscription_counts as c (tenant_id, block, context_id, status, is_metered,
    has_quantities, subscriptions)
  select own.tenant_id, n.block, n.context_id, n.status, n.is_metered, n.has_quantities, n.amount
  from (select t.tenant_id from tenants t where t.tenant_id = tenant) own
  cross join unnest(counted.blocks, counted.context_ids, counted.statuses, counted.are_metered,
    counted.have_quantities, counted.amounts)
    as n (block, context_id, status, is_metered, has_quantities, amount)
  on conflict (tenant_id, block, context_id, status, is_metered, has_quantities)
    do update set subscriptions = c.subscriptions + excluded.subscriptions;
  select array_agg(n.plan_id) as plan_ids, array_agg(n.amount) as amounts into counted
  from (
    select plan_id, count(*) as amount
    from (
      select plan_id from new_rows where status in ('Active', 'Disconnected')
      union all
      select (a ->> 'planId')::bigint
      from new_rows n, jsonb_array_elements(n.add_ons) a
      where n.status in ('Active', 'Disconnected') and a ->> 'toDate' is null
    ) taken
    group by 1
    order by 1
  ) n;
  insert into plan_subscriptions as p (tenant_id, plan_id, subscriptions)
  select own.tenant_id, n.plan_id, n.amount
  from (select t.tenant_id from tenants t where t.tenant_id = tenant) own
  cross join unnest(counted.plan_ids, counted.amounts) as n (plan_id, amount)
  on conflict (tenant_id, plan_id) do update
    set subscriptions = p.subscriptions + excluded.subscriptions;
  return null;
end
$$;

create or replace function queue_documents() returns trigger
language plpgsql
as $$
declare
  tenant bigint;
  kinds text[];
  subject_ids bigint[];
begin
  select min(n.tenant_id), array_agg(n.kind), array_agg(n.subject_id)
  into tenant, kinds, subject_ids
  from (
    select tenant_id, 'CreditNote' as kind, credit_note_id as subject_id from changed
    union all
    select tenant_id, 'Cancelled', bill_id from changed where cancels_bill
  ) n;
  insert into document_queue (tenant_id, kind, subject_id)
  select own.tenant_id, n.kind, n.subject_id
  from (select t.tenant_id from tenants t where t.tenant_id = tenant) own
  cross join unnest(kinds, subject_ids) as n (kind, subject_id)
  on conflict do nothing;
  return null;
end
$$;

create or replace function keep_balances() returns trigger
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
-- A call of one payment keeps its plans: making them anew took longer than the statements.
declare
  tenant bigint;
  journal_ids bigint[];
  found_journals bigint;
  own_journals bigint;
  has_deposits boolean;
  has_party_money boolean;
  subscription_ids bigint[];
  party_ids bigint[];
  amounts bigint[];
  owed_amounts bigint[];
  deposits bigint[];
  disputes bigint[];
  receipts bigint[];
begin
  select min(tenant_id), array_agg(distinct journal_id), bool_or(ledger_account_id in (4, 10)),
    bool_or(ledger_account_id = 3 or subscription_id is null)
  into tenant, journal_ids, has_deposits, has_party_money
  from new_rows;
  if tenant is null then
    return null;
  end if;
  select count(*), count(*) filter (where written_in = pg_current_xact_id())
  into found_journals, own_journals
  from journals where tenant_id = tenant and journal_id = any(journal_ids);
  if found_journals < cardinality(journal_ids) then
    raise exception 'a subledger entry names a journal that does not exist'
      using errcode = 'foreign_key_violation', constraint = 'subledger_entries_journal_fkey';
  end if;
  if own_journals < cardinality(journal_ids) and is_program() then
    raise exception 'lines and entries are written together with their journal'
      using errcode = 'check_violation', constraint = 'journals_written_once';
  end if;
  select array_agg(n.subscription_id), array_agg(n.party_id), array_agg(n.receivable),
    array_agg(n.deposit), array_agg(n.disputed), array_agg(n.received)
  into subscription_ids, party_ids, amounts, deposits, disputes, receipts
  from (
    select subscription_id, party_id,
      coalesce(sum(amount) filter (where ledger_account_id in (2, 1000001)), 0)::bigint
        as receivable,
      coalesce(-sum(amount) filter (where ledger_account_id = 4), 0)::bigint as deposit,
      coalesce(sum(amount) filter (where ledger_account_id = 10), 0)::bigint as disputed,
      coalesce(-sum(amount) filter (where is_payment and ledger_account_id in (2, 1000001)), 0)
        ::bigint as received
    from new_rows
    where subscription_id is not null and ledger_account_id in (2, 4, 10, 1000001)
    group by subscription_id, party_id
    order by subscription_id, party_id
  ) n;
  if subscription_ids is not null then
    insert into subscription_balances as b
      (tenant_id, subscription_id, party_id, receivable, deposit, disputed, received)
    select own.tenant_id, n.subscription_id, n.party_id, n.receivable, n.deposit, n.disputed,
      n.received
    from (select t.tenant_id from tenants t where t.tenant_id = tenant) own
    cross join unnest(subscription_ids, party_ids, amounts, deposits, disputes, receipts)
      as n (subscription_id, party_id, receivable, deposit, disputed, received)
    on conflict (tenant_id, subscription_id, party_id) do update
      set receivable = b.receivable + excluded.receivable,
        deposit = b.deposit + excluded.deposit,
        disputed = b.disputed + excluded.disputed,
        received = b.received + excluded.received;
  end if;
  if has_deposits then
    select array_agg(subscription_id), array_agg(party_id) into subscription_ids, party_ids
    from new_rows where subscription_id is not null and ledger_account_id in (4, 10);
    if exists (
      select from unnest(subscription_ids, party_ids) as n (subscription_id, party_id)
      join subscription_balances b on b.tenant_id = tenant
        and b.subscription_id = n.subscription_id and b.party_id = n.party_id
      where b.deposit < 0 or b.disputed < 0
    ) then
      raise exception 'more deposit is taken than is held'
        using errcode = 'check_violation', constraint = 'subscription_balances_not_negative';
    end if;
  end if;
  if has_party_money then
    select array_agg(party_id), array_agg(paid_ahead), array_agg(owed)
    into party_ids, amounts, owed_amounts
    from (
      select party_id, coalesce(-sum(amount) filter (where ledger_account_id = 3), 0)::bigint
          as paid_ahead,
        coalesce(sum(amount) filter (where ledger_account_id <> 3), 0)::bigint as owed
      from new_rows
      where ledger_account_id = 3 or subscription_id is null
      group by party_id
      order by party_id
    ) moved;
    insert into party_wallets (tenant_id, party_id)
    select own.tenant_id, moved.party_id
    from (select t.tenant_id from tenants t where t.tenant_id = tenant) own
    cross join unnest(party_ids) as moved (party_id)
    on conflict (tenant_id, party_id) do nothing;
    update party_wallets w
    set balance = w.balance + moved.paid_ahead, receivable = w.receivable + moved.owed
    from unnest(party_ids, amounts, owed_amounts) as moved (party_id, paid_ahead, owed)
    where w.tenant_id = tenant and w.party_id = moved.party_id;
  end if;
  return null;
end
$$;
