-- Written by `npm run billwright -- schema`: the result of all migrations. Nothing runs it.

-- tenancy (0001_tenancy.sql)

create extension pg_trgm;

create extension btree_gin;

create extension btree_gist;

CREATE OR REPLACE FUNCTION public.take_role(wanted text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  setting text;
begin
  for setting in
    select unnest(setconfig) from pg_db_role_setting
    where setrole = wanted::regrole and setdatabase = 0
  loop
    perform set_config(split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1), true);
  end loop;
  perform set_config('role', wanted, true);
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.current_tenant()
 RETURNS bigint
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select nullif(current_setting('app.tenant', true), '')::bigint
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.require_tenant()
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
AS $function$
begin
  if current_tenant() is null then
    raise exception 'no tenant is set in this transaction' using errcode = 'insufficient_privilege';
  end if;
  return current_tenant();
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.is_program()
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
AS $function$
begin
  return current_user in ('billwright_api', 'billwright_worker');
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' then
    if is_ending(old.tenant_id) then
      return old;
    end if;
  end if;
  raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$function$
;
-- owned by the owner

-- A workspace: its name and its tenant id. This registry spans tenants and never changes. The API
-- role cannot read it and calls find_workspace() instead.
create table workspaces (
  tenant_id bigint not null,
  workspace text not null,
  created_at timestamp with time zone not null,
  constraint workspaces_name_form CHECK ((workspace ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'::text)),
  constraint workspaces_pkey PRIMARY KEY (tenant_id),
  constraint workspaces_tenant_id_check CHECK ((tenant_id > 0)),
  constraint workspaces_workspace_key UNIQUE (workspace)
);
alter table workspaces disable row level security;
grant select on workspaces to billwright_worker;

CREATE OR REPLACE FUNCTION public.find_workspace(wanted text)
 RETURNS bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select tenant_id from workspaces where workspace = wanted
$function$
;
-- owned by the owner

CREATE OR REPLACE PROCEDURE public.assume_shares(IN table_name regclass)
 LANGUAGE plpgsql
AS $procedure$
begin
  if current_setting('server_version_num')::integer < 180000 then
    return;
  end if;
  execute format('alter table %s alter tenant_id set statistics 0', table_name);
  execute format(
    'select pg_restore_attribute_stats(%L, %L, %L, %L, %L, %L, %L, false, %L, 0::real, '
      '%L, 8::integer, %L, 10::real)',
    'schemaname', 'public', 'relname', (select relname from pg_class where oid = table_name),
    'attname', 'tenant_id', 'inherited', 'null_frac', 'avg_width', 'n_distinct');
end
$procedure$
;
-- owned by the owner

CREATE OR REPLACE PROCEDURE public.wall_off(IN table_name regclass)
 LANGUAGE plpgsql
AS $procedure$
begin
  execute format('alter table %s enable row level security', table_name);
  execute format('alter table %s force row level security', table_name);
  execute format(
    'create policy tenant_wall on %s using (tenant_id = current_tenant())', table_name);
  call assume_shares(table_name);
end
$procedure$
;
-- owned by the owner

CREATE OR REPLACE PROCEDURE public.assume_all_shares()
 LANGUAGE plpgsql
AS $procedure$
declare
  found regclass;
begin
  for found in
    select c.oid::regclass
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and not exists (
        select from pg_stats s
        where s.schemaname = 'public' and s.tablename = c.relname and s.attname = 'tenant_id'
          and s.n_distinct = 10 and s.most_common_vals is null
      )
  loop
    call assume_shares(found);
  end loop;
end
$procedure$
;
-- owned by the owner

-- The settings of a workspace.
create table tenants (
  tenant_id bigint not null,
  status text not null default 'Active'::text,
  name text not null,
  timezone text not null,
  currency text not null,
  currency_decimals smallint not null,
  country text not null,
  locale text not null,
  connection_number_format text not null,
  bill_number_format text not null,
  delivery_channels text[] not null,
  letterhead jsonb not null,
  reminders jsonb not null,
  -- The name in the sender of mails, and where replies go: {name, replyTo}. The address of the
  -- sender is that of the server.
  mail_sender jsonb not null default '{}'::jsonb,
  access_token_seconds integer,
  idle_seconds integer,
  sandbox boolean not null,
  -- How far the clock of a sandbox is ahead of the machine.
  clock_offset_ms bigint not null default 0,
  -- Changes with everything that decides the rights of callers in the workspace. A process may keep
  -- what it knows of a token until this changes.
  access_epoch bigint not null default 1,
  created_at timestamp with time zone not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  -- If true, the operator that generated the bills of a term may not post them.
  separates_duties boolean not null default false,
  -- Refunds and write-offs above it need a second person. In minor units; null if none do.
  approval_limit bigint,
  -- Files of documents are deleted when so many years have passed since the end of the year in
  -- which they were published.
  document_retention_years smallint not null default 10,
  -- Whether receipts are mailed, and by which template: {templateID}. Null: they are not.
  receipt_mail jsonb,
  -- The address of the web pages of the workspace, such as https://demo.example.com. Mails name it;
  -- it is set, never taken from a request. Null: no mail has a link.
  portal_address text,
  -- {format, vatID, street, city, postalCode, vat, untaxed}: bills and credit notes are published
  -- as e-invoices too, beside the PDF (UBL) or inside it (FacturX). Null: they are not.
  e_invoice jsonb,
  -- Whether each opening of the details of a party is kept in the audit trail.
  logs_party_reads boolean not null default false,
  constraint tenants_access_token_seconds_check CHECK (((access_token_seconds >= 900) AND (access_token_seconds <= 86400))),
  constraint tenants_approval_limit_check CHECK ((approval_limit >= 0)),
  constraint tenants_check CHECK ((sandbox OR (clock_offset_ms = 0))),
  constraint tenants_clock_offset_ms_check CHECK ((clock_offset_ms >= 0)),
  constraint tenants_country_check CHECK ((country ~ '^[A-Z]{2}$'::text)),
  constraint tenants_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint tenants_currency_decimals_check CHECK (((currency_decimals >= 0) AND (currency_decimals <= 4))),
  constraint tenants_document_retention_years_check CHECK (((document_retention_years >= 1) AND (document_retention_years <= 100))),
  constraint tenants_e_invoice_check CHECK ((jsonb_typeof(e_invoice) = 'object'::text)),
  constraint tenants_idle_seconds_check CHECK ((idle_seconds > 0)),
  constraint tenants_pkey PRIMARY KEY (tenant_id),
  constraint tenants_portal_address_check CHECK ((portal_address ~ '^https?://[^/\s]+$'::text)),
  constraint tenants_receipt_mail_check CHECK ((jsonb_typeof(receipt_mail) = 'object'::text)),
  constraint tenants_status_check CHECK ((status = ANY (ARRAY['Active'::text, 'Suspended'::text]))),
  constraint tenants_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES workspaces(tenant_id)
);
CREATE TRIGGER tenants_access_epoch BEFORE UPDATE ON public.tenants FOR EACH ROW EXECUTE FUNCTION advance_own_access_epoch();
CREATE TRIGGER tenants_clock_moved AFTER UPDATE ON public.tenants FOR EACH ROW WHEN (((old.clock_offset_ms <> new.clock_offset_ms) OR (old.status <> new.status))) EXECUTE FUNCTION note_moved_clock();
alter table tenants enable row level security, force row level security;
create policy tenant_wall on tenants as permissive for all using ((tenant_id = current_tenant()));
grant select, update on tenants to billwright_api;
grant select on tenants to billwright_worker;

CREATE OR REPLACE FUNCTION public.advance_own_access_epoch()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.access_epoch := old.access_epoch + 1;
  return new;
end
$function$
;
-- owned by the owner

-- The last number given in a series of a tenant. Ids and numbers that people see come from here,
-- never from a sequence that tenants share.
create table counters (
  tenant_id bigint not null,
  series text not null,
  last_number bigint not null,
  constraint counters_last_number_check CHECK ((last_number >= 0)),
  constraint counters_pkey PRIMARY KEY (tenant_id, series),
  constraint counters_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
alter table counters enable row level security, force row level security;
create policy tenant_wall on counters as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on counters to billwright_api;
grant insert, select, update on counters to billwright_worker;

-- The count of rows in a block of 1,000 ids, kept by triggers. A list knows its total, and the page
-- at any depth, from these few rows instead of walking a million index entries.
create table row_blocks (
  tenant_id bigint not null,
  -- party, meter or reading.
  kind text not null,
  block bigint not null,
  -- Parties that are not archived, meters that are installed, all readings.
  live_rows integer not null,
  all_rows integer not null,
  constraint row_blocks_check CHECK ((all_rows >= live_rows)),
  constraint row_blocks_live_rows_check CHECK ((live_rows >= 0)),
  constraint row_blocks_pkey PRIMARY KEY (tenant_id, kind, block),
  constraint row_blocks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
alter table row_blocks enable row level security, force row level security;
create policy tenant_wall on row_blocks as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on row_blocks to billwright_api;
grant insert, select, update on row_blocks to billwright_worker;

-- A length of time that is billed at once, such as a month or a quarter.
create table billing_periods (
  tenant_id bigint not null,
  period_id bigint not null,
  name text not null,
  unit text not null,
  unit_count integer not null,
  anchor_day smallint,
  -- The length in months.
  months numeric not null,
  description text,
  constraint billing_periods_anchor_day_check CHECK (((anchor_day >= 1) AND (anchor_day <= 31))),
  constraint billing_periods_months_check CHECK ((months >= (0)::numeric)),
  constraint billing_periods_pkey PRIMARY KEY (tenant_id, period_id),
  constraint billing_periods_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint billing_periods_unit_check CHECK ((unit = ANY (ARRAY['Day'::text, 'Week'::text, 'Month'::text, 'Year'::text, 'Once'::text]))),
  constraint billing_periods_unit_count_check CHECK ((unit_count > 0))
);
CREATE UNIQUE INDEX billing_periods_name_key ON public.billing_periods USING btree (tenant_id, lower(name));
alter table billing_periods enable row level security, force row level security;
create policy tenant_wall on billing_periods as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on billing_periods to billwright_api;
grant select on billing_periods to billwright_worker;

-- access (0002_access.sql)

-- A person who can sign in with a password.
create table logins (
  tenant_id bigint not null,
  login_id bigint not null,
  username text not null,
  email text,
  name text not null,
  password_hash text not null,
  roles text[] not null,
  party_id bigint,
  status text not null default 'ACTIVE'::text,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  constraint logins_pkey PRIMARY KEY (tenant_id, login_id),
  constraint logins_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'INACTIVE'::text]))),
  constraint logins_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint logins_tenant_id_party_id_fkey FOREIGN KEY (tenant_id, party_id) REFERENCES parties(tenant_id, party_id)
);
CREATE INDEX logins_party ON public.logins USING btree (tenant_id, party_id) WHERE (party_id IS NOT NULL);
CREATE TRIGGER logins_access_epoch AFTER UPDATE ON public.logins FOR EACH ROW EXECUTE FUNCTION advance_access_epoch();
alter table logins enable row level security, force row level security;
create policy tenant_wall on logins as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on logins to billwright_api;

-- A name that a login signs in with: its user name or its e-mail address. Both share one set of
-- names, so that a name belongs to one login.
create table login_names (
  tenant_id bigint not null,
  name text not null,
  login_id bigint not null,
  constraint login_names_taken PRIMARY KEY (tenant_id, name),
  constraint login_names_tenant_id_login_id_fkey FOREIGN KEY (tenant_id, login_id) REFERENCES logins(tenant_id, login_id)
);
CREATE INDEX login_names_login ON public.login_names USING btree (tenant_id, login_id);
alter table login_names enable row level security, force row level security;
create policy tenant_wall on login_names as permissive for all using ((tenant_id = current_tenant()));
grant delete, insert, select on login_names to billwright_api;

-- A machine client that signs in with a secret.
create table clients (
  tenant_id bigint not null,
  client_number bigint not null,
  client_id text not null,
  secret_hash text not null,
  roles text[] not null,
  expires_at timestamp with time zone,
  allowed_addresses text[] not null default '{}'::text[],
  status text not null default 'ACTIVE'::text,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  constraint clients_client_id_key UNIQUE (tenant_id, client_id),
  constraint clients_pkey PRIMARY KEY (tenant_id, client_number),
  constraint clients_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'INACTIVE'::text]))),
  constraint clients_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE TRIGGER clients_access_epoch AFTER UPDATE ON public.clients FOR EACH ROW EXECUTE FUNCTION advance_access_epoch();
alter table clients enable row level security, force row level security;
create policy tenant_wall on clients as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on clients to billwright_api;

-- One sign-in of a login or a client, with the family of all tokens that were issued from it.
create table sessions (
  tenant_id bigint not null,
  session_id uuid not null,
  login_id bigint,
  client_number bigint,
  address text not null,
  created_at timestamp with time zone not null,
  used_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  revoked_reason text,
  constraint sessions_check CHECK ((num_nonnulls(login_id, client_number) = 1)),
  constraint sessions_pkey PRIMARY KEY (tenant_id, session_id),
  constraint sessions_tenant_id_client_number_fkey FOREIGN KEY (tenant_id, client_number) REFERENCES clients(tenant_id, client_number),
  constraint sessions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint sessions_tenant_id_login_id_fkey FOREIGN KEY (tenant_id, login_id) REFERENCES logins(tenant_id, login_id)
);
CREATE INDEX sessions_client ON public.sessions USING btree (tenant_id, client_number) WHERE (revoked_at IS NULL);
CREATE INDEX sessions_login ON public.sessions USING btree (tenant_id, login_id) WHERE (revoked_at IS NULL);
CREATE TRIGGER sessions_access_epoch AFTER UPDATE ON public.sessions FOR EACH ROW WHEN ((old.revoked_at IS DISTINCT FROM new.revoked_at)) EXECUTE FUNCTION advance_access_epoch();
alter table sessions enable row level security, force row level security;
create policy tenant_wall on sessions as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on sessions to billwright_api;
grant delete, select on sessions to billwright_worker;

-- An access or refresh token of a session, stored as a hash.
create table tokens (
  tenant_id bigint not null,
  token_hash bytea not null,
  session_id uuid not null,
  kind text not null,
  expires_at timestamp with time zone not null,
  spent_at timestamp with time zone,
  -- Of a refresh token that came as a cookie: the tokens that replaced it, encrypted with it. A
  -- second tab that sends the old cookie within seconds gets the same ones.
  successor bytea,
  constraint tokens_kind_check CHECK ((kind = ANY (ARRAY['access'::text, 'refresh'::text]))),
  constraint tokens_pkey PRIMARY KEY (tenant_id, token_hash),
  constraint tokens_tenant_id_session_id_fkey FOREIGN KEY (tenant_id, session_id) REFERENCES sessions(tenant_id, session_id) ON DELETE CASCADE,
  constraint tokens_token_hash_check CHECK ((octet_length(token_hash) = 32))
);
CREATE INDEX tokens_expiry ON public.tokens USING btree (tenant_id, expires_at);
CREATE INDEX tokens_session ON public.tokens USING btree (tenant_id, session_id);
CREATE TRIGGER tokens_access_epoch AFTER UPDATE ON public.tokens FOR EACH ROW WHEN (((old.spent_at IS DISTINCT FROM new.spent_at) OR (old.expires_at IS DISTINCT FROM new.expires_at))) EXECUTE FUNCTION advance_access_epoch();
alter table tokens enable row level security, force row level security;
create policy tenant_wall on tokens as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on tokens to billwright_api;
grant delete, select on tokens to billwright_worker;

CREATE OR REPLACE FUNCTION public.advance_access_epoch()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update tenants set access_epoch = access_epoch + 1 where tenant_id = new.tenant_id;
  return null;
end
$function$
;
-- owned by the owner

-- Failed sign-ins by the name that was tried, whether or not the name exists: the reply to a wrong
-- name must not differ from the reply to a wrong password.
create table login_failures (
  tenant_id bigint not null,
  name_hash bytea not null,
  failures integer not null,
  failed_at timestamp with time zone not null,
  locked_until timestamp with time zone,
  constraint login_failures_failures_check CHECK ((failures > 0)),
  constraint login_failures_name_hash_check CHECK ((octet_length(name_hash) = 32)),
  constraint login_failures_pkey PRIMARY KEY (tenant_id, name_hash),
  constraint login_failures_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
alter table login_failures enable row level security, force row level security;
create policy tenant_wall on login_failures as permissive for all using ((tenant_id = current_tenant()));
grant delete, insert, select, update on login_failures to billwright_api;
grant delete, insert, select, update on login_failures to billwright_worker;

-- A call that was made with an Idempotency-Key, and its reply.
create table idempotency_keys (
  tenant_id bigint not null,
  principal text not null,
  idempotency_key text not null,
  request_hash bytea not null,
  headers jsonb not null,
  body text not null,
  expires_at timestamp with time zone not null,
  constraint idempotency_keys_idempotency_key_check CHECK (((length(idempotency_key) >= 1) AND (length(idempotency_key) <= 255))),
  constraint idempotency_keys_pkey PRIMARY KEY (tenant_id, principal, idempotency_key),
  constraint idempotency_keys_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE INDEX idempotency_keys_expiry ON public.idempotency_keys USING btree (tenant_id, expires_at);
alter table idempotency_keys enable row level security, force row level security;
create policy tenant_wall on idempotency_keys as permissive for all using ((tenant_id = current_tenant()));
grant delete, insert, select on idempotency_keys to billwright_api;
grant delete, insert, select on idempotency_keys to billwright_worker;

CREATE OR REPLACE FUNCTION public.enter_tenant(wanted_tenant bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  found_epoch bigint;
begin
  perform set_tenant(wanted_tenant::text);
  select access_epoch into found_epoch from tenants where tenant_id = wanted_tenant;
  return found_epoch;
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.enter_call(wanted_tenant bigint, wanted_hash bytea)
 RETURNS TABLE(access_epoch bigint, tenant_status text, timezone text, currency text, currency_decimals smallint, clock_offset_ms bigint, idle_seconds integer, token_expires_at timestamp with time zone, token_spent_at timestamp with time zone, session_id uuid, session_used_at timestamp with time zone, session_revoked_at timestamp with time zone, principal_kind text, principal_id bigint, principal_name text, principal_status text, principal_expires_at timestamp with time zone, roles text[], party_id bigint, allowed_addresses text[])
 LANGUAGE plpgsql
AS $function$
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
$function$
;
-- owned by the owner

-- parties (0003_parties.sql)

-- A person or a company: customer, employee or vendor.
create table parties (
  tenant_id bigint not null,
  party_id bigint not null,
  party_number bigint not null,
  kind text not null,
  name text not null,
  email text,
  country text,
  contacts jsonb not null default '[]'::jsonb,
  identity_number text,
  tax_number text,
  address jsonb,
  language text,
  competencies jsonb not null default '[]'::jsonb,
  portal_status text not null default 'NONE'::text,
  archived boolean not null default false,
  -- The first line is the name.
  search_text text not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  -- The channels by which the party wants its bills. Null: those of the workspace.
  delivery_channels text[],
  -- The local date on which the personal data of the party was erased. The party stays archived.
  erased_on date,
  constraint parties_competencies_check CHECK ((jsonb_typeof(competencies) = 'array'::text)),
  constraint parties_contacts_check CHECK ((jsonb_typeof(contacts) = 'array'::text)),
  constraint parties_country_check CHECK ((country ~ '^[A-Z]{2}$'::text)),
  constraint parties_delivery_channels_check CHECK (((delivery_channels <@ '{Email,SMS,WhatsApp,Portal,Print,Webhook}'::text[]) AND (cardinality(delivery_channels) > 0))),
  constraint parties_kind_check CHECK ((kind = ANY (ARRAY['Customer'::text, 'Employee'::text, 'Vendor'::text]))),
  constraint parties_name_check CHECK ((name <> ''::text)),
  constraint parties_party_number_key UNIQUE (tenant_id, party_number),
  constraint parties_pkey PRIMARY KEY (tenant_id, party_id),
  constraint parties_portal_status_check CHECK ((portal_status = ANY (ARRAY['NONE'::text, 'INVITED'::text, 'ACTIVE'::text, 'LOCKED'::text, 'INACTIVE'::text]))),
  constraint parties_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE INDEX parties_beginning ON public.parties USING btree (tenant_id, "left"(search_text, 60), party_id);
CREATE INDEX parties_contacts ON public.parties USING gin (tenant_id, contacts jsonb_path_ops);
CREATE INDEX parties_email ON public.parties USING btree (tenant_id, lower(email)) WHERE (email IS NOT NULL);
CREATE INDEX parties_name ON public.parties USING btree (tenant_id, name, party_id);
CREATE INDEX parties_search ON public.parties USING gin (tenant_id, search_text gin_trgm_ops);
CREATE INDEX parties_updated ON public.parties USING btree (tenant_id, ts, party_id);
CREATE TRIGGER parties_counted_on_insert AFTER INSERT ON public.parties REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_parties();
CREATE TRIGGER parties_counted_on_update AFTER UPDATE ON public.parties REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_parties();
CREATE TRIGGER parties_stay_erased BEFORE UPDATE ON public.parties FOR EACH ROW WHEN ((old.erased_on IS NOT NULL)) EXECUTE FUNCTION keep_erased();
alter table parties enable row level security, force row level security;
create policy tenant_wall on parties as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on parties to billwright_api;
grant select on parties to billwright_search;
grant select on parties to billwright_worker;
grant update (ts) on parties to billwright_worker;

CREATE OR REPLACE FUNCTION public.count_parties()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;
-- owned by the owner

-- A group of billing accounts.
create table billing_groups (
  tenant_id bigint not null,
  billing_group_id bigint not null,
  name text not null,
  description text,
  billing_period_id bigint,
  archived boolean not null default false,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  constraint billing_groups_name_check CHECK ((name <> ''::text)),
  constraint billing_groups_period_fkey FOREIGN KEY (tenant_id, billing_period_id) REFERENCES billing_periods(tenant_id, period_id),
  constraint billing_groups_pkey PRIMARY KEY (tenant_id, billing_group_id),
  constraint billing_groups_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE UNIQUE INDEX billing_groups_name_key ON public.billing_groups USING btree (tenant_id, lower(name));
alter table billing_groups enable row level security, force row level security;
create policy tenant_wall on billing_groups as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on billing_groups to billwright_api;
grant select on billing_groups to billwright_worker;

-- What the subscriptions of a party are grouped in for billing.
create table billing_accounts (
  tenant_id bigint not null,
  account_id bigint not null,
  party_id bigint not null,
  label text not null,
  billing_group_id bigint,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  constraint billing_accounts_label_check CHECK ((label <> ''::text)),
  constraint billing_accounts_label_key UNIQUE (tenant_id, party_id, label) DEFERRABLE,
  constraint billing_accounts_pkey PRIMARY KEY (tenant_id, account_id),
  constraint billing_accounts_tenant_id_billing_group_id_fkey FOREIGN KEY (tenant_id, billing_group_id) REFERENCES billing_groups(tenant_id, billing_group_id),
  constraint billing_accounts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint billing_accounts_tenant_id_party_id_fkey FOREIGN KEY (tenant_id, party_id) REFERENCES parties(tenant_id, party_id)
);
CREATE INDEX billing_accounts_group ON public.billing_accounts USING btree (tenant_id, billing_group_id, account_id) WHERE (billing_group_id IS NOT NULL);
CREATE INDEX billing_accounts_label ON public.billing_accounts USING btree (tenant_id, label);
alter table billing_accounts enable row level security, force row level security;
create policy tenant_wall on billing_accounts as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on billing_accounts to billwright_api;
grant select on billing_accounts to billwright_worker;

CREATE OR REPLACE FUNCTION public.search_parties(pattern text, name_pattern text, wanted_kind text, with_archived boolean)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER ROWS 100
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select party_id
  from parties
  where tenant_id = require_tenant()
    and search_text like pattern
    and (name_pattern is null or split_part(search_text, E'\n', 1) like name_pattern)
    and (wanted_kind is null or kind = wanted_kind)
    and (with_archived or not archived);
$function$
;
-- owned by billwright_search

CREATE OR REPLACE FUNCTION public.scan_parties(pattern text, name_pattern text, wanted_kind text, with_archived boolean)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER ROWS 100000
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select party_id
  from parties
  where tenant_id = require_tenant()
    and search_text || '' like pattern
    and (name_pattern is null or split_part(search_text, E'\n', 1) like name_pattern)
    and (wanted_kind is null or kind = wanted_kind)
    and (with_archived or not archived);
$function$
;
-- owned by billwright_search

CREATE OR REPLACE FUNCTION public.find_parties_by_email(wanted text)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER ROWS 1
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select party_id
  from parties
  where tenant_id = require_tenant()
    and lower(email) = lower(wanted);
$function$
;
-- owned by billwright_search

CREATE OR REPLACE FUNCTION public.find_parties_by_contact(wanted text)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER ROWS 5
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select party_id
  from parties
  where tenant_id = require_tenant()
    and contacts @> jsonb_build_array(jsonb_build_object('contactValue', wanted));
$function$
;
-- owned by billwright_search

-- pricing (0004_pricing.sql)

-- A template of a bill or of a message, with the number of its newest version.
create table templates (
  tenant_id bigint not null,
  template_id bigint not null,
  kind text not null,
  -- The newest version.
  version integer not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  constraint templates_kind_check CHECK ((kind = ANY (ARRAY['Invoice'::text, 'Email'::text, 'SMS'::text]))),
  constraint templates_pkey PRIMARY KEY (tenant_id, template_id),
  constraint templates_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint templates_version_check CHECK ((version > 0))
);
alter table templates enable row level security, force row level security;
create policy tenant_wall on templates as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on templates to billwright_api;
grant select on templates to billwright_worker;

-- A saved version of a template. Rows are never changed: a change is a further version.
create table template_versions (
  tenant_id bigint not null,
  template_id bigint not null,
  version integer not null,
  name text not null,
  language text not null,
  subject text,
  body text not null,
  -- The same text in other languages: [{language, subject, body}].
  translations jsonb not null default '[]'::jsonb,
  -- Labels of the bill are printed in this language too.
  second_language text,
  amount_in_words boolean not null default false,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint template_versions_name_check CHECK ((name <> ''::text)),
  constraint template_versions_pkey PRIMARY KEY (tenant_id, template_id, version),
  constraint template_versions_second_language_check CHECK ((second_language = ANY (ARRAY['en'::text, 'ur'::text, 'ar'::text, 'hi'::text]))),
  constraint template_versions_tenant_id_template_id_fkey FOREIGN KEY (tenant_id, template_id) REFERENCES templates(tenant_id, template_id),
  constraint template_versions_translations_check CHECK ((jsonb_typeof(translations) = 'array'::text)),
  constraint template_versions_version_check CHECK ((version > 0))
);
CREATE TRIGGER template_versions_append_only BEFORE DELETE OR UPDATE ON public.template_versions FOR EACH ROW EXECUTE FUNCTION refuse_change();
alter table template_versions enable row level security, force row level security;
create policy tenant_wall on template_versions as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on template_versions to billwright_api;
grant select on template_versions to billwright_worker;

CREATE OR REPLACE PROCEDURE public.add_default_templates(IN wanted_tenant bigint, IN at timestamp with time zone, IN by_name text)
 LANGUAGE sql
AS $procedure$
  insert into templates (tenant_id, template_id, kind, version,
    created_at, created_by, modified_at, modified_by, ts)
  values
    (wanted_tenant, 1, 'Invoice', 1, at, by_name, at, by_name, floor(extract(epoch from at) * 1000)),
    (wanted_tenant, 2, 'Email', 1, at, by_name, at, by_name, floor(extract(epoch from at) * 1000));
  insert into template_versions (tenant_id, template_id, version, name, language, subject, body,
    translations, created_at, created_by)
  values
    (wanted_tenant, 1, 1, 'Bill', 'en', null,
      E'Please quote the reference {{bill.billRefNo}} with your payment.\n'
      || E'Payments that came in after this bill was drawn up are shown on the next one.\n',
      jsonb_build_array(
        jsonb_build_object('language', 'ur', 'subject', null, 'body',
          E'ادائیگی کے ساتھ حوالہ نمبر {{bill.billRefNo}} ضرور لکھیں۔\n'
          || E'اس بل کی تیاری کے بعد ملنے والی رقوم اگلے بل میں دکھائی جائیں گی۔\n'),
        jsonb_build_object('language', 'ar', 'subject', null, 'body',
          E'يرجى ذكر المرجع {{bill.billRefNo}} عند الدفع.\n'
          || E'تظهر المدفوعات الواردة بعد إعداد هذه الفاتورة في الفاتورة التالية.\n'),
        jsonb_build_object('language', 'hi', 'subject', null, 'body',
          E'कृपया भुगतान के साथ संदर्भ {{bill.billRefNo}} लिखें।\n'
          || E'इस बिल के बनने के बाद मिले भुगतान अगले बिल में दिखाए जाएँगे।\n')
      ),
      at, by_name),
    (wanted_tenant, 2, 1, 'Bill by e-mail', 'en', 'Your bill {{bill.billNumber}}',
      E'Dear {{bill.partyName}},\n\nyour bill {{bill.billNumber}} of {{bill.termLabel}} is attached. '
      || E'Please pay {{bill.payableWithinDueDate}} {{bill.currency}} by {{bill.dueDate}}.\n',
      '[]', at, by_name);
  insert into counters (tenant_id, series, last_number) values (wanted_tenant, 'template', 2);
$procedure$
;
-- owned by the owner

-- A pricing context: a service with its inputs, components and rules. The columns show its newest
-- version.
create table pricing_contexts (
  tenant_id bigint not null,
  context_id bigint not null,
  code text not null,
  name text not null,
  context_type text not null,
  charging_type text not null,
  post_type text not null,
  billing_period_id bigint not null,
  due_date_offset integer not null,
  bills_after_period boolean not null,
  settlement_method text not null,
  cash_account_id bigint not null,
  business_unit_id bigint not null,
  -- In minor units.
  security_deposit bigint,
  description text not null,
  required_documents jsonb,
  template_id bigint not null,
  email_template_id bigint,
  archived boolean not null default false,
  -- The newest version.
  version integer not null,
  -- Counts every change of the context or one of its plans. A call that saves one of them locks
  -- this row, so that two changes are never checked past each other. Compiled prices are cached by
  -- it.
  book_version bigint not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  -- The days that customers have at least between the posting of a bill and its due date.
  minimum_days_to_pay integer not null default 7,
  constraint pricing_contexts_book_version_check CHECK ((book_version > 0)),
  constraint pricing_contexts_charging_type_check CHECK ((charging_type = ANY (ARRAY['Postpaid'::text, 'Prepaid'::text]))),
  constraint pricing_contexts_code_check CHECK ((code ~ '^[A-Z0-9][A-Z0-9_-]{0,31}$'::text)),
  constraint pricing_contexts_code_key UNIQUE (tenant_id, code),
  constraint pricing_contexts_context_type_check CHECK ((context_type = ANY (ARRAY['Sale'::text, 'Purchase'::text, 'Payroll'::text]))),
  constraint pricing_contexts_due_date_offset_check CHECK (((due_date_offset >= 0) AND (due_date_offset <= 365))),
  constraint pricing_contexts_email_template_fkey FOREIGN KEY (tenant_id, email_template_id) REFERENCES templates(tenant_id, template_id),
  constraint pricing_contexts_minimum_days_to_pay_check CHECK (((minimum_days_to_pay >= 0) AND (minimum_days_to_pay <= 90))),
  constraint pricing_contexts_name_check CHECK ((name <> ''::text)),
  constraint pricing_contexts_period_fkey FOREIGN KEY (tenant_id, billing_period_id) REFERENCES billing_periods(tenant_id, period_id),
  constraint pricing_contexts_pkey PRIMARY KEY (tenant_id, context_id),
  constraint pricing_contexts_post_type_check CHECK ((post_type = ANY (ARRAY['Post Subscription'::text, 'Post Account'::text, 'Post Party'::text]))),
  constraint pricing_contexts_required_documents_check CHECK ((jsonb_typeof(required_documents) = 'array'::text)),
  constraint pricing_contexts_security_deposit_check CHECK ((security_deposit >= 0)),
  constraint pricing_contexts_template_fkey FOREIGN KEY (tenant_id, template_id) REFERENCES templates(tenant_id, template_id),
  constraint pricing_contexts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint pricing_contexts_version_check CHECK ((version > 0))
);
alter table pricing_contexts enable row level security, force row level security;
create policy tenant_wall on pricing_contexts as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on pricing_contexts to billwright_api;
grant select on pricing_contexts to billwright_worker;
grant update (ts) on pricing_contexts to billwright_worker;

-- A saved version of a pricing context. Rows are never changed: a change is a further version.
create table pricing_context_versions (
  tenant_id bigint not null,
  context_id bigint not null,
  version integer not null,
  -- Null for the first version, which applies from the beginning of time.
  effective_date date,
  definition jsonb not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint pricing_context_versions_check CHECK (((effective_date IS NULL) = (version = 1))),
  constraint pricing_context_versions_definition_check CHECK ((jsonb_typeof(definition) = 'object'::text)),
  constraint pricing_context_versions_pkey PRIMARY KEY (tenant_id, context_id, version),
  constraint pricing_context_versions_tenant_id_context_id_fkey FOREIGN KEY (tenant_id, context_id) REFERENCES pricing_contexts(tenant_id, context_id),
  constraint pricing_context_versions_version_check CHECK ((version > 0))
);
CREATE TRIGGER pricing_context_versions_append_only BEFORE DELETE OR UPDATE ON public.pricing_context_versions FOR EACH ROW EXECUTE FUNCTION refuse_change();
alter table pricing_context_versions enable row level security, force row level security;
create policy tenant_wall on pricing_context_versions as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on pricing_context_versions to billwright_api;
grant select on pricing_context_versions to billwright_worker;

-- A batch of a pricing context: the subscriptions that are billed together.
create table batches (
  tenant_id bigint not null,
  batch_id bigint not null,
  context_id bigint not null,
  code text not null,
  label text not null,
  description text,
  billing_period_id bigint,
  reading_day smallint,
  billing_day smallint,
  archived boolean not null default false,
  constraint batches_billing_day_check CHECK (((billing_day >= 1) AND (billing_day <= 31))),
  constraint batches_code_check CHECK ((code <> ''::text)),
  constraint batches_code_key UNIQUE (tenant_id, context_id, code),
  constraint batches_period_fkey FOREIGN KEY (tenant_id, billing_period_id) REFERENCES billing_periods(tenant_id, period_id),
  constraint batches_pkey PRIMARY KEY (tenant_id, batch_id),
  constraint batches_reading_day_check CHECK (((reading_day >= 1) AND (reading_day <= 31))),
  constraint batches_tenant_id_context_id_fkey FOREIGN KEY (tenant_id, context_id) REFERENCES pricing_contexts(tenant_id, context_id),
  constraint batches_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
alter table batches enable row level security, force row level security;
create policy tenant_wall on batches as permissive for all using ((tenant_id = current_tenant()));
grant delete, insert, select, update on batches to billwright_api;
grant select on batches to billwright_worker;

-- A bank account that customers of a pricing context pay into.
create table bank_accounts (
  tenant_id bigint not null,
  bank_account_id bigint not null,
  context_id bigint not null,
  title text not null,
  bank_name text,
  branch text,
  account_number text,
  iban text,
  swift text,
  currency text,
  is_default boolean not null,
  collection_code text,
  payment_code jsonb,
  archived boolean not null default false,
  constraint bank_accounts_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
  constraint bank_accounts_payment_code_check CHECK ((jsonb_typeof(payment_code) = 'object'::text)),
  constraint bank_accounts_pkey PRIMARY KEY (tenant_id, bank_account_id),
  constraint bank_accounts_tenant_id_context_id_fkey FOREIGN KEY (tenant_id, context_id) REFERENCES pricing_contexts(tenant_id, context_id),
  constraint bank_accounts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint bank_accounts_title_check CHECK ((title <> ''::text)),
  constraint bank_accounts_title_key UNIQUE (tenant_id, context_id, title) DEFERRABLE
);
alter table bank_accounts enable row level security, force row level security;
create policy tenant_wall on bank_accounts as permissive for all using ((tenant_id = current_tenant()));
grant delete, insert, select, update on bank_accounts to billwright_api;
grant select on bank_accounts to billwright_worker;

-- A plan: prices and formulas in a pricing context. The columns show its newest version.
create table plans (
  tenant_id bigint not null,
  plan_id bigint not null,
  context_id bigint not null,
  code text not null,
  name text not null,
  unique_label text not null,
  description text,
  -- Of the newest version.
  parent_plan_id bigint,
  plan_type text not null,
  abstract boolean not null,
  custom boolean not null,
  visibility text not null,
  billing_period_id bigint,
  archived boolean not null default false,
  -- The newest version.
  version integer not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  constraint plans_check CHECK ((parent_plan_id <> plan_id)),
  constraint plans_code_check CHECK ((code <> ''::text)),
  constraint plans_code_key UNIQUE (tenant_id, context_id, code),
  constraint plans_name_check CHECK ((name <> ''::text)),
  constraint plans_parent_fkey FOREIGN KEY (tenant_id, parent_plan_id) REFERENCES plans(tenant_id, plan_id),
  constraint plans_period_fkey FOREIGN KEY (tenant_id, billing_period_id) REFERENCES billing_periods(tenant_id, period_id),
  constraint plans_pkey PRIMARY KEY (tenant_id, plan_id),
  constraint plans_plan_type_check CHECK ((plan_type = ANY (ARRAY['BASE_PLAN'::text, 'ADDON_PLAN'::text, 'ONE_TIME_PLAN'::text]))),
  constraint plans_tenant_id_context_id_fkey FOREIGN KEY (tenant_id, context_id) REFERENCES pricing_contexts(tenant_id, context_id),
  constraint plans_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint plans_unique_label_check CHECK ((unique_label <> ''::text)),
  constraint plans_unique_label_key UNIQUE (tenant_id, unique_label),
  constraint plans_version_check CHECK ((version > 0)),
  constraint plans_visibility_check CHECK ((visibility = ANY (ARRAY['Public'::text, 'Private'::text, 'Hidden'::text])))
);
CREATE INDEX plans_code ON public.plans USING btree (tenant_id, code);
CREATE INDEX plans_parent ON public.plans USING btree (tenant_id, parent_plan_id) WHERE (parent_plan_id IS NOT NULL);
alter table plans enable row level security, force row level security;
create policy tenant_wall on plans as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on plans to billwright_api;
grant select on plans to billwright_worker;

-- A saved version of a plan. Rows are never changed: a change is a further version.
create table plan_versions (
  tenant_id bigint not null,
  plan_id bigint not null,
  version integer not null,
  -- Null for the first version, which applies from the beginning of time.
  effective_date date,
  definition jsonb not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint plan_versions_check CHECK (((effective_date IS NULL) = (version = 1))),
  constraint plan_versions_definition_check CHECK ((jsonb_typeof(definition) = 'object'::text)),
  constraint plan_versions_pkey PRIMARY KEY (tenant_id, plan_id, version),
  constraint plan_versions_tenant_id_plan_id_fkey FOREIGN KEY (tenant_id, plan_id) REFERENCES plans(tenant_id, plan_id),
  constraint plan_versions_version_check CHECK ((version > 0))
);
CREATE TRIGGER plan_versions_append_only BEFORE DELETE OR UPDATE ON public.plan_versions FOR EACH ROW EXECUTE FUNCTION refuse_change();
alter table plan_versions enable row level security, force row level security;
create policy tenant_wall on plan_versions as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on plan_versions to billwright_api;
grant select on plan_versions to billwright_worker;

-- subscriptions (0005_subscriptions.sql)

-- One supply or service that is billed. Its histories are JSON in the same row, with dates as
-- YYYY-MM-DD, so that a bill run reads one row for each bill. A fromDate is the first day on which
-- an item applies, a toDate the first on which it no longer does.
create table subscriptions (
  tenant_id bigint not null,
  subscription_id bigint not null,
  subscription_number text not null,
  reference_number text,
  context_id bigint not null,
  -- The newest of plan_history.
  plan_id bigint not null,
  batch_id bigint not null,
  account_id bigint not null,
  -- The owner.
  party_id bigint not null,
  -- As of today.
  status text not null,
  -- The day of the next change in status_history; the daily job waits for it.
  next_change_date date,
  -- The first day of service.
  connection_date date not null,
  disconnection_kind text,
  -- The last billed day. Null after a bulk load: the first term sets it.
  billed_through date,
  -- True if a metered input is bound to a meter.
  is_metered boolean not null default false,
  -- True if the subscription has quantities of its own.
  has_quantities boolean not null default false,
  description text,
  payment_method text,
  project_name text,
  address jsonb,
  -- City, block and society of the address, for filters: a plain comparison can use an index under
  -- row-level security.
  city text generated always as (lower((address ->> 'city'::text))) stored,
  block text generated always as (lower((address ->> 'block'::text))) stored,
  society text generated always as (lower((address ->> 'society'::text))) stored,
  -- [{planId, fromDate}], the first from the connection date.
  plan_history jsonb not null,
  -- [{status, fromDate, kind?, reason?}]. The kind of Pending is what it waits for: Date,
  -- Documents, Deposit or Request.
  status_history jsonb not null,
  -- [{name, value}]
  connection_inputs jsonb not null default '[]'::jsonb,
  -- [{name, value, fromDate}]
  quantities jsonb not null default '[]'::jsonb,
  -- [{name, value, fromDate?, toDate?, reason?, createdAt, createdBy}]
  variants jsonb not null default '[]'::jsonb,
  -- [{planId, quantity, fromDate, toDate?}]
  add_ons jsonb not null default '[]'::jsonb,
  -- [{partyId, role, fromDate, toDate?}]
  users jsonb not null,
  -- [{transferId, transferDate, fromPartyId, toPartyId, readings, balanceHandling, amountMoved,
  -- reason, createdAt, createdBy}]
  transfers jsonb not null default '[]'::jsonb,
  -- Names of the documents that the customer has handed in.
  documents jsonb not null default '[]'::jsonb,
  -- Number, reference and project, one a line.
  search_text text not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  -- The day of the newest transfer. A term that bills accounts or parties finds by it the few
  -- subscriptions that had another owner on its days.
  transferred_on date generated always as (
CASE
    WHEN (transfers <> '[]'::jsonb) THEN make_date((substr(((transfers -> '-1'::integer) ->> 'transferDate'::text), 1, 4))::integer, (substr(((transfers -> '-1'::integer) ->> 'transferDate'::text), 6, 2))::integer, (substr(((transfers -> '-1'::integer) ->> 'transferDate'::text), 9, 2))::integer)
    ELSE NULL::date
END) stored,
  constraint subscriptions_account_fkey FOREIGN KEY (tenant_id, account_id) REFERENCES billing_accounts(tenant_id, account_id),
  constraint subscriptions_add_ons_check CHECK ((jsonb_typeof(add_ons) = 'array'::text)),
  constraint subscriptions_address_check CHECK ((jsonb_typeof(address) = 'object'::text)),
  constraint subscriptions_batch_fkey FOREIGN KEY (tenant_id, batch_id) REFERENCES batches(tenant_id, batch_id),
  constraint subscriptions_connection_inputs_check CHECK ((jsonb_typeof(connection_inputs) = 'array'::text)),
  constraint subscriptions_context_fkey FOREIGN KEY (tenant_id, context_id) REFERENCES pricing_contexts(tenant_id, context_id),
  constraint subscriptions_disconnection_has_kind CHECK (((status <> 'Disconnected'::text) OR (disconnection_kind IS NOT NULL))),
  constraint subscriptions_disconnection_kind_check CHECK ((disconnection_kind = ANY (ARRAY['Temporary'::text, 'Permanent'::text, 'CustomerRequest'::text]))),
  constraint subscriptions_documents_check CHECK ((jsonb_typeof(documents) = 'array'::text)),
  constraint subscriptions_number_key UNIQUE (tenant_id, subscription_number) INCLUDE (subscription_id),
  constraint subscriptions_party_fkey FOREIGN KEY (tenant_id, party_id) REFERENCES parties(tenant_id, party_id),
  constraint subscriptions_payment_method_check CHECK ((payment_method = ANY (ARRAY['Cash'::text, 'Bank'::text, 'Card'::text, 'DirectDebit'::text, 'Wallet'::text, 'Online'::text]))),
  constraint subscriptions_pkey PRIMARY KEY (tenant_id, subscription_id),
  constraint subscriptions_plan_fkey FOREIGN KEY (tenant_id, plan_id) REFERENCES plans(tenant_id, plan_id),
  constraint subscriptions_plan_history_check CHECK ((jsonb_array_length(plan_history) > 0)),
  constraint subscriptions_quantities_check CHECK ((jsonb_typeof(quantities) = 'array'::text)),
  constraint subscriptions_reference_number_check CHECK ((reference_number <> ''::text)),
  constraint subscriptions_status_check CHECK ((status = ANY (ARRAY['Pending'::text, 'Active'::text, 'Disconnected'::text, 'Closed'::text]))),
  constraint subscriptions_status_history_check CHECK ((jsonb_array_length(status_history) > 0)),
  constraint subscriptions_subscription_number_check CHECK ((subscription_number <> ''::text)),
  constraint subscriptions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint subscriptions_transfers_check CHECK ((jsonb_typeof(transfers) = 'array'::text)),
  constraint subscriptions_users_check CHECK ((jsonb_typeof(users) = 'array'::text)),
  constraint subscriptions_variants_check CHECK ((jsonb_typeof(variants) = 'array'::text))
) with (fillfactor=50);
CREATE INDEX subscriptions_account ON public.subscriptions USING btree (tenant_id, account_id, subscription_id);
CREATE INDEX subscriptions_batch ON public.subscriptions USING btree (tenant_id, batch_id, subscription_id) INCLUDE (context_id, status);
CREATE INDEX subscriptions_block ON public.subscriptions USING btree (tenant_id, block, subscription_id) INCLUDE (context_id, status) WHERE (block IS NOT NULL);
CREATE INDEX subscriptions_changing ON public.subscriptions USING btree (tenant_id, next_change_date) WHERE (next_change_date IS NOT NULL);
CREATE INDEX subscriptions_city ON public.subscriptions USING btree (tenant_id, city, subscription_id) INCLUDE (context_id, status) WHERE (city IS NOT NULL);
CREATE INDEX subscriptions_connected ON public.subscriptions USING btree (tenant_id, connection_date, subscription_id) INCLUDE (context_id, status);
CREATE INDEX subscriptions_context ON public.subscriptions USING btree (tenant_id, context_id, subscription_id) INCLUDE (status);
CREATE INDEX subscriptions_party ON public.subscriptions USING btree (tenant_id, party_id, subscription_id);
CREATE INDEX subscriptions_plan ON public.subscriptions USING btree (tenant_id, plan_id, subscription_id) INCLUDE (status);
CREATE UNIQUE INDEX subscriptions_reference_key ON public.subscriptions USING btree (tenant_id, reference_number) WHERE (reference_number IS NOT NULL);
CREATE INDEX subscriptions_search ON public.subscriptions USING gin (tenant_id, search_text gin_trgm_ops);
CREATE INDEX subscriptions_society ON public.subscriptions USING btree (tenant_id, society, subscription_id) INCLUDE (context_id, status) WHERE (society IS NOT NULL);
CREATE INDEX subscriptions_status ON public.subscriptions USING btree (tenant_id, status, subscription_id) WHERE (status <> 'Active'::text);
CREATE INDEX subscriptions_transferred ON public.subscriptions USING btree (tenant_id, transferred_on) WHERE (transferred_on IS NOT NULL);
CREATE INDEX subscriptions_updated ON public.subscriptions USING btree (tenant_id, ts, subscription_id);
CREATE TRIGGER subscriptions_counted_on_insert AFTER INSERT ON public.subscriptions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_subscriptions();
CREATE TRIGGER subscriptions_counted_on_update AFTER UPDATE ON public.subscriptions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION recount_subscriptions();
CREATE TRIGGER subscriptions_step BEFORE UPDATE ON public.subscriptions FOR EACH ROW WHEN (((old.status IS DISTINCT FROM new.status) OR (old.subscription_number IS DISTINCT FROM new.subscription_number) OR (old.context_id IS DISTINCT FROM new.context_id))) EXECUTE FUNCTION check_subscription_step();
alter table subscriptions enable row level security, force row level security;
create policy tenant_wall on subscriptions as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on subscriptions to billwright_api;
grant select on subscriptions to billwright_search;
grant insert, select, update on subscriptions to billwright_worker;

CREATE OR REPLACE FUNCTION public.check_subscription_step()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.subscription_number <> old.subscription_number or new.context_id <> old.context_id then
    raise exception 'the number and the context of a subscription never change'
      using errcode = 'check_violation', constraint = 'subscriptions_identity';
  end if;
  if (old.status, new.status) not in (
    ('Pending', 'Active'), ('Pending', 'Closed'), ('Active', 'Disconnected'),
    ('Disconnected', 'Active'), ('Disconnected', 'Closed')
  ) and old.status <> new.status then
    raise exception 'a subscription that is % does not become %', old.status, new.status
      using errcode = 'check_violation', constraint = 'subscriptions_status_step';
  end if;
  return new;
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.is_active_between(status_history jsonb, first_day date, last_day date)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select exists (
  select
  from (
    select h ->> 'status' as status, (h ->> 'fromDate')::date as from_date,
      lead((h ->> 'fromDate')::date) over (order by (h ->> 'fromDate')::date, number) as next_date
    from jsonb_array_elements(status_history) with ordinality as e (h, number)
  ) runs
  where status = 'Active'
    and greatest(from_date, first_day) <= least(coalesce(next_date - 1, last_day), last_day)
)
$function$
;
-- owned by the owner

-- The value of a custom field that the pricing context declares unique.
create table subscription_unique_inputs (
  tenant_id bigint not null,
  context_id bigint not null,
  name text not null,
  value text not null,
  subscription_id bigint not null,
  constraint subscription_unique_inputs_pkey PRIMARY KEY (tenant_id, context_id, name, value),
  constraint subscription_unique_inputs_tenant_id_subscription_id_fkey FOREIGN KEY (tenant_id, subscription_id) REFERENCES subscriptions(tenant_id, subscription_id)
);
CREATE INDEX subscription_unique_inputs_subscription ON public.subscription_unique_inputs USING btree (tenant_id, subscription_id);
alter table subscription_unique_inputs enable row level security, force row level security;
create policy tenant_wall on subscription_unique_inputs as permissive for all using ((tenant_id = current_tenant()));
grant delete, insert, select on subscription_unique_inputs to billwright_api;
grant delete, insert, select on subscription_unique_inputs to billwright_worker;

-- The sum of the ledger entries on a subscription, in minor units, for one party that owns or owned
-- it: a former owner may still owe. The balance of a subscription is that of its owner.
create table subscription_balances (
  tenant_id bigint not null,
  subscription_id bigint not null,
  party_id bigint not null,
  -- Above zero, the party owes it; below zero, the workspace does.
  receivable bigint not null default 0,
  -- Held for the party. Neither this nor disputed is ever below zero: the trigger keep_balances()
  -- checks that, because a check here would look at the amount added and not at the result.
  deposit bigint not null default 0,
  disputed bigint not null default 0,
  -- All payments so far, less what was taken back. A bill keeps the value of when it was made: the
  -- next bill shows the difference as payments received.
  received bigint not null default 0,
  constraint subscription_balances_pkey PRIMARY KEY (tenant_id, subscription_id, party_id),
  constraint subscription_balances_tenant_id_subscription_id_fkey FOREIGN KEY (tenant_id, subscription_id) REFERENCES subscriptions(tenant_id, subscription_id)
) with (fillfactor=50);
CREATE INDEX subscription_balances_party ON public.subscription_balances USING btree (tenant_id, party_id);
alter table subscription_balances enable row level security, force row level security;
create policy tenant_wall on subscription_balances as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on subscription_balances to billwright_api;
grant insert, select, update on subscription_balances to billwright_worker;

-- The count of subscriptions in a block of 1,000 ids, by the filters that most lists use and no
-- index narrows well. Plans and batches have indexes of their own and are left out.
create table subscription_counts (
  tenant_id bigint not null,
  block bigint not null,
  context_id bigint not null,
  status text not null,
  is_metered boolean not null,
  has_quantities boolean not null,
  subscriptions integer not null,
  constraint subscription_counts_pkey PRIMARY KEY (tenant_id, block, context_id, status, is_metered, has_quantities),
  constraint subscription_counts_subscriptions_check CHECK ((subscriptions >= 0)),
  constraint subscription_counts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
alter table subscription_counts enable row level security, force row level security;
create policy tenant_wall on subscription_counts as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on subscription_counts to billwright_api;
grant insert, select, update on subscription_counts to billwright_worker;

-- The count of Active and Disconnected subscriptions of a plan, as base plan or as add-on.
create table plan_subscriptions (
  tenant_id bigint not null,
  plan_id bigint not null,
  subscriptions bigint not null,
  constraint plan_subscriptions_pkey PRIMARY KEY (tenant_id, plan_id),
  constraint plan_subscriptions_subscriptions_check CHECK ((subscriptions >= 0)),
  constraint plan_subscriptions_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
alter table plan_subscriptions enable row level security, force row level security;
create policy tenant_wall on plan_subscriptions as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on plan_subscriptions to billwright_api;
grant insert, select, update on plan_subscriptions to billwright_worker;

CREATE OR REPLACE FUNCTION public.count_subscriptions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.recount_subscriptions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  changed record;
begin
  if not exists (
    select from (
      select tenant_id, subscription_id, context_id, status, is_metered, has_quantities, plan_id,
        add_ons, 1 as step from new_rows
      union all
      select tenant_id, subscription_id, context_id, status, is_metered, has_quantities, plan_id,
        add_ons, -1 from old_rows
    ) steps
    group by tenant_id, subscription_id / 1000, context_id, status, is_metered, has_quantities,
      plan_id, add_ons
    having sum(step) <> 0
  ) then
    return null;
  end if;
  for changed in
    select tenant_id, subscription_id / 1000 as block, context_id, status, is_metered,
      has_quantities, sum(step)::bigint as delta
    from (
      select tenant_id, subscription_id, context_id, status, is_metered, has_quantities,
        1 as step from new_rows
      union all
      select tenant_id, subscription_id, context_id, status, is_metered, has_quantities, -1
      from old_rows
    ) steps
    group by 1, 2, 3, 4, 5, 6
    having sum(step) <> 0
    order by 1, 2, 3, 4, 5, 6
  loop
    insert into subscription_counts as c (tenant_id, block, context_id, status, is_metered,
      has_quantities, subscriptions)
    values (changed.tenant_id, changed.block, changed.context_id, changed.status,
      changed.is_metered, changed.has_quantities, greatest(changed.delta, 0))
    on conflict (tenant_id, block, context_id, status, is_metered, has_quantities)
      do update set subscriptions = c.subscriptions + changed.delta;
  end loop;
  perform recount_plan_subscriptions(deltas.tenant_id, deltas.plan_id, deltas.delta)
  from (
    select tenant_id, plan_id, sum(step)::bigint as delta
    from (
      select tenant_id, plan_id, 1 as step
      from new_rows where status in ('Active', 'Disconnected')
      union all
      select tenant_id, plan_id, -1 from old_rows where status in ('Active', 'Disconnected')
      union all
      select n.tenant_id, (a ->> 'planId')::bigint, 1
      from new_rows n, jsonb_array_elements(n.add_ons) a
      where n.add_ons <> '[]' and n.status in ('Active', 'Disconnected') and a ->> 'toDate' is null
      union all
      select o.tenant_id, (a ->> 'planId')::bigint, -1
      from old_rows o, jsonb_array_elements(o.add_ons) a
      where o.add_ons <> '[]' and o.status in ('Active', 'Disconnected') and a ->> 'toDate' is null
    ) steps
    group by 1, 2
    having sum(step) <> 0
    order by 1, 2
  ) deltas;
  return null;
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.recount_plan_subscriptions(wanted_tenant bigint, wanted_plan bigint, delta bigint)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into plan_subscriptions (tenant_id, plan_id, subscriptions)
  values (wanted_tenant, wanted_plan, 0)
  on conflict do nothing;
  update plan_subscriptions set subscriptions = subscriptions + delta
  where tenant_id = wanted_tenant and plan_id = wanted_plan;
$function$
;
-- owned by the owner

-- meters (0006_meters.sql)

-- A type of meter. It defines the registers of its meters.
create table meter_types (
  tenant_id bigint not null,
  meter_type_id bigint not null,
  name text not null,
  utility text not null,
  phases smallint,
  prepaid boolean not null default false,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint meter_types_name_check CHECK ((name <> ''::text)),
  constraint meter_types_phases_check CHECK (((phases >= 1) AND (phases <= 3))),
  constraint meter_types_pkey PRIMARY KEY (tenant_id, meter_type_id),
  constraint meter_types_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint meter_types_utility_check CHECK ((utility <> ''::text))
);
CREATE UNIQUE INDEX meter_types_name_key ON public.meter_types USING btree (tenant_id, lower(name));
alter table meter_types enable row level security, force row level security;
create policy tenant_wall on meter_types as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on meter_types to billwright_api;
grant select on meter_types to billwright_worker;

-- A register that the meters of a type have, and how it counts.
create table meter_registers (
  tenant_id bigint not null,
  meter_type_id bigint not null,
  "position" smallint not null,
  register text not null,
  unit text not null,
  -- Usage is the difference of two values (Cumulative), the value itself (Interval, Consumptive),
  -- or the highest value of a term (Demand).
  kind text not null,
  time_of_use text,
  -- Digits before the point: a counter rolls over at 10 to the power of digits.
  digits smallint not null,
  -- Digits after the point.
  decimals smallint not null,
  constraint meter_registers_decimals_check CHECK (((decimals >= 0) AND (decimals <= 6))),
  constraint meter_registers_digits_check CHECK (((digits >= 1) AND (digits <= 15))),
  constraint meter_registers_kind_check CHECK ((kind = ANY (ARRAY['Cumulative'::text, 'Interval'::text, 'Consumptive'::text, 'Demand'::text]))),
  constraint meter_registers_pkey PRIMARY KEY (tenant_id, meter_type_id, "position"),
  constraint meter_registers_position_check CHECK (("position" > 0)),
  constraint meter_registers_register_check CHECK ((register <> ''::text)),
  constraint meter_registers_tenant_id_meter_type_id_fkey FOREIGN KEY (tenant_id, meter_type_id) REFERENCES meter_types(tenant_id, meter_type_id),
  constraint meter_registers_unit_check CHECK ((unit <> ''::text))
);
CREATE UNIQUE INDEX meter_registers_register_key ON public.meter_registers USING btree (tenant_id, meter_type_id, lower(register));
alter table meter_registers enable row level security, force row level security;
create policy tenant_wall on meter_registers as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on meter_registers to billwright_api;
grant select on meter_registers to billwright_worker;

-- A meter, installed or in store.
create table meters (
  tenant_id bigint not null,
  meter_id bigint not null,
  number bigint not null,
  brand text not null,
  meter_type_id bigint not null,
  purchase_date date not null,
  -- The multiplier factor: usage is the difference of two readings times this.
  mf integer not null,
  -- Active: installed. InActive: in store.
  status text not null default 'InActive'::text,
  health text not null default 'ok'::text,
  search_text text not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  constraint meters_brand_check CHECK ((brand <> ''::text)),
  constraint meters_health_check CHECK ((health = ANY (ARRAY['ok'::text, 'faulty'::text, 'stopped'::text, 'tampered'::text, 'lost'::text, 'retired'::text]))),
  constraint meters_mf_check CHECK (((mf >= 1) AND (mf <= 1000000))),
  constraint meters_number_check CHECK (((number >= 1) AND (number <= '999999999999999'::bigint))),
  constraint meters_number_key UNIQUE (tenant_id, number) INCLUDE (meter_id),
  constraint meters_pkey PRIMARY KEY (tenant_id, meter_id),
  constraint meters_retired_is_inactive CHECK (((health <> 'retired'::text) OR (status = 'InActive'::text))),
  constraint meters_status_check CHECK ((status = ANY (ARRAY['Active'::text, 'InActive'::text]))),
  constraint meters_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint meters_type_fkey FOREIGN KEY (tenant_id, meter_type_id) REFERENCES meter_types(tenant_id, meter_type_id)
);
CREATE INDEX meters_brand ON public.meters USING btree (tenant_id, brand);
CREATE INDEX meters_mf ON public.meters USING btree (tenant_id, mf, meter_id);
CREATE INDEX meters_purchased ON public.meters USING btree (tenant_id, purchase_date, meter_id);
CREATE INDEX meters_search ON public.meters USING gin (tenant_id, search_text gin_trgm_ops);
CREATE INDEX meters_status ON public.meters USING btree (tenant_id, status, meter_id);
CREATE INDEX meters_type ON public.meters USING btree (tenant_id, meter_type_id, meter_id);
CREATE INDEX meters_updated ON public.meters USING btree (tenant_id, ts, meter_id);
CREATE TRIGGER meters_counted_on_insert AFTER INSERT ON public.meters REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_meters();
CREATE TRIGGER meters_counted_on_update AFTER UPDATE ON public.meters REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_meters();
alter table meters enable row level security, force row level security;
create policy tenant_wall on meters as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on meters to billwright_api;
grant select on meters to billwright_search;
grant select, update on meters to billwright_worker;

CREATE OR REPLACE FUNCTION public.count_meters()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;
-- owned by the owner

-- An installation: a meter at a subscription from one date to another. Two installations of a meter
-- share no day, and at most one is open.
create table meter_assignments (
  tenant_id bigint not null,
  assignment_id bigint not null,
  meter_id bigint not null,
  subscription_id bigint not null,
  install_date date not null,
  -- The multiplier factor during the installation: that of the meter may change after its removal.
  mf integer not null,
  -- The first day on which it is no longer installed.
  remove_date date,
  removal_reason text,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  constraint meter_assignments_check CHECK ((remove_date >= install_date)),
  constraint meter_assignments_mf_check CHECK ((mf >= 1)),
  constraint meter_assignments_one_place EXCLUDE USING gist (tenant_id WITH =, meter_id WITH =, daterange(install_date, remove_date) WITH &&),
  constraint meter_assignments_pkey PRIMARY KEY (tenant_id, assignment_id),
  constraint meter_assignments_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint meter_assignments_tenant_id_meter_id_fkey FOREIGN KEY (tenant_id, meter_id) REFERENCES meters(tenant_id, meter_id),
  constraint meter_assignments_tenant_id_subscription_id_fkey FOREIGN KEY (tenant_id, subscription_id) REFERENCES subscriptions(tenant_id, subscription_id)
);
CREATE INDEX meter_assignments_meter ON public.meter_assignments USING btree (tenant_id, meter_id, install_date);
CREATE UNIQUE INDEX meter_assignments_open_key ON public.meter_assignments USING btree (tenant_id, meter_id) WHERE (remove_date IS NULL);
CREATE INDEX meter_assignments_subscription ON public.meter_assignments USING btree (tenant_id, subscription_id, assignment_id);
alter table meter_assignments enable row level security, force row level security;
create policy tenant_wall on meter_assignments as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on meter_assignments to billwright_api;
grant select on meter_assignments to billwright_search;
grant insert, select, update on meter_assignments to billwright_worker;

-- A register of an installed meter, and the metered input of the pricing context that it measures.
create table assignment_registers (
  tenant_id bigint not null,
  assignment_id bigint not null,
  -- Of meter_registers.
  "position" smallint not null,
  subscription_id bigint not null,
  -- Null: the register is read but measures nothing that is billed.
  input text,
  constraint assignment_registers_pkey PRIMARY KEY (tenant_id, assignment_id, "position"),
  constraint assignment_registers_tenant_id_assignment_id_fkey FOREIGN KEY (tenant_id, assignment_id) REFERENCES meter_assignments(tenant_id, assignment_id)
);
CREATE INDEX assignment_registers_subscription ON public.assignment_registers USING btree (tenant_id, subscription_id, assignment_id, "position");
alter table assignment_registers enable row level security, force row level security;
create policy tenant_wall on assignment_registers as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on assignment_registers to billwright_api;
grant insert, select, update on assignment_registers to billwright_worker;

-- A reading of a register. Locked and Billed are not stored here: a term that takes a reading has a
-- row in term_readings, and such a reading can neither be changed nor rejected.
create table readings (
  tenant_id bigint not null,
  reading_id bigint not null,
  assignment_id bigint not null,
  "position" smallint not null,
  reading_date date not null,
  reading_time time without time zone,
  value numeric not null,
  reading_type text not null,
  status text not null,
  rejected_id bigint generated always as (
CASE
    WHEN (status = 'Rejected'::text) THEN reading_id
    ELSE NULL::bigint
END) stored,
  -- The register passed its highest value since the previous reading.
  rollover boolean not null default false,
  -- Since the previous reading, with the multiplier factor. Null if there is none.
  consumption numeric,
  days integer,
  -- Why it is under review: High, Low, Decreased.
  flags text[] not null default '{}'::text[],
  source text,
  remark text,
  image_url text,
  external_reference text,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  constraint readings_pkey PRIMARY KEY (tenant_id, reading_id),
  constraint readings_reading_type_check CHECK ((reading_type = ANY (ARRAY['Actual'::text, 'Customer'::text, 'Estimated'::text, 'Installation'::text, 'Removal'::text, 'Final'::text, 'Check'::text, 'Automatic'::text]))),
  constraint readings_status_check CHECK ((status = ANY (ARRAY['Accepted'::text, 'Review'::text, 'Rejected'::text]))),
  constraint readings_tenant_id_assignment_id_position_fkey FOREIGN KEY (tenant_id, assignment_id, "position") REFERENCES assignment_registers(tenant_id, assignment_id, "position"),
  constraint readings_value_check CHECK ((value >= (0)::numeric))
);
CREATE INDEX readings_date ON public.readings USING brin (tenant_id, reading_date) WITH (autosummarize='on');
CREATE UNIQUE INDEX readings_external_key ON public.readings USING btree (tenant_id, external_reference) WHERE ((external_reference IS NOT NULL) AND (status <> 'Rejected'::text));
CREATE UNIQUE INDEX readings_register_key ON public.readings USING btree (tenant_id, assignment_id, "position", reading_date, reading_type, reading_time, rejected_id) NULLS NOT DISTINCT;
CREATE INDEX readings_rejected ON public.readings USING btree (tenant_id, reading_id) WHERE (status = 'Rejected'::text);
CREATE INDEX readings_review ON public.readings USING btree (tenant_id, reading_id) WHERE (status = 'Review'::text);
CREATE TRIGGER readings_counted_on_insert AFTER INSERT ON public.readings REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_readings();
CREATE TRIGGER readings_locked BEFORE UPDATE ON public.readings FOR EACH ROW WHEN (((old.value IS DISTINCT FROM new.value) OR (old.status IS DISTINCT FROM new.status) OR (old.reading_date IS DISTINCT FROM new.reading_date))) EXECUTE FUNCTION keep_locked_readings();
alter table readings enable row level security, force row level security;
create policy tenant_wall on readings as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on readings to billwright_api;
grant insert, select, update on readings to billwright_worker;

CREATE OR REPLACE FUNCTION public.count_readings()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.search_meters(pattern text, wanted_status text)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER ROWS 100
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select meter_id
  from meters
  where tenant_id = require_tenant()
    and search_text like pattern
    and (wanted_status is null or status = wanted_status);
$function$
;
-- owned by billwright_search

CREATE OR REPLACE FUNCTION public.scan_meters(pattern text, wanted_status text)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER ROWS 100000
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select meter_id
  from meters
  where tenant_id = require_tenant()
    and search_text || '' like pattern
    and (wanted_status is null or status = wanted_status);
$function$
;
-- owned by billwright_search

CREATE OR REPLACE FUNCTION public.search_subscriptions(pattern text)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER ROWS 100
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select subscription_id
  from subscriptions
  where tenant_id = require_tenant() and search_text like pattern
  union
  select s.subscription_id
  from parties p
  join subscriptions s on s.tenant_id = require_tenant() and s.party_id = p.party_id
  where p.tenant_id = require_tenant()
    and p.search_text like pattern
    and split_part(p.search_text, E'\n', 1) like pattern
  union
  select a.subscription_id
  from meters m
  join meter_assignments a
    on a.tenant_id = require_tenant() and a.meter_id = m.meter_id and a.remove_date is null
  where m.tenant_id = require_tenant()
    and m.search_text like pattern
    and m.number::text like pattern;
$function$
;
-- owned by billwright_search

CREATE OR REPLACE FUNCTION public.scan_subscriptions(pattern text)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER ROWS 100000
 SET search_path TO 'public', 'pg_temp'
 SET enable_nestloop TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
  select s.subscription_id
  from subscriptions s
  join parties p on p.tenant_id = require_tenant() and p.party_id = s.party_id
  where s.tenant_id = require_tenant()
    and (s.search_text || '' like pattern
      or split_part(p.search_text, E'\n', 1) like pattern)
  union
  select a.subscription_id
  from meters m
  join meter_assignments a
    on a.tenant_id = require_tenant() and a.meter_id = m.meter_id and a.remove_date is null
  where m.tenant_id = require_tenant()
    and m.number::text like pattern;
$function$
;
-- owned by billwright_search

-- ledger (0007_ledger.sql)

-- A ledger account.
create table ledger_accounts (
  tenant_id bigint not null,
  ledger_account_id bigint not null,
  code text not null,
  name text not null,
  kind text not null,
  -- True if subledger entries add up to it.
  is_control boolean not null default false,
  constraint ledger_accounts_code_check CHECK ((code <> ''::text)),
  constraint ledger_accounts_code_key UNIQUE (tenant_id, code),
  constraint ledger_accounts_kind_check CHECK ((kind = ANY (ARRAY['Asset'::text, 'Liability'::text, 'Income'::text, 'Expense'::text, 'Equity'::text]))),
  constraint ledger_accounts_name_check CHECK ((name <> ''::text)),
  constraint ledger_accounts_pkey PRIMARY KEY (tenant_id, ledger_account_id),
  constraint ledger_accounts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
alter table ledger_accounts enable row level security, force row level security;
create policy tenant_wall on ledger_accounts as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on ledger_accounts to billwright_api;
grant insert, select on ledger_accounts to billwright_worker;
grant update (name) on ledger_accounts to billwright_api;

CREATE OR REPLACE PROCEDURE public.add_chart_of_accounts(IN wanted_tenant bigint)
 LANGUAGE sql
AS $procedure$
  insert into ledger_accounts (tenant_id, ledger_account_id, code, name, kind, is_control)
  values
    (wanted_tenant, 1, 'CASH', 'Cash and bank', 'Asset', false),
    (wanted_tenant, 2, 'RECEIVABLE', 'Receivable', 'Asset', true),
    (wanted_tenant, 3, 'ADVANCE', 'Advance', 'Liability', true),
    (wanted_tenant, 4, 'DEPOSIT', 'Security Deposit', 'Liability', true),
    (wanted_tenant, 5, 'TAX', 'Tax payable', 'Liability', false),
    (wanted_tenant, 6, 'INCOME', 'Income', 'Income', false),
    (wanted_tenant, 7, 'ROUNDING', 'Rounding', 'Income', false),
    (wanted_tenant, 8, 'OPENING', 'Opening balances', 'Equity', false),
    (wanted_tenant, 9, 'BAD_DEBT', 'Bad debts', 'Expense', false),
    (wanted_tenant, 10, 'DISPUTED', 'Disputed', 'Asset', true),
    (wanted_tenant, 1000001, 'PAYABLE', 'Payable', 'Liability', true),
    (wanted_tenant, 1000002, 'EXPENSE', 'Expense', 'Expense', false),
    (wanted_tenant, 1000003, 'SUSPENSE', 'Suspense', 'Liability', false),
    (wanted_tenant, 1000004, 'CASH_DIFFERENCE', 'Cash differences', 'Expense', false),
    (wanted_tenant, 1000005, 'RESULT', 'Result of earlier years', 'Equity', false);
  insert into counters (tenant_id, series, last_number)
  values (wanted_tenant, 'ledger-account', 10);
$procedure$
;
-- owned by the owner

-- A journal: one posting in the general ledger. Rows are appended and never changed.
create table journals (
  tenant_id bigint not null,
  journal_id bigint not null,
  -- What it was posted for.
  source_type text not null,
  source_id bigint not null,
  term_id bigint,
  business_unit_id bigint not null,
  posting_date date not null,
  description text not null,
  reverses_journal_id bigint,
  created_at timestamp with time zone not null,
  created_by text not null,
  -- The transaction that wrote the journal: only that one adds lines and entries.
  written_in xid8 not null default pg_current_xact_id(),
  constraint journals_pkey PRIMARY KEY (tenant_id, journal_id),
  constraint journals_source_type_check CHECK ((source_type = ANY (ARRAY['Opening'::text, 'Deposit'::text, 'Bills'::text, 'Unpost'::text, 'Surcharge'::text, 'Fee'::text, 'Payment'::text, 'Wallet'::text, 'CreditNote'::text, 'Adjustment'::text, 'WriteOff'::text, 'Dispute'::text, 'Refund'::text, 'Transfer'::text, 'Reversal'::text, 'BankLine'::text, 'CashDifference'::text, 'YearEnd'::text]))),
  constraint journals_tenant_id_reverses_journal_id_fkey FOREIGN KEY (tenant_id, reverses_journal_id) REFERENCES journals(tenant_id, journal_id)
);
CREATE INDEX journals_date ON public.journals USING btree (tenant_id, posting_date, journal_id);
CREATE INDEX journals_reverses ON public.journals USING btree (tenant_id, reverses_journal_id) WHERE (reverses_journal_id IS NOT NULL);
CREATE INDEX journals_source ON public.journals USING btree (tenant_id, source_type, source_id);
CREATE INDEX journals_term ON public.journals USING btree (tenant_id, term_id) WHERE (term_id IS NOT NULL);
CREATE TRIGGER journals_append_only BEFORE DELETE OR UPDATE ON public.journals FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER journals_checked AFTER INSERT ON public.journals REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION check_journals();
CREATE CONSTRAINT TRIGGER journals_made_of_entries AFTER INSERT ON public.journals DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (is_program()) EXECUTE FUNCTION check_journal_entries();
CREATE TRIGGER journals_sealed AFTER INSERT ON public.journals REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_for_seal('journal');
alter table journals enable row level security, force row level security;
create policy tenant_wall on journals as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on journals to billwright_api;
grant insert, select on journals to billwright_worker;

-- A line of a journal. The lines of a journal are inserted by one statement and must balance after
-- it.
create table journal_lines (
  tenant_id bigint not null,
  journal_id bigint not null,
  line_number integer not null,
  ledger_account_id bigint not null,
  -- The component of the bill, if the line is of one.
  component text,
  -- In minor units. Above zero is a debit, below zero a credit.
  amount bigint not null,
  constraint journal_lines_line_number_check CHECK ((line_number > 0)),
  constraint journal_lines_pkey PRIMARY KEY (tenant_id, journal_id, line_number)
);
CREATE INDEX journal_lines_account ON public.journal_lines USING btree (tenant_id, ledger_account_id, journal_id);
CREATE TRIGGER journal_lines_append_only BEFORE DELETE OR UPDATE ON public.journal_lines FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER journal_lines_balance AFTER INSERT ON public.journal_lines REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION check_journals_balance();
CREATE TRIGGER journal_lines_totals AFTER INSERT ON public.journal_lines REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION add_ledger_totals();
alter table journal_lines enable row level security, force row level security;
create policy tenant_wall on journal_lines as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on journal_lines to billwright_api;
grant insert, select on journal_lines to billwright_worker;

CREATE OR REPLACE FUNCTION public.check_journals_balance()
 RETURNS trigger
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  tenant bigint;
  journal_ids bigint[];
  account_ids bigint[];
  found_journals bigint;
  own_journals bigint;
  broken bigint;
begin
  select min(tenant_id), array_agg(distinct journal_id), array_agg(distinct ledger_account_id)
  into tenant, journal_ids, account_ids from new_rows;
  if tenant is null then
    return null;
  end if;
  select count(*), count(*) filter (where written_in = pg_current_xact_id())
  into found_journals, own_journals
  from journals where tenant_id = tenant and journal_id = any(journal_ids);
  if found_journals < cardinality(journal_ids) then
    raise exception 'a journal line names a journal that does not exist'
      using errcode = 'foreign_key_violation', constraint = 'journal_lines_journal_fkey';
  end if;
  if cardinality(account_ids) <> (
    select count(*) from ledger_accounts
    where tenant_id = tenant and ledger_account_id = any(account_ids)
  ) then
    raise exception 'a journal line names a ledger account that does not exist'
      using errcode = 'foreign_key_violation', constraint = 'journal_lines_ledger_account_fkey';
  end if;
  select journal_id into broken
  from journal_lines
  where tenant_id = tenant and journal_id = any(journal_ids)
  group by journal_id
  having sum(amount) <> 0
  limit 1;
  if broken is not null then
    raise exception 'journal % does not balance', broken
      using errcode = 'check_violation', constraint = 'journal_lines_balance';
  end if;
  if own_journals < cardinality(journal_ids) and is_program() then
    raise exception 'lines and entries are written together with their journal'
      using errcode = 'check_violation', constraint = 'journals_written_once';
  end if;
  return null;
end
$function$
;
-- owned by the owner

-- Debits and credits of a ledger account on a posting date. Every statement that inserts journal
-- lines adds rows under its first journal, so that no posting waits for another. A nightly job
-- folds them into one row under journal 0; readers add up both kinds.
create table ledger_day_totals (
  tenant_id bigint not null,
  posting_date date not null,
  ledger_account_id bigint not null,
  -- 0 for the folded row of a day.
  journal_id bigint not null,
  -- In minor units. Sums of many lines may be more than a bigint holds.
  debit numeric not null,
  credit numeric not null,
  lines bigint not null,
  constraint ledger_day_totals_credit_check CHECK ((credit >= (0)::numeric)),
  constraint ledger_day_totals_debit_check CHECK ((debit >= (0)::numeric)),
  constraint ledger_day_totals_lines_check CHECK ((lines > 0)),
  constraint ledger_day_totals_pkey PRIMARY KEY (tenant_id, posting_date, ledger_account_id, journal_id)
);
alter table ledger_day_totals enable row level security, force row level security;
create policy tenant_wall on ledger_day_totals as permissive for all using ((tenant_id = current_tenant()));
grant select on ledger_day_totals to billwright_api;
grant select on ledger_day_totals to billwright_worker;

CREATE OR REPLACE FUNCTION public.add_ledger_totals()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_indexonlyscan TO 'off'
AS $function$
declare
  journal_ids bigint[];
  account_ids bigint[];
  amounts bigint[];
begin
  select array_agg(journal_id), array_agg(ledger_account_id), array_agg(amount)
  into journal_ids, account_ids, amounts
  from new_rows;
  insert into ledger_day_totals as t
    (tenant_id, posting_date, ledger_account_id, journal_id, debit, credit, lines)
  select j.tenant_id, j.posting_date, l.ledger_account_id, min(l.journal_id),
    sum(l.debit), sum(l.credit), sum(l.lines)
  from (
    select journal_id, ledger_account_id, sum(greatest(amount, 0)) as debit,
      sum(greatest(-amount, 0)) as credit, count(*) as lines
    from unnest(journal_ids, account_ids, amounts) as n (journal_id, ledger_account_id, amount)
    group by journal_id, ledger_account_id
  ) l
  cross join lateral (
    select tenant_id, posting_date from journals
    where tenant_id = require_tenant() and journal_id = l.journal_id
    limit 1
  ) j
  group by j.tenant_id, j.posting_date, l.ledger_account_id
  on conflict (tenant_id, posting_date, ledger_account_id, journal_id) do update
    set debit = t.debit + excluded.debit, credit = t.credit + excluded.credit,
      lines = t.lines + excluded.lines;
  return null;
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.fold_ledger_totals(rows_max integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  dates date[];
  account_ids bigint[];
  journal_ids bigint[];
  debits numeric[];
  credits numeric[];
  counts bigint[];
begin
  select array_agg(posting_date), array_agg(ledger_account_id), array_agg(journal_id),
    array_agg(debit), array_agg(credit), array_agg(lines)
  into dates, account_ids, journal_ids, debits, credits, counts
  from (
    select posting_date, ledger_account_id, journal_id, debit, credit, lines
    from ledger_day_totals
    where tenant_id = require_tenant() and journal_id > 0
    order by posting_date, ledger_account_id, journal_id
    limit rows_max
    for update skip locked
  ) added;
  if dates is null then
    return 0;
  end if;
  delete from ledger_day_totals t
  using unnest(dates, account_ids, journal_ids) as a (posting_date, ledger_account_id, journal_id)
  where t.tenant_id = require_tenant() and t.posting_date = a.posting_date
    and t.ledger_account_id = a.ledger_account_id and t.journal_id = a.journal_id;
  insert into ledger_day_totals as t
    (tenant_id, posting_date, ledger_account_id, journal_id, debit, credit, lines)
  select require_tenant(), a.posting_date, a.ledger_account_id, 0, sum(a.debit), sum(a.credit),
    sum(a.lines)
  from unnest(dates, account_ids, debits, credits, counts)
    as a (posting_date, ledger_account_id, debit, credit, lines)
  group by a.posting_date, a.ledger_account_id
  order by a.posting_date, a.ledger_account_id
  on conflict (tenant_id, posting_date, ledger_account_id, journal_id) do update
    set debit = t.debit + excluded.debit, credit = t.credit + excluded.credit,
      lines = t.lines + excluded.lines;
  return cardinality(dates);
end
$function$
;
-- owned by the owner

-- What a party has paid and not yet used, in minor units. The row is made when it is first needed.
-- Everything that settles open items of the party locks it first.
create table party_wallets (
  tenant_id bigint not null,
  party_id bigint not null,
  balance bigint not null default 0,
  -- What the party itself owes, and not for one of its subscriptions.
  receivable bigint not null default 0,
  constraint party_wallets_not_negative CHECK ((balance >= 0)),
  constraint party_wallets_pkey PRIMARY KEY (tenant_id, party_id)
) with (fillfactor=50);
CREATE TRIGGER party_wallets_party AFTER INSERT ON public.party_wallets REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION check_named_parties('party_wallets_party_fkey');
alter table party_wallets enable row level security, force row level security;
create policy tenant_wall on party_wallets as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on party_wallets to billwright_api;
grant insert, select, update on party_wallets to billwright_worker;

-- A subledger entry: one change of what a party owes, has paid in advance or has deposited. The
-- entries of a journal add up to its lines on the control accounts.
create table subledger_entries (
  tenant_id bigint not null,
  entry_id bigint not null,
  journal_id bigint not null,
  -- Receivable (2), advance (3), deposit (4), disputed (10) or payable (1000001).
  ledger_account_id bigint not null,
  party_id bigint not null,
  -- Null for money that belongs to the party as a whole.
  subscription_id bigint,
  kind text not null,
  bill_id bigint,
  -- Counts the postings of one bill: a bill that was unposted may be posted again.
  posting smallint not null default 1,
  -- In minor units, signed like a journal line.
  amount bigint not null,
  -- True if bills show it among the payments received, and not among the adjustments.
  is_payment boolean not null default false,
  posting_date date not null,
  due_date date,
  -- The day from which the money counts, if that is not the posting date.
  value_date date,
  -- The open item, if it is none of the bill itself.
  item_id bigint,
  -- How the entry settles the open item, which is the bill if no other item is named. The sums of
  -- bills, bill_parts and open_items follow from it. Null: the entry is the item, or is on an
  -- account without open items.
  effect text,
  -- How much of the open item it settles, above zero on either side of the ledger.
  settled bigint generated always as (
CASE
    WHEN (effect IS NULL) THEN NULL::bigint
    WHEN (ledger_account_id = 1000001) THEN amount
    ELSE (- amount)
END) stored,
  payment_id bigint,
  reference text,
  description text,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint subledger_entries_check CHECK (((ledger_account_id = ANY (ARRAY[(2)::bigint, (3)::bigint, (1000001)::bigint])) OR (subscription_id IS NOT NULL))),
  constraint subledger_entries_check1 CHECK (((effect IS NULL) OR ((ledger_account_id = ANY (ARRAY[(2)::bigint, (1000001)::bigint])) AND ((bill_id IS NOT NULL) OR (item_id IS NOT NULL))))),
  constraint subledger_entries_effect_check CHECK ((effect = ANY (ARRAY['paid'::text, 'credited'::text, 'written_off'::text, 'transferred'::text, 'disputed'::text]))),
  constraint subledger_entries_kind_check CHECK ((kind = ANY (ARRAY['Opening'::text, 'Deposit'::text, 'Bill'::text, 'Surcharge'::text, 'Fee'::text, 'Payment'::text, 'Offset'::text, 'Wallet'::text, 'CreditNote'::text, 'Adjustment'::text, 'WriteOff'::text, 'Dispute'::text, 'Refund'::text, 'Transfer'::text, 'Reversal'::text]))),
  constraint subledger_entries_ledger_account_id_check CHECK ((ledger_account_id = ANY (ARRAY[(2)::bigint, (3)::bigint, (4)::bigint, (10)::bigint, (1000001)::bigint]))),
  constraint subledger_entries_pkey PRIMARY KEY (tenant_id, entry_id),
  constraint subledger_entries_posting_check CHECK ((posting > 0))
);
CREATE UNIQUE INDEX subledger_entries_bill_key ON public.subledger_entries USING btree (tenant_id, bill_id, subscription_id, posting) WHERE (kind = 'Bill'::text);
CREATE INDEX subledger_entries_item ON public.subledger_entries USING btree (tenant_id, item_id) WHERE (item_id IS NOT NULL);
CREATE INDEX subledger_entries_journal ON public.subledger_entries USING btree (tenant_id, journal_id);
CREATE INDEX subledger_entries_party ON public.subledger_entries USING btree (tenant_id, party_id, posting_date, entry_id);
CREATE INDEX subledger_entries_payment ON public.subledger_entries USING btree (tenant_id, payment_id) WHERE (payment_id IS NOT NULL);
CREATE INDEX subledger_entries_settling ON public.subledger_entries USING btree (tenant_id, bill_id) WHERE (effect IS NOT NULL);
CREATE INDEX subledger_entries_subscription ON public.subledger_entries USING btree (tenant_id, subscription_id, posting_date, entry_id) WHERE (subscription_id IS NOT NULL);
CREATE TRIGGER subledger_entries_append_only BEFORE DELETE OR UPDATE ON public.subledger_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER subledger_entries_open_items AFTER INSERT ON public.subledger_entries REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION keep_open_items();
CREATE TRIGGER subledger_entries_running_balances AFTER INSERT ON public.subledger_entries REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION keep_balances();
CREATE TRIGGER subledger_entries_totals_opened AFTER INSERT ON public.subledger_entries REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION add_open_changes();
alter table subledger_entries enable row level security, force row level security;
create policy tenant_wall on subledger_entries as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on subledger_entries to billwright_api;
grant insert, select on subledger_entries to billwright_worker;

CREATE OR REPLACE FUNCTION public.keep_balances()
 RETURNS trigger
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
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
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.check_journal_entries()
 RETURNS trigger
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
begin
  if exists (
    select from (
      select ledger_account_id, amount from journal_lines
      where tenant_id = new.tenant_id and journal_id = new.journal_id
        and ledger_account_id in (2, 3, 4, 10, 1000001)
      union all
      select ledger_account_id, -amount from subledger_entries
      where tenant_id = new.tenant_id and journal_id = new.journal_id
    ) parts
    group by ledger_account_id
    having sum(amount) <> 0
  ) then
    raise exception 'the entries of journal % are not those of its lines', new.journal_id
      using errcode = 'check_violation', constraint = 'journals_made_of_entries';
  end if;
  return null;
end
$function$
;
-- owned by the owner

-- terms (0008_terms.sql)

-- A term: one billing cycle of a batch, with its dates, its stage and its bills.
create table terms (
  tenant_id bigint not null,
  term_id bigint not null,
  context_id bigint not null,
  batch_id bigint not null,
  billing_period_id bigint not null,
  term_type text not null,
  label text not null,
  start_date date not null,
  end_date date not null,
  due_date date not null,
  post_type text not null,
  status text not null,
  stage text not null,
  -- True if something was uploaded, posted or taken back since the last generation.
  is_stale boolean not null default false,
  -- When readings were last locked into the term. Null until that was done once.
  readings_posted_at timestamp with time zone,
  -- The last run, 0 before the first.
  run_number integer not null default 0,
  cancel_reason text,
  issue_date date,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  -- True if missing readings were estimated when readings were last posted. A bill without a
  -- reading then says that none could be estimated.
  is_estimated boolean not null default false,
  -- The cancelled bill that this term bills again.
  replaces_bill_id bigint,
  constraint terms_batch_fkey FOREIGN KEY (tenant_id, batch_id) REFERENCES batches(tenant_id, batch_id),
  constraint terms_context_fkey FOREIGN KEY (tenant_id, context_id) REFERENCES pricing_contexts(tenant_id, context_id),
  constraint terms_dates CHECK (((end_date >= start_date) AND (due_date >= start_date) AND ((end_date - start_date) < 366))),
  constraint terms_label_check CHECK ((label <> ''::text)),
  constraint terms_overlap EXCLUDE USING gist (tenant_id WITH =, context_id WITH =, batch_id WITH =, billing_period_id WITH =, daterange(start_date, end_date, '[]'::text) WITH &&) WHERE (((term_type = 'Regular'::text) AND (status <> 'Cancelled'::text))),
  constraint terms_period_fkey FOREIGN KEY (tenant_id, billing_period_id) REFERENCES billing_periods(tenant_id, period_id),
  constraint terms_pkey PRIMARY KEY (tenant_id, term_id),
  constraint terms_post_type_check CHECK ((post_type = ANY (ARRAY['Post Subscription'::text, 'Post Account'::text, 'Post Party'::text]))),
  constraint terms_stage_check CHECK ((stage = ANY (ARRAY['Created'::text, 'ReadingsUploaded'::text, 'ReadingsPosted'::text, 'ComponentsPosted'::text, 'Generating'::text, 'Generated'::text, 'Posting'::text, 'Posted'::text, 'Publishing'::text, 'Published'::text, 'Distributing'::text, 'Distributed'::text, 'Cancelled'::text]))),
  constraint terms_status_check CHECK ((status = ANY (ARRAY['Open'::text, 'Posted'::text, 'Published'::text, 'Cancelled'::text]))),
  constraint terms_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint terms_term_type_check CHECK ((term_type = ANY (ARRAY['Regular'::text, 'OffCycle'::text, 'Final'::text])))
);
CREATE INDEX terms_batch ON public.terms USING btree (tenant_id, batch_id);
CREATE INDEX terms_context ON public.terms USING btree (tenant_id, context_id, start_date DESC, term_id DESC);
CREATE UNIQUE INDEX terms_label_key ON public.terms USING btree (tenant_id, context_id, batch_id, label, replaces_bill_id) NULLS NOT DISTINCT WHERE (status <> 'Cancelled'::text);
CREATE INDEX terms_newest ON public.terms USING btree (tenant_id, start_date DESC, term_id DESC);
CREATE INDEX terms_period ON public.terms USING btree (tenant_id, billing_period_id);
alter table terms enable row level security, force row level security;
create policy tenant_wall on terms as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on terms to billwright_api;
grant insert, select, update on terms to billwright_worker;

-- A job: one step of a bill run that was requested. This row is authoritative; the queue only says
-- that there is something to look at.
create table jobs (
  tenant_id bigint not null,
  job_id bigint not null,
  operation text not null,
  term_id bigint,
  bill_id bigint,
  status text not null,
  -- True if it was requested to run at once: it blocks other jobs of the term from then on.
  is_immediate boolean not null,
  parameters jsonb not null default '{}'::jsonb,
  -- As it was sent, in the tenant's time zone.
  schedule_time text,
  -- The instant of schedule_time.
  due_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  -- Set when the job ends. While it runs, its chunks are counted.
  done integer not null default 0,
  total integer not null default 0,
  -- {code, message, details}
  error jsonb,
  outcome jsonb,
  requested_by text not null,
  created_at timestamp with time zone not null,
  constraint jobs_parameters_check CHECK ((jsonb_typeof(parameters) = 'object'::text)),
  constraint jobs_pkey PRIMARY KEY (tenant_id, job_id),
  constraint jobs_status_check CHECK ((status = ANY (ARRAY['Scheduled'::text, 'Running'::text, 'Succeeded'::text, 'Failed'::text, 'Cancelled'::text]))),
  constraint jobs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint jobs_tenant_id_term_id_fkey FOREIGN KEY (tenant_id, term_id) REFERENCES terms(tenant_id, term_id)
);
CREATE INDEX jobs_due ON public.jobs USING btree (tenant_id, due_at) WHERE (status = ANY (ARRAY['Scheduled'::text, 'Running'::text]));
CREATE INDEX jobs_finished ON public.jobs USING btree (tenant_id, finished_at) WHERE (finished_at IS NOT NULL);
CREATE UNIQUE INDEX jobs_one_per_term ON public.jobs USING btree (tenant_id, term_id) WHERE ((term_id IS NOT NULL) AND ((status = 'Running'::text) OR ((status = 'Scheduled'::text) AND is_immediate)));
CREATE INDEX jobs_term ON public.jobs USING btree (tenant_id, term_id, job_id) WHERE (term_id IS NOT NULL);
CREATE TRIGGER jobs_noted AFTER INSERT ON public.jobs FOR EACH ROW EXECUTE FUNCTION note_job();
alter table jobs enable row level security, force row level security;
create policy tenant_wall on jobs as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on jobs to billwright_api;
grant insert, select, update on jobs to billwright_worker;

-- When a worker next has to look at the jobs of a workspace. One look at this table shows where
-- there is work, and no row of a workspace: it has no wall, and the API role has no right to it.
create table workspace_jobs (
  tenant_id bigint not null,
  -- By the clock of the machine. Null if no job waits.
  next_job_at timestamp with time zone,
  constraint workspace_jobs_pkey PRIMARY KEY (tenant_id),
  constraint workspace_jobs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES workspaces(tenant_id)
);
CREATE INDEX workspace_jobs_next ON public.workspace_jobs USING btree (next_job_at) WHERE (next_job_at IS NOT NULL);
alter table workspace_jobs disable row level security;
grant insert, select, update on workspace_jobs to billwright_worker;

CREATE OR REPLACE FUNCTION public.note_job()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  ahead interval;
  look_at timestamptz := '-infinity';
begin
  -- A sandbox is ahead of the machine: there the job is due sooner than its own date says. What was
  -- asked for at once is due whatever the clocks of two machines show.
  if not new.is_immediate then
    select make_interval(secs => clock_offset_ms / 1000.0) into ahead
    from tenants where tenant_id = require_tenant();
    look_at := new.due_at - ahead;
  end if;
  insert into workspace_jobs as w (tenant_id, next_job_at) values (require_tenant(), look_at)
  on conflict (tenant_id) do update
    set next_job_at = least(w.next_job_at, excluded.next_job_at);
  -- A workspace with a new job is counted at the next opportunity, also if the job has ended by
  -- then.
  insert into operation_counts (tenant_id, kind, state, amount, counted_at)
  values (require_tenant(), 'job', 'Scheduled', 0, clock_timestamp())
  on conflict do nothing;
  perform pg_notify('billwright_jobs', '');
  return null;
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.note_moved_clock()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  update workspace_jobs set next_job_at = '-infinity'
  where tenant_id = require_tenant() and next_job_at is not null;
  perform pg_notify('billwright_jobs', '');
  perform pg_notify('billwright_clocks', require_tenant()::text);
  return null;
end
$function$
;
-- owned by the owner

-- A chunk: the part of a job that one worker does in one transaction. The worker locks the row and
-- marks it done together with its effect, so that it is done once even if a worker dies. The rows
-- are deleted when the job has ended.
create table job_chunks (
  tenant_id bigint not null,
  job_id bigint not null,
  chunk integer not null,
  -- The range of ids that the chunk works on (subscriptions, accounts, parties or bills), both
  -- inclusive.
  first_id bigint not null,
  last_id bigint not null,
  is_done boolean not null default false,
  done integer not null default 0,
  outcome jsonb,
  -- Why the chunk was set aside: {code, message}.
  error jsonb,
  constraint job_chunks_chunk_check CHECK ((chunk > 0)),
  constraint job_chunks_pkey PRIMARY KEY (tenant_id, job_id, chunk),
  constraint job_chunks_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES jobs(tenant_id, job_id)
);
CREATE INDEX job_chunks_open ON public.job_chunks USING btree (tenant_id, job_id, chunk) WHERE (NOT is_done);
alter table job_chunks enable row level security, force row level security;
create policy tenant_wall on job_chunks as permissive for all using ((tenant_id = current_tenant()));
grant select on job_chunks to billwright_api;
grant delete, insert, select, update on job_chunks to billwright_worker;

-- An attempt of a worker at a chunk. It is written by a connection of its own before the work
-- begins and deleted with the effect: a row that remains shows a worker that died or failed.
-- Without its row no chunk can be marked done.
create table chunk_attempts (
  tenant_id bigint not null,
  job_id bigint not null,
  -- 0 is the beginning of the job, -1 its end.
  chunk integer not null,
  attempt integer not null,
  worker text not null,
  -- The connection that holds the chunk.
  backend_pid integer not null,
  started_at timestamp with time zone not null default clock_timestamp(),
  -- The heartbeat of the worker.
  seen_at timestamp with time zone not null default clock_timestamp(),
  error text,
  constraint chunk_attempts_pkey PRIMARY KEY (tenant_id, job_id, chunk, attempt),
  constraint chunk_attempts_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES jobs(tenant_id, job_id)
);
alter table chunk_attempts enable row level security, force row level security;
create policy tenant_wall on chunk_attempts as permissive for all using ((tenant_id = current_tenant()));
grant delete, insert, select, update on chunk_attempts to billwright_worker;

CREATE OR REPLACE FUNCTION public.end_lost_attempts(lease interval)
 RETURNS SETOF bigint
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
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
$function$
;
-- owned by the owner

-- A daily job of a local date of a workspace. Each job runs once for each date.
create table daily_runs (
  tenant_id bigint not null,
  job text not null,
  local_date date not null,
  -- Null while chunks of the job are left.
  finished_at timestamp with time zone,
  outcome jsonb not null,
  -- The key of the last row that the chunks have done; the next chunk begins after it.
  progress jsonb,
  constraint daily_runs_pkey PRIMARY KEY (tenant_id, job, local_date),
  constraint daily_runs_progress_check CHECK ((jsonb_typeof(progress) = 'object'::text)),
  constraint daily_runs_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
alter table daily_runs enable row level security, force row level security;
create policy tenant_wall on daily_runs as permissive for all using ((tenant_id = current_tenant()));
grant select on daily_runs to billwright_api;
grant insert, select on daily_runs to billwright_worker;
grant update (finished_at, outcome, progress) on daily_runs to billwright_worker;

-- The reading that a register is billed with in a term, and the one it starts from. The reading is
-- Locked, and Billed once the term is posted.
create table term_readings (
  tenant_id bigint not null,
  term_id bigint not null,
  subscription_id bigint not null,
  assignment_id bigint not null,
  "position" smallint not null,
  previous_date date,
  previous_value numeric,
  previous_type text,
  reading_id bigint not null,
  reading_date date not null,
  value numeric not null,
  reading_type text not null,
  rollover boolean not null default false,
  -- How many readings in a row were estimates, this one included.
  estimates smallint not null default 0,
  -- True if the register was not read: the reading was estimated for this term, or the previous one
  -- is used again. A later reading replaces it.
  is_stand_in boolean not null default false,
  locked_at timestamp with time zone not null,
  locked_by text not null,
  constraint term_readings_pkey PRIMARY KEY (tenant_id, term_id, subscription_id, assignment_id, "position"),
  constraint term_readings_tenant_id_reading_id_fkey FOREIGN KEY (tenant_id, reading_id) REFERENCES readings(tenant_id, reading_id),
  constraint term_readings_tenant_id_term_id_fkey FOREIGN KEY (tenant_id, term_id) REFERENCES terms(tenant_id, term_id)
);
CREATE INDEX term_readings_reading ON public.term_readings USING btree (tenant_id, reading_id);
CREATE INDEX term_readings_register ON public.term_readings USING btree (tenant_id, assignment_id, "position", reading_date DESC);
alter table term_readings enable row level security, force row level security;
create policy tenant_wall on term_readings as permissive for all using ((tenant_id = current_tenant()));
grant select on term_readings to billwright_api;
grant delete, insert, select, update on term_readings to billwright_worker;

CREATE OR REPLACE FUNCTION public.keep_locked_readings()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (
    select from term_readings t where t.tenant_id = old.tenant_id and t.reading_id = old.reading_id
  ) then
    raise exception 'reading % is locked by a term', old.reading_id
      using errcode = 'check_violation', constraint = 'readings_locked';
  end if;
  return new;
end
$function$
;
-- owned by the owner

-- A value that was uploaded for a component of a subscription in a term.
create table manual_values (
  tenant_id bigint not null,
  term_id bigint not null,
  subscription_id bigint not null,
  component text not null,
  value numeric not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  constraint manual_values_pkey PRIMARY KEY (tenant_id, term_id, subscription_id, component),
  constraint manual_values_tenant_id_subscription_id_fkey FOREIGN KEY (tenant_id, subscription_id) REFERENCES subscriptions(tenant_id, subscription_id),
  constraint manual_values_tenant_id_term_id_fkey FOREIGN KEY (tenant_id, term_id) REFERENCES terms(tenant_id, term_id)
);
CREATE INDEX manual_values_subscription ON public.manual_values USING btree (tenant_id, subscription_id);
alter table manual_values enable row level security, force row level security;
create policy tenant_wall on manual_values as permissive for all using ((tenant_id = current_tenant()));
grant select on manual_values to billwright_api;
grant delete, insert, select, update on manual_values to billwright_worker;

-- Uploaded usage of a subscription: of one day, or of the whole term, whose date is infinity.
create table term_usage (
  tenant_id bigint not null,
  term_id bigint not null,
  subscription_id bigint not null,
  input text not null,
  usage_date date not null,
  quantity numeric not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  constraint term_usage_pkey PRIMARY KEY (tenant_id, term_id, subscription_id, input, usage_date),
  constraint term_usage_tenant_id_subscription_id_fkey FOREIGN KEY (tenant_id, subscription_id) REFERENCES subscriptions(tenant_id, subscription_id),
  constraint term_usage_tenant_id_term_id_fkey FOREIGN KEY (tenant_id, term_id) REFERENCES terms(tenant_id, term_id)
);
CREATE INDEX term_usage_subscription ON public.term_usage USING btree (tenant_id, subscription_id);
alter table term_usage enable row level security, force row level security;
create policy tenant_wall on term_usage as permissive for all using ((tenant_id = current_tenant()));
grant select on term_usage to billwright_api;
grant delete, insert, select, update on term_usage to billwright_worker;

-- A subscription that an off-cycle or final term bills. Such a term bills these and no others.
create table term_subscriptions (
  tenant_id bigint not null,
  term_id bigint not null,
  subscription_id bigint not null,
  constraint term_subscriptions_pkey PRIMARY KEY (tenant_id, term_id, subscription_id),
  constraint term_subscriptions_tenant_id_subscription_id_fkey FOREIGN KEY (tenant_id, subscription_id) REFERENCES subscriptions(tenant_id, subscription_id),
  constraint term_subscriptions_tenant_id_term_id_fkey FOREIGN KEY (tenant_id, term_id) REFERENCES terms(tenant_id, term_id)
);
CREATE INDEX term_subscriptions_subscription ON public.term_subscriptions USING btree (tenant_id, subscription_id);
alter table term_subscriptions enable row level security, force row level security;
create policy tenant_wall on term_subscriptions as permissive for all using ((tenant_id = current_tenant()));
grant delete, insert, select on term_subscriptions to billwright_api;
grant delete, insert, select on term_subscriptions to billwright_worker;

-- bills (0009_bills.sql)

-- A run: one numbered generation of the bills of a term. A bill that a run leaves the same is not
-- written again: it belongs to every run from its first one on.
create table bill_runs (
  tenant_id bigint not null,
  term_id bigint not null,
  run_number integer not null,
  job_id bigint not null,
  -- Null for the whole term, or the one bill that was generated again.
  bill_id bigint,
  -- That of the pricing context when the run rated its bills.
  book_version bigint not null,
  -- {context, plans: {planId: version}}: the newest versions at that time. A bill can be rated
  -- again with them, whatever was saved since.
  versions jsonb not null,
  -- The first id reserved for new bills. Null if there were no new billed units.
  first_bill_id bigint,
  -- How many billed units go into one chunk: the bills of the n-th chunk take their ids from the
  -- n-th part of the reserved ids.
  part_size integer not null,
  started_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  -- {subscriptions, bills, errors, holds, currentCharges, ...} when it is finished.
  totals jsonb,
  -- What was reserved when posting began, so that posting after a failure gives every bill the same
  -- number: {firstNumber, firstEntry, firstJournal, bills, skipped, postingDate, ranges: [[first,
  -- last]]}.
  reserved jsonb,
  generated_by text not null,
  constraint bill_runs_pkey PRIMARY KEY (tenant_id, term_id, run_number),
  constraint bill_runs_run_number_check CHECK ((run_number > 0)),
  constraint bill_runs_tenant_id_term_id_fkey FOREIGN KEY (tenant_id, term_id) REFERENCES terms(tenant_id, term_id)
);
alter table bill_runs enable row level security, force row level security;
create policy tenant_wall on bill_runs as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on bill_runs to billwright_api;
grant insert, select, update on bill_runs to billwright_worker;

-- A bill: its state, dates and amounts in minor units. Its document and frozen inputs are in
-- bill_contents. References are checked by the program for a thousand rows at once: a foreign key
-- checked for each row would cost as much as the row.
create table bills (
  tenant_id bigint not null default current_tenant(),
  bill_id bigint not null,
  term_id bigint not null,
  -- The run that made this version of the bill.
  first_run integer not null,
  context_id bigint not null,
  batch_id bigint not null,
  -- The billed unit: a subscription, an account or a party, by the post type of the term.
  unit_id bigint not null,
  -- Null on a bill of several subscriptions, which are then in bill_parts.
  subscription_id bigint,
  account_id bigint,
  party_id bigint not null,
  plan_id bigint,
  bill_type text not null,
  status text not null,
  -- True if an operator holds the bill; this survives regeneration. A hold by rule is decided
  -- again.
  is_held boolean not null default false,
  hold_reason text,
  bill_number text,
  -- How often it was posted.
  posting smallint not null default 0,
  issue_date date,
  due_date date not null,
  billed_from date,
  billed_to date,
  days integer not null,
  current_charges bigint not null,
  tax_amount bigint not null,
  rounding_adjustment bigint not null,
  bill_amount bigint not null,
  previous_balance bigint not null,
  payments_received bigint not null,
  adjustments bigint not null,
  arrears bigint not null,
  wallet_applied bigint not null default 0,
  payable bigint not null,
  credit_balance bigint not null,
  late_surcharge bigint not null,
  -- The part of bill_amount that is paid. This and the next four columns are kept by a trigger on
  -- subledger_entries. Below zero on a bill below zero that was used to pay others.
  paid_amount bigint not null default 0,
  credited bigint not null default 0,
  written_off bigint not null default 0,
  -- Owed by the next owner now, as an open item.
  transferred bigint not null default 0,
  -- Booked on the account Disputed until the dispute is resolved.
  disputed bigint not null default 0,
  -- The day on which it was found unpaid after its due date. Kept when it is paid: a payment that
  -- is taken back leaves the bill overdue.
  overdue_on date,
  -- The last billed day of the subscription before this bill. Null if the term sets it.
  previously_billed_to date,
  -- All payments of the subscription when the bill was made. Those of several subscriptions are in
  -- bill_parts.
  received bigint not null default 0,
  -- When the subscription last changed before it was rated (of several, the sum). Another value
  -- means a stale bill.
  unit_ts bigint not null,
  hash bytea not null,
  -- {input: {quantity, type, carried?}}: the usage that posting records. Null on a bill of several
  -- subscriptions.
  usage json,
  -- {"type component": amount}: what posting books.
  charges json not null default '{}'::json,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  -- Error or Hold, if the bill is in review. This column, cancelled_id and is_settled do not change
  -- when a draft is posted: indexes on them are not touched then.
  review_status text generated always as (
CASE
    WHEN (status = ANY (ARRAY['Error'::text, 'Hold'::text])) THEN status
    ELSE NULL::text
END) stored,
  -- The id of the bill, if it is cancelled.
  cancelled_id bigint generated always as (
CASE
    WHEN (status = 'Cancelled'::text) THEN bill_id
    ELSE NULL::bigint
END) stored,
  -- True if nothing of the bill is open: neither to be paid nor, below zero, to be used.
  is_settled boolean not null generated always as ((bill_amount = ((((paid_amount + credited) + written_off) + transferred) + disputed))) stored,
  payment_status text not null generated always as (
CASE
    WHEN (status <> ALL (ARRAY['Posted'::text, 'Published'::text])) THEN 'Unpaid'::text
    WHEN (bill_amount <= (((paid_amount + credited) + written_off) + transferred)) THEN
    CASE
        WHEN (written_off > 0) THEN 'WrittenOff'::text
        ELSE 'Paid'::text
    END
    WHEN ((overdue_on IS NOT NULL) AND (bill_amount > ((((paid_amount + credited) + written_off) + transferred) + disputed))) THEN 'Overdue'::text
    WHEN (paid_amount > 0) THEN 'PartiallyPaid'::text
    ELSE 'Unpaid'::text
END) stored,
  -- The day on which its late surcharge was posted, as open items. Kept when that is taken back: a
  -- bill is surcharged once.
  surcharged_on date,
  constraint bills_amount CHECK ((bill_amount = (current_charges + rounding_adjustment))),
  constraint bills_arrears CHECK ((arrears = ((previous_balance - payments_received) + adjustments))),
  constraint bills_bill_type_check CHECK ((bill_type = ANY (ARRAY['Regular'::text, 'OffCycle'::text, 'Final'::text]))),
  constraint bills_not_settled_twice CHECK (((((((paid_amount + credited) + written_off) + transferred) + disputed) >= LEAST(bill_amount, (0)::bigint)) AND (((((paid_amount + credited) + written_off) + transferred) + disputed) <= GREATEST(bill_amount, (0)::bigint)))),
  constraint bills_number_when_posted CHECK (((status <> ALL (ARRAY['Posted'::text, 'Published'::text])) OR (bill_number IS NOT NULL))),
  constraint bills_payable CHECK ((((payable - credit_balance) = (((current_charges + arrears) + rounding_adjustment) - wallet_applied)) AND (payable >= 0) AND (credit_balance >= 0) AND ((payable = 0) OR (credit_balance = 0)))),
  constraint bills_pkey PRIMARY KEY (tenant_id, bill_id),
  constraint bills_status_check CHECK ((status = ANY (ARRAY['Draft'::text, 'Error'::text, 'Hold'::text, 'Posted'::text, 'Published'::text, 'Cancelled'::text])))
) with (fillfactor=50);
CREATE INDEX bills_cancelled ON public.bills USING btree (tenant_id, term_id) WHERE (cancelled_id IS NOT NULL);
CREATE INDEX bills_credits ON public.bills USING btree (tenant_id, party_id) WHERE ((bill_amount < 0) AND (NOT is_settled));
CREATE INDEX bills_falling_due ON public.bills USING btree (tenant_id, due_date, bill_id) WHERE ((issue_date IS NOT NULL) AND (overdue_on IS NULL) AND (NOT is_settled));
CREATE INDEX bills_late ON public.bills USING btree (tenant_id, payment_status, bill_id) WHERE (payment_status = ANY (ARRAY['PartiallyPaid'::text, 'Overdue'::text, 'WrittenOff'::text]));
CREATE INDEX bills_overdue ON public.bills USING btree (tenant_id, subscription_id) WHERE ((overdue_on IS NOT NULL) AND (NOT is_settled));
CREATE INDEX bills_party ON public.bills USING btree (tenant_id, party_id, is_settled) INCLUDE (bill_id);
CREATE INDEX bills_review ON public.bills USING btree (tenant_id, term_id, review_status, bill_id) WHERE (review_status IS NOT NULL);
CREATE INDEX bills_subscription ON public.bills USING btree (tenant_id, subscription_id, is_settled) INCLUDE (bill_id) WHERE (subscription_id IS NOT NULL);
CREATE INDEX bills_to_surcharge ON public.bills USING btree (tenant_id, due_date, bill_id) WHERE ((issue_date IS NOT NULL) AND (surcharged_on IS NULL) AND (NOT is_settled) AND (late_surcharge > 0));
CREATE UNIQUE INDEX bills_unit_key ON public.bills USING btree (tenant_id, term_id, unit_id, cancelled_id) NULLS NOT DISTINCT;
CREATE INDEX bills_written_off ON public.bills USING btree (tenant_id, party_id) WHERE (written_off > 0);
CREATE TRIGGER bills_due_with_term AFTER UPDATE OF due_date ON public.bills FOR EACH ROW WHEN (((old.status = 'Posted'::text) AND (new.status = 'Posted'::text) AND (old.due_date <> new.due_date) AND is_program())) EXECUTE FUNCTION check_due_date();
CREATE TRIGGER bills_open_moved AFTER UPDATE OF due_date ON public.bills FOR EACH ROW WHEN (((old.due_date <> new.due_date) AND (old.status = ANY (ARRAY['Posted'::text, 'Published'::text])) AND (new.status = ANY (ARRAY['Posted'::text, 'Published'::text])) AND (NOT new.is_settled))) EXECUTE FUNCTION move_open_bill();
CREATE TRIGGER bills_overdue_after_due_date AFTER UPDATE OF overdue_on ON public.bills FOR EACH ROW WHEN (((new.overdue_on IS NOT NULL) AND (old.overdue_on IS DISTINCT FROM new.overdue_on) AND ((new.status <> 'Published'::text) OR (new.overdue_on <= new.due_date)) AND is_program())) EXECUTE FUNCTION refuse_settling();
CREATE TRIGGER bills_paid_as_booked AFTER UPDATE OF paid_amount, credited, written_off, transferred, disputed ON public.bills FOR EACH ROW WHEN (((((((old.paid_amount IS DISTINCT FROM new.paid_amount) OR (old.credited IS DISTINCT FROM new.credited)) OR (old.written_off IS DISTINCT FROM new.written_off)) OR (old.transferred IS DISTINCT FROM new.transferred)) OR (old.disputed IS DISTINCT FROM new.disputed)) AND is_program())) EXECUTE FUNCTION refuse_settling();
CREATE TRIGGER bills_posted_fixed AFTER UPDATE OF hash, bill_amount, bill_number, current_charges, tax_amount, billed_from, billed_to, unit_id, term_id, charges, usage ON public.bills FOR EACH ROW WHEN (((old.status = ANY (ARRAY['Posted'::text, 'Published'::text, 'Cancelled'::text])) AND (new.status = ANY (ARRAY['Posted'::text, 'Published'::text, 'Cancelled'::text])))) EXECUTE FUNCTION keep_posted_bills();
CREATE TRIGGER bills_posted_kept BEFORE DELETE ON public.bills FOR EACH ROW WHEN ((old.status = ANY (ARRAY['Posted'::text, 'Published'::text, 'Cancelled'::text]))) EXECUTE FUNCTION refuse_posted_delete();
CREATE TRIGGER bills_posted_kept_as_is AFTER UPDATE OF party_id, account_id, subscription_id, plan_id, context_id, batch_id, bill_type, posting, days, received, previous_balance, payments_received, adjustments, late_surcharge, previously_billed_to, due_date, issue_date ON public.bills FOR EACH ROW WHEN (((old.status = ANY (ARRAY['Posted'::text, 'Published'::text, 'Cancelled'::text])) AND (new.status = ANY (ARRAY['Posted'::text, 'Published'::text, 'Cancelled'::text])) AND ((((((((((((((((old.party_id IS DISTINCT FROM new.party_id) OR (old.account_id IS DISTINCT FROM new.account_id)) OR (old.subscription_id IS DISTINCT FROM new.subscription_id)) OR (old.plan_id IS DISTINCT FROM new.plan_id)) OR (old.context_id IS DISTINCT FROM new.context_id)) OR (old.batch_id IS DISTINCT FROM new.batch_id)) OR (old.bill_type IS DISTINCT FROM new.bill_type)) OR (old.posting IS DISTINCT FROM new.posting)) OR (old.days IS DISTINCT FROM new.days)) OR (old.received IS DISTINCT FROM new.received)) OR (old.previous_balance IS DISTINCT FROM new.previous_balance)) OR (old.payments_received IS DISTINCT FROM new.payments_received)) OR (old.adjustments IS DISTINCT FROM new.adjustments)) OR (old.late_surcharge IS DISTINCT FROM new.late_surcharge)) OR (old.previously_billed_to IS DISTINCT FROM new.previously_billed_to)) OR ((old.status <> 'Posted'::text) AND ((old.due_date IS DISTINCT FROM new.due_date) OR (old.issue_date IS DISTINCT FROM new.issue_date)))) AND is_program())) EXECUTE FUNCTION refuse_bill_change();
CREATE TRIGGER bills_status_step AFTER UPDATE OF status ON public.bills FOR EACH ROW WHEN (((old.status <> new.status) AND (((old.status = 'Published'::text) AND (new.status <> 'Cancelled'::text)) OR ((old.status = 'Cancelled'::text) AND (old.bill_number IS NOT NULL)) OR ((CURRENT_USER = 'billwright_api'::name) AND ((old.status = ANY (ARRAY['Posted'::text, 'Published'::text])) OR (new.status = ANY (ARRAY['Posted'::text, 'Published'::text]))))) AND is_program())) EXECUTE FUNCTION refuse_bill_step();
alter table bills enable row level security, force row level security;
create policy tenant_wall on bills as permissive for all using ((tenant_id = current_tenant()));
grant select on bills to billwright_api;
grant delete, insert, select, update on bills to billwright_worker;
grant update (status, is_held, hold_reason, due_date, modified_at, modified_by, ts) on bills to billwright_api;
grant insert (bill_id, term_id, first_run, context_id, batch_id, unit_id, subscription_id, account_id, party_id, plan_id, bill_type, status, is_held, hold_reason, posting, due_date, billed_from, billed_to, days, current_charges, tax_amount, rounding_adjustment, bill_amount, previous_balance, payments_received, adjustments, arrears, payable, credit_balance, late_surcharge, previously_billed_to, received, unit_ts, hash, usage, charges, created_at, created_by, modified_at, modified_by, ts) on bills to billwright_bulk;

-- The document and the frozen inputs of a bill, as the bytes that were hashed. They are written
-- once, while the row in bills is written again whenever the bill is posted, published or paid.
create table bill_contents (
  tenant_id bigint not null default current_tenant(),
  bill_id bigint not null,
  document json not null,
  frozen json not null,
  constraint bill_contents_pkey PRIMARY KEY (tenant_id, bill_id)
) with (toast_tuple_target=8160);
CREATE TRIGGER bill_contents_fixed BEFORE UPDATE ON public.bill_contents FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER bill_contents_kept AFTER DELETE ON public.bill_contents REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION keep_bill_contents();
alter table bill_contents enable row level security, force row level security;
create policy tenant_wall on bill_contents as permissive for all using ((tenant_id = current_tenant()));
grant delete, select on bill_contents to billwright_api;
grant delete, insert, select on bill_contents to billwright_worker;
grant insert (bill_id, document, frozen) on bill_contents to billwright_bulk;

-- A subscription on a bill that is made for an account or a party.
create table bill_parts (
  tenant_id bigint not null,
  bill_id bigint not null,
  subscription_id bigint not null,
  -- The part of bill_amount that is owed for the subscription.
  amount bigint not null,
  arrears bigint not null,
  days integer not null,
  billed_to date,
  previously_billed_to date,
  -- All payments of the subscription when the bill was made.
  received bigint not null default 0,
  unit_ts bigint not null,
  -- This and the next four columns are kept by a trigger on subledger_entries, as those of bills.
  paid_amount bigint not null default 0,
  credited bigint not null default 0,
  written_off bigint not null default 0,
  transferred bigint not null default 0,
  disputed bigint not null default 0,
  constraint bill_parts_not_settled_twice CHECK (((((((paid_amount + credited) + written_off) + transferred) + disputed) >= LEAST(amount, (0)::bigint)) AND (((((paid_amount + credited) + written_off) + transferred) + disputed) <= GREATEST(amount, (0)::bigint)))),
  constraint bill_parts_pkey PRIMARY KEY (tenant_id, bill_id, subscription_id),
  constraint bill_parts_tenant_id_bill_id_fkey FOREIGN KEY (tenant_id, bill_id) REFERENCES bills(tenant_id, bill_id)
);
CREATE INDEX bill_parts_subscription ON public.bill_parts USING btree (tenant_id, subscription_id) INCLUDE (bill_id);
CREATE TRIGGER bill_parts_paid_as_booked AFTER UPDATE OF paid_amount, credited, written_off, transferred, disputed ON public.bill_parts FOR EACH ROW WHEN (((((((old.paid_amount IS DISTINCT FROM new.paid_amount) OR (old.credited IS DISTINCT FROM new.credited)) OR (old.written_off IS DISTINCT FROM new.written_off)) OR (old.transferred IS DISTINCT FROM new.transferred)) OR (old.disputed IS DISTINCT FROM new.disputed)) AND is_program())) EXECUTE FUNCTION refuse_settling();
alter table bill_parts enable row level security, force row level security;
create policy tenant_wall on bill_parts as permissive for all using ((tenant_id = current_tenant()));
grant select on bill_parts to billwright_api;
grant delete, insert, select on bill_parts to billwright_worker;
grant update (unit_ts) on bill_parts to billwright_worker;

create view bill_lines with (security_invoker=true) as
 SELECT b.tenant_id,
    b.bill_id,
    b.bill_number,
    b.term_id,
    b.subscription_id,
    b.party_id,
    b.status,
    (l.number)::integer AS line_number,
    (l.line ->> 'component'::text) AS component,
    (l.line ->> 'type'::text) AS component_type,
    ((l.line ->> 'amount'::text))::bigint AS amount,
    COALESCE((l.line ->> 'tariffCode'::text), (k.document ->> 'tariffCode'::text)) AS plan_code
   FROM ((bills b
     JOIN bill_contents k ON (((k.tenant_id = b.tenant_id) AND (k.bill_id = b.bill_id))))
     CROSS JOIN LATERAL json_array_elements((k.document -> 'lines'::text)) WITH ORDINALITY l(line, number));
grant select on bill_lines to billwright_api;
grant select on bill_lines to billwright_worker;

-- An earlier version of a bill that a later run changed or dropped, kept for comparison.
create table superseded_bills (
  tenant_id bigint not null,
  term_id bigint not null,
  bill_id bigint not null,
  first_run integer not null,
  -- The last run that this version belongs to.
  last_run integer not null,
  unit_id bigint not null,
  subscription_id bigint,
  status text not null,
  current_charges bigint not null,
  bill_amount bigint not null,
  hash bytea not null,
  document json not null,
  frozen json not null,
  constraint superseded_bills_pkey PRIMARY KEY (tenant_id, term_id, bill_id, first_run)
);
CREATE INDEX superseded_bills_run ON public.superseded_bills USING btree (tenant_id, term_id, last_run);
alter table superseded_bills enable row level security, force row level security;
create policy tenant_wall on superseded_bills as permissive for all using ((tenant_id = current_tenant()));
grant delete, insert, select on superseded_bills to billwright_api;
grant delete, insert, select on superseded_bills to billwright_worker;

-- What was billed of a subscription in its last terms.
create table usage_histories (
  tenant_id bigint not null,
  subscription_id bigint not null,
  -- Newest first: {termId, label, endDate, days, amount, usage: {input: {quantity, type,
  -- carried?}}}. An array of documents, so that posting adds one without parsing the others.
  terms json[] not null,
  -- What the newest bill asked for, arrears included.
  brought_forward bigint not null default 0,
  -- All payments of the subscription when the newest bill was made. The next bill shows those that
  -- were received since.
  received bigint not null default 0,
  -- What the newest bill charged by rules of segments, by component. Only for bills made in
  -- advance, which the next bill may have to correct.
  billed jsonb,
  constraint usage_histories_billed_check CHECK ((jsonb_typeof(billed) = 'object'::text)),
  constraint usage_histories_pkey PRIMARY KEY (tenant_id, subscription_id),
  constraint usage_histories_tenant_id_subscription_id_fkey FOREIGN KEY (tenant_id, subscription_id) REFERENCES subscriptions(tenant_id, subscription_id)
) with (toast_tuple_target=4080, fillfactor=45);
alter table usage_histories enable row level security, force row level security;
create policy tenant_wall on usage_histories as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on usage_histories to billwright_api;
grant insert, select, update on usage_histories to billwright_worker;

-- A gapless series of numbers that people see. Its key is the printed number without the counter:
-- ELEC-2026- of ELEC-2026-000017.
create table number_series (
  tenant_id bigint not null,
  series_id integer not null,
  kind text not null,
  series_key text not null,
  -- The first number that the series is gapless from: above 1 if numbers were given before.
  first_number bigint not null default 1,
  last_number bigint not null,
  constraint number_series_check CHECK ((last_number >= (first_number - 1))),
  constraint number_series_first_number_check CHECK ((first_number >= 1)),
  constraint number_series_kind_check CHECK ((kind = ANY (ARRAY['Bill'::text, 'CreditNote'::text, 'Receipt'::text]))),
  constraint number_series_pkey PRIMARY KEY (tenant_id, series_id),
  constraint number_series_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint number_series_tenant_id_kind_series_key_key UNIQUE (tenant_id, kind, series_key)
);
alter table number_series enable row level security, force row level security;
create policy tenant_wall on number_series as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on number_series to billwright_api;
grant insert, select on number_series to billwright_worker;
grant update (last_number) on number_series to billwright_api;
grant update (last_number) on number_series to billwright_worker;

-- A bill number that was given. A number that was taken back is retired and never given again.
create table bill_numbers (
  tenant_id bigint not null,
  bill_number text not null,
  bill_id bigint not null,
  term_id bigint not null,
  retired_reason text,
  retired_at timestamp with time zone,
  retired_by text,
  -- Null for a number that was given outside a series.
  series_id integer,
  series_number bigint,
  constraint bill_numbers_pkey PRIMARY KEY (tenant_id, bill_number),
  constraint bill_numbers_retired CHECK ((num_nulls(retired_reason, retired_at, retired_by) = ANY (ARRAY[0, 3]))),
  constraint bill_numbers_series CHECK ((num_nulls(series_id, series_number) = ANY (ARRAY[0, 2])))
);
CREATE INDEX bill_numbers_retired ON public.bill_numbers USING btree (tenant_id, term_id) WHERE (retired_at IS NOT NULL);
CREATE TRIGGER bill_numbers_retired_once BEFORE UPDATE ON public.bill_numbers FOR EACH ROW WHEN (((old.retired_at IS NOT NULL) OR (new.retired_at IS NULL))) EXECUTE FUNCTION refuse_change();
alter table bill_numbers enable row level security, force row level security;
create policy tenant_wall on bill_numbers as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on bill_numbers to billwright_api;
grant insert, select on bill_numbers to billwright_worker;
grant update (retired_reason, retired_at, retired_by) on bill_numbers to billwright_worker;

-- A credit note. A posted bill is never changed: credit notes take it back, in part or as a whole.
create table credit_notes (
  tenant_id bigint not null,
  credit_note_id bigint not null,
  credit_note_number text not null,
  bill_id bigint not null,
  party_id bigint not null,
  -- In minor units; below zero if the bill was itself a credit.
  amount bigint not null,
  -- What had been paid of it, and is returned to the wallet of the party.
  to_wallet bigint not null,
  issue_date date not null,
  reason text not null,
  -- Null if there was nothing to book.
  journal_id bigint,
  -- The term that bills the days again.
  rebill_term_id bigint,
  created_at timestamp with time zone not null,
  created_by text not null,
  series_id integer,
  series_number bigint,
  -- The reference of the caller, unique for ever. Null if none was given: the number is it then.
  reference text,
  -- True for the credit note by which the bill was cancelled: it credits what was left.
  cancels_bill boolean not null default false,
  constraint credit_notes_pkey PRIMARY KEY (tenant_id, credit_note_id),
  constraint credit_notes_reason_check CHECK ((reason <> ''::text)),
  constraint credit_notes_reference_check CHECK ((reference <> ''::text)),
  constraint credit_notes_series CHECK ((num_nulls(series_id, series_number) = ANY (ARRAY[0, 2]))),
  constraint credit_notes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint credit_notes_tenant_id_journal_id_fkey FOREIGN KEY (tenant_id, journal_id) REFERENCES journals(tenant_id, journal_id),
  constraint credit_notes_tenant_id_party_id_fkey FOREIGN KEY (tenant_id, party_id) REFERENCES parties(tenant_id, party_id),
  constraint credit_notes_tenant_id_rebill_term_id_fkey FOREIGN KEY (tenant_id, rebill_term_id) REFERENCES terms(tenant_id, term_id),
  constraint credit_notes_to_wallet_check CHECK ((to_wallet >= 0))
);
CREATE INDEX credit_notes_bill ON public.credit_notes USING btree (tenant_id, bill_id);
CREATE UNIQUE INDEX credit_notes_cancels_key ON public.credit_notes USING btree (tenant_id, bill_id) WHERE cancels_bill;
CREATE INDEX credit_notes_journal ON public.credit_notes USING btree (tenant_id, journal_id);
CREATE UNIQUE INDEX credit_notes_number_key ON public.credit_notes USING btree (tenant_id, credit_note_number);
CREATE INDEX credit_notes_party ON public.credit_notes USING btree (tenant_id, party_id, credit_note_id);
CREATE INDEX credit_notes_rebill ON public.credit_notes USING btree (tenant_id, rebill_term_id);
CREATE UNIQUE INDEX credit_notes_reference_key ON public.credit_notes USING btree (tenant_id, reference) WHERE (reference IS NOT NULL);
CREATE TRIGGER credit_notes_append_only BEFORE DELETE OR UPDATE ON public.credit_notes FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER credit_notes_documented AFTER INSERT ON public.credit_notes REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_documents();
CREATE TRIGGER credit_notes_sealed AFTER INSERT ON public.credit_notes REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_for_seal('credit-note');
alter table credit_notes enable row level security, force row level security;
create policy tenant_wall on credit_notes as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on credit_notes to billwright_api;
grant insert, select on credit_notes to billwright_worker;

CREATE OR REPLACE FUNCTION public.keep_posted_bills()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.hash <> new.hash or old.bill_amount <> new.bill_amount
    or old.bill_number is distinct from new.bill_number
    or old.current_charges <> new.current_charges or old.tax_amount <> new.tax_amount
    or old.billed_from is distinct from new.billed_from
    or old.billed_to is distinct from new.billed_to
    or old.unit_id <> new.unit_id or old.term_id <> new.term_id
    or old.charges::text <> new.charges::text
    or old.usage::text is distinct from new.usage::text
  then
    raise exception 'a posted bill does not change'
      using errcode = 'check_violation', constraint = 'bills_posted_fixed';
  end if;
  return new;
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.refuse_posted_delete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if is_ending(old.tenant_id) then
    return old;
  end if;
  raise exception 'a posted bill is never deleted'
    using errcode = 'check_violation', constraint = 'bills_posted_kept';
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.keep_bill_contents()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  tenant bigint;
  bill_ids bigint[];
begin
  select min(tenant_id), array_agg(bill_id) into tenant, bill_ids from gone;
  if is_ending(tenant) then
    return null;
  end if;
  if exists (select from bills where tenant_id = tenant and bill_id = any(bill_ids)) then
    raise exception 'a bill is not without its contents'
      using errcode = 'check_violation', constraint = 'bill_contents_kept';
  end if;
  return null;
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.refuse_bill_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'a posted bill does not change'
    using errcode = 'check_violation', constraint = 'bills_posted_fixed';
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.refuse_bill_step()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'a bill that is % does not become %', old.status, new.status
    using errcode = 'check_violation', constraint = 'bills_status_step';
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.check_due_date()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.due_date is distinct from (
    select due_date from terms where tenant_id = new.tenant_id and term_id = new.term_id
  ) then
    raise exception 'a posted bill is due with its term'
      using errcode = 'check_violation', constraint = 'bills_due_with_term';
  end if;
  return null;
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.refuse_settling()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'a bill is settled by entries of the ledger'
    using errcode = 'check_violation', constraint = 'bills_paid_as_booked';
end
$function$
;
-- owned by the owner

-- What is owed and is no bill: an opening balance, a demanded deposit, a surcharge, an adjustment,
-- a fee, what a reversed payment leaves, and what a new owner took over. A bill is its own open
-- item, and has no row here.
create table open_items (
  tenant_id bigint not null,
  item_id bigint not null,
  kind text not null,
  ledger_account_id bigint not null,
  party_id bigint not null,
  -- Null if the party itself owes it.
  subscription_id bigint,
  -- The bill that it belongs to: of a surcharge, the late one.
  bill_id bigint,
  component text,
  issue_date date not null,
  due_date date not null,
  -- In minor units. Below zero it is a credit, which pays other items.
  amount bigint not null,
  -- This and the next four columns are kept by a trigger on subledger_entries.
  paid_amount bigint not null default 0,
  credited bigint not null default 0,
  written_off bigint not null default 0,
  transferred bigint not null default 0,
  disputed bigint not null default 0,
  description text not null,
  reference text,
  created_at timestamp with time zone not null,
  created_by text not null,
  is_settled boolean not null generated always as ((amount = ((((paid_amount + credited) + written_off) + transferred) + disputed))) stored,
  constraint open_items_amount_check CHECK ((amount <> 0)),
  constraint open_items_kind_check CHECK ((kind = ANY (ARRAY['Opening'::text, 'Deposit'::text, 'Surcharge'::text, 'Adjustment'::text, 'Fee'::text, 'Reversal'::text, 'Transfer'::text]))),
  constraint open_items_ledger_account_id_check CHECK ((ledger_account_id = ANY (ARRAY[(2)::bigint, (1000001)::bigint]))),
  constraint open_items_not_settled_twice CHECK (((((((paid_amount + credited) + written_off) + transferred) + disputed) >= LEAST(amount, (0)::bigint)) AND (((((paid_amount + credited) + written_off) + transferred) + disputed) <= GREATEST(amount, (0)::bigint)))),
  constraint open_items_pkey PRIMARY KEY (tenant_id, item_id),
  constraint open_items_tenant_id_party_id_fkey FOREIGN KEY (tenant_id, party_id) REFERENCES parties(tenant_id, party_id),
  constraint open_items_tenant_id_subscription_id_fkey FOREIGN KEY (tenant_id, subscription_id) REFERENCES subscriptions(tenant_id, subscription_id)
) with (fillfactor=50);
CREATE INDEX open_items_bill ON public.open_items USING btree (tenant_id, bill_id) WHERE (bill_id IS NOT NULL);
CREATE INDEX open_items_credits ON public.open_items USING btree (tenant_id, party_id) WHERE ((amount < 0) AND (NOT is_settled));
CREATE UNIQUE INDEX open_items_deposit_key ON public.open_items USING btree (tenant_id, reference) WHERE (kind = 'Deposit'::text);
CREATE INDEX open_items_deposits ON public.open_items USING btree (tenant_id, item_id) WHERE (kind = 'Deposit'::text);
CREATE INDEX open_items_party ON public.open_items USING btree (tenant_id, party_id, is_settled);
CREATE INDEX open_items_subscription ON public.open_items USING btree (tenant_id, subscription_id) WHERE (subscription_id IS NOT NULL);
CREATE UNIQUE INDEX open_items_surcharge_key ON public.open_items USING btree (tenant_id, bill_id, subscription_id) WHERE (kind = 'Surcharge'::text);
CREATE INDEX open_items_written_off ON public.open_items USING btree (tenant_id, party_id) WHERE (written_off > 0);
alter table open_items enable row level security, force row level security;
create policy tenant_wall on open_items as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on open_items to billwright_api;
grant insert, select on open_items to billwright_worker;

CREATE OR REPLACE FUNCTION public.keep_open_items()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
declare
  tenant constant bigint := require_tenant();
  at timestamptz;
  author text;
  bill_ids bigint[];
  item_ids bigint[];
  subscription_ids bigint[];
  paid bigint[];
  credits bigint[];
  written bigint[];
  moved bigint[];
  doubtful bigint[];
  receivable bigint[];
  has_items boolean;
  one_context bigint;
  one record;
  combined_ids bigint[] := '{}';
  -- What changed of what is receivable and open.
  context_ids bigint[] := '{}';
  item_subscriptions bigint[] := '{}';
  due_dates date[] := '{}';
  owed bigint[] := '{}';
  party_ids bigint[] := '{}';
  items smallint[] := '{}';
begin
  select max(s.at), max(s.author), array_agg(s.bill_id), array_agg(s.paid), array_agg(s.credited),
    array_agg(s.written_off), array_agg(s.transferred), array_agg(s.disputed),
    array_agg(s.receivable)
  into at, author, bill_ids, paid, credits, written, moved, doubtful, receivable
  from (
    select bill_id, max(created_at) as at, max(created_by) as author,
      coalesce(sum(settled) filter (where effect = 'paid'), 0)::bigint as paid,
      coalesce(sum(settled) filter (where effect = 'credited'), 0)::bigint as credited,
      coalesce(sum(settled) filter (where effect = 'written_off'), 0)::bigint as written_off,
      coalesce(sum(settled) filter (where effect = 'transferred'), 0)::bigint as transferred,
      coalesce(sum(settled) filter (where effect = 'disputed'), 0)::bigint as disputed,
      coalesce(sum(settled) filter (where ledger_account_id = 2), 0)::bigint as receivable
    from new_rows
    where effect is not null and item_id is null
    group by bill_id
    order by bill_id
  ) s;
  if bill_ids is not null then
    for one in
      update bills b
      set paid_amount = b.paid_amount + n.paid, credited = b.credited + n.credited,
        written_off = b.written_off + n.written_off, transferred = b.transferred + n.transferred,
        disputed = b.disputed + n.disputed, modified_at = at, modified_by = author,
        ts = greatest(b.ts + 1, (extract(epoch from at) * 1000)::bigint)
      from unnest(bill_ids, paid, credits, written, moved, doubtful, receivable)
        as n (bill_id, paid, credited, written_off, transferred, disputed, receivable)
      where b.tenant_id = tenant and b.bill_id = n.bill_id
      returning b.bill_id, b.subscription_id, b.context_id, b.due_date, b.party_id, b.bill_amount,
        n.receivable, b.bill_amount - b.paid_amount - b.credited - b.written_off - b.transferred
          - b.disputed as open_now
    loop
      if one.subscription_id is null then
        combined_ids := combined_ids || one.bill_id;
      end if;
      if one.receivable <> 0 then
        context_ids := context_ids || one.context_id;
        item_subscriptions := item_subscriptions || null::bigint;
        due_dates := due_dates || one.due_date;
        owed := owed || case when one.bill_amount > 0 then -one.receivable else 0 end;
        party_ids := party_ids || one.party_id;
        items := items || ((one.open_now <> 0)::integer
          - (one.open_now + one.receivable <> 0)::integer)::smallint;
      end if;
    end loop;
  end if;
  if combined_ids <> '{}' then
    select array_agg(s.bill_id), array_agg(s.subscription_id), array_agg(s.paid),
      array_agg(s.credited), array_agg(s.written_off), array_agg(s.transferred),
      array_agg(s.disputed)
    into bill_ids, subscription_ids, paid, credits, written, moved, doubtful
    from (
      select bill_id, subscription_id,
        coalesce(sum(settled) filter (where effect = 'paid'), 0)::bigint as paid,
        coalesce(sum(settled) filter (where effect = 'credited'), 0)::bigint as credited,
        coalesce(sum(settled) filter (where effect = 'written_off'), 0)::bigint as written_off,
        coalesce(sum(settled) filter (where effect = 'transferred'), 0)::bigint as transferred,
        coalesce(sum(settled) filter (where effect = 'disputed'), 0)::bigint as disputed
      from new_rows
      where effect is not null and item_id is null and bill_id = any(combined_ids)
      group by bill_id, subscription_id
      order by bill_id, subscription_id
    ) s;
    update bill_parts p
    set paid_amount = p.paid_amount + n.paid, credited = p.credited + n.credited,
      written_off = p.written_off + n.written_off, transferred = p.transferred + n.transferred,
      disputed = p.disputed + n.disputed
    from unnest(bill_ids, subscription_ids, paid, credits, written, moved, doubtful)
      as n (bill_id, subscription_id, paid, credited, written_off, transferred, disputed)
    where p.tenant_id = tenant and p.bill_id = n.bill_id
      and p.subscription_id = n.subscription_id;
  end if;
  has_items := exists (select from new_rows where effect is not null and item_id is not null);
  if has_items then
    select array_agg(s.item_id), array_agg(s.paid), array_agg(s.credited), array_agg(s.written_off),
      array_agg(s.transferred), array_agg(s.disputed), array_agg(s.receivable)
    into item_ids, paid, credits, written, moved, doubtful, receivable
    from (
      select item_id, coalesce(sum(settled) filter (where effect = 'paid'), 0)::bigint as paid,
        coalesce(sum(settled) filter (where effect = 'credited'), 0)::bigint as credited,
        coalesce(sum(settled) filter (where effect = 'written_off'), 0)::bigint as written_off,
        coalesce(sum(settled) filter (where effect = 'transferred'), 0)::bigint as transferred,
        coalesce(sum(settled) filter (where effect = 'disputed'), 0)::bigint as disputed,
        coalesce(sum(settled) filter (where ledger_account_id = 2), 0)::bigint as receivable
      from new_rows
      where effect is not null and item_id is not null
      group by item_id
      order by item_id
    ) s;
  end if;
  if item_ids is not null then
    for one in
      update open_items i
      set paid_amount = i.paid_amount + n.paid, credited = i.credited + n.credited,
        written_off = i.written_off + n.written_off, transferred = i.transferred + n.transferred,
        disputed = i.disputed + n.disputed
      from unnest(item_ids, paid, credits, written, moved, doubtful, receivable)
        as n (item_id, paid, credited, written_off, transferred, disputed, receivable)
      where i.tenant_id = tenant and i.item_id = n.item_id
      returning i.subscription_id, i.due_date, i.party_id, i.amount, n.receivable,
        i.amount - i.paid_amount - i.credited - i.written_off - i.transferred - i.disputed
          as open_now
    loop
      if one.receivable <> 0 then
        context_ids := context_ids || case when one.subscription_id is null then 0 end::bigint;
        item_subscriptions := item_subscriptions || one.subscription_id;
        due_dates := due_dates || one.due_date;
        owed := owed || case when one.amount > 0 then -one.receivable else 0 end;
        party_ids := party_ids || one.party_id;
        items := items || ((one.open_now <> 0)::integer
          - (one.open_now + one.receivable <> 0)::integer)::smallint;
      end if;
    end loop;
  end if;
  if cardinality(party_ids) <= 4 then
    for place in 1..cardinality(party_ids) loop
      one_context := context_ids[place];
      if one_context is null then
        select s.context_id into one_context from subscriptions s
        where s.tenant_id = tenant and s.subscription_id = item_subscriptions[place];
        one_context := coalesce(one_context, 0);
      end if;
      insert into open_changes
        (tenant_id, context_id, due_date, owed, items, party_ids, party_items)
      values (tenant, one_context, due_dates[place], owed[place], items[place],
        case when items[place] <> 0 then array[party_ids[place]] else '{}' end,
        case when items[place] <> 0 then array[items[place]] else '{}' end);
    end loop;
  else
    insert into open_changes (tenant_id, context_id, due_date, owed, items, party_ids, party_items)
    select own.tenant_id, c.context_id, c.due_date, sum(c.owed), sum(c.items),
      coalesce(array_agg(c.party_id) filter (where c.items <> 0), '{}'),
      coalesce(array_agg(c.items) filter (where c.items <> 0), '{}')
    from (select tenant_id from tenants where tenant_id = require_tenant()) own
    cross join (
      select coalesce(u.context_id, (
          select s.context_id from subscriptions s
          where s.tenant_id = tenant and s.subscription_id = u.subscription_id
        ), 0) as context_id, u.due_date, u.owed, u.party_id, u.items
      from unnest(context_ids, item_subscriptions, due_dates, owed, party_ids, items)
        as u (context_id, subscription_id, due_date, owed, party_id, items)
    ) c
    group by own.tenant_id, c.context_id, c.due_date;
  end if;
  return null;
end
$function$
;
-- owned by the owner

-- delivery (0010_delivery.sql)

-- What the documents of a term are made with besides its bills, as it was when they were published:
-- letterhead, bank accounts, template and its version, locale. Bills that are published later add a
-- version.
create table document_settings (
  tenant_id bigint not null,
  term_id bigint not null,
  version integer not null,
  issue_date date not null,
  setting jsonb not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint document_settings_pkey PRIMARY KEY (tenant_id, term_id, version),
  constraint document_settings_setting_check CHECK ((jsonb_typeof(setting) = 'object'::text)),
  constraint document_settings_tenant_id_term_id_fkey FOREIGN KEY (tenant_id, term_id) REFERENCES terms(tenant_id, term_id),
  constraint document_settings_version_check CHECK ((version > 0))
);
alter table document_settings enable row level security, force row level security;
create policy tenant_wall on document_settings as permissive for all using ((tenant_id = current_tenant()));
grant select on document_settings to billwright_api;
grant insert, select on document_settings to billwright_worker;

-- The document of a published bill, with the size and hash of its file. If it could not be made,
-- the row has the error, and its bill is not published.
create table bill_documents (
  tenant_id bigint not null,
  document_id bigint not null,
  bill_id bigint not null,
  term_id bigint not null,
  format text not null,
  setting_version integer not null,
  template_id bigint not null,
  template_version integer not null,
  size integer,
  sha256 bytea,
  -- {code, message}
  error jsonb,
  created_at timestamp with time zone not null,
  -- The day on which its file was deleted, because the years of retention had passed.
  deleted_on date,
  constraint bill_documents_format_check CHECK ((format = ANY (ARRAY['PDF'::text, 'HTML'::text]))),
  constraint bill_documents_made CHECK ((((error IS NULL) = (sha256 IS NOT NULL)) AND ((error IS NULL) = (size IS NOT NULL)))),
  constraint bill_documents_once UNIQUE (tenant_id, bill_id, format),
  constraint bill_documents_pkey PRIMARY KEY (tenant_id, document_id),
  constraint bill_documents_setting_fkey FOREIGN KEY (tenant_id, term_id, setting_version) REFERENCES document_settings(tenant_id, term_id, version),
  constraint bill_documents_sha256_check CHECK ((length(sha256) = 32)),
  constraint bill_documents_size_check CHECK ((size > 0)),
  constraint bill_documents_tenant_id_bill_id_fkey FOREIGN KEY (tenant_id, bill_id) REFERENCES bills(tenant_id, bill_id)
);
CREATE INDEX bill_documents_failed ON public.bill_documents USING btree (tenant_id, term_id, bill_id) WHERE (error IS NOT NULL);
CREATE INDEX bill_documents_kept ON public.bill_documents USING btree (tenant_id, created_at, document_id) WHERE ((error IS NULL) AND (deleted_on IS NULL));
CREATE TRIGGER bill_documents_sealed_on_delete AFTER DELETE ON public.bill_documents REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_for_seal('document');
CREATE TRIGGER bill_documents_sealed_on_insert AFTER INSERT ON public.bill_documents REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_for_seal('document');
CREATE TRIGGER bill_documents_sealed_on_update AFTER UPDATE ON public.bill_documents REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_for_seal('document');
alter table bill_documents enable row level security, force row level security;
create policy tenant_wall on bill_documents as permissive for all using ((tenant_id = current_tenant()));
grant select on bill_documents to billwright_api;
grant delete, insert, select, update on bill_documents to billwright_worker;

-- Bytes that the files of many documents have in common: fonts and pictures. Each is kept once.
create table document_parts (
  tenant_id bigint not null,
  sha256 bytea not null,
  bytes bytea not null,
  -- The last year in which a document was made that has this part, or the year after. When all
  -- documents up to that year are deleted, no document has it.
  last_year smallint not null,
  constraint document_parts_check CHECK ((sha256 = sha256(bytes))),
  constraint document_parts_pkey PRIMARY KEY (tenant_id, sha256)
);
CREATE INDEX document_parts_unused ON public.document_parts USING btree (tenant_id, last_year);
alter table document_parts enable row level security, force row level security;
create policy tenant_wall on document_parts as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on document_parts to billwright_api;
grant delete, insert, select on document_parts to billwright_worker;
grant update (last_year) on document_parts to billwright_api;
grant update (last_year) on document_parts to billwright_worker;

-- The file of a document of bill_documents or further_documents: its own bytes, and the parts
-- between them. Nothing changes it, whatever later versions of the program make of the same bill.
create table document_contents (
  tenant_id bigint not null,
  document_id bigint not null,
  own bytea not null,
  -- For each part, in order: how many of the own bytes come before it.
  part_offsets integer[] not null,
  part_hashes bytea[] not null,
  constraint document_contents_check CHECK ((cardinality(part_hashes) = cardinality(part_offsets))),
  constraint document_contents_pkey PRIMARY KEY (tenant_id, document_id)
);
alter table document_contents enable row level security, force row level security;
create policy tenant_wall on document_contents as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on document_contents to billwright_api;
grant delete, insert, select on document_contents to billwright_worker;

-- A bill on its way to a customer by one channel. If an operator repeats it, that is a further row
-- of a further job; one job sends nothing twice.
create table deliveries (
  tenant_id bigint not null,
  delivery_id bigint not null,
  bill_id bigint not null,
  term_id bigint not null,
  job_id bigint not null,
  channel text not null,
  -- Frozen: a later change of the party does not redirect it.
  recipient text,
  status text not null,
  reason text,
  -- How often it was handed over. Only the sender that counted last may record the result.
  attempts integer not null default 0,
  -- How many times in a row it failed for a reason that may pass.
  failures smallint not null default 0,
  next_attempt_at timestamp with time zone,
  -- Always the same for this row, so that a mail that arrives twice is recognised.
  message_id text not null,
  -- The template of the message, as it was when the delivery was requested. Null if there is none.
  template_id bigint,
  template_version integer,
  sent_at timestamp with time zone,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  constraint deliveries_channel_check CHECK ((channel = ANY (ARRAY['Email'::text, 'SMS'::text, 'WhatsApp'::text, 'Portal'::text, 'Print'::text, 'Webhook'::text]))),
  constraint deliveries_once UNIQUE (tenant_id, bill_id, channel, job_id),
  constraint deliveries_pkey PRIMARY KEY (tenant_id, delivery_id),
  constraint deliveries_status_check CHECK ((status = ANY (ARRAY['Queued'::text, 'Sending'::text, 'Sent'::text, 'Delivered'::text, 'Failed'::text, 'Uncertain'::text]))),
  constraint deliveries_template_fkey FOREIGN KEY (tenant_id, template_id, template_version) REFERENCES template_versions(tenant_id, template_id, version),
  constraint deliveries_tenant_id_bill_id_fkey FOREIGN KEY (tenant_id, bill_id) REFERENCES bills(tenant_id, bill_id),
  constraint deliveries_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint deliveries_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES jobs(tenant_id, job_id)
);
CREATE INDEX deliveries_finished ON public.deliveries USING btree (tenant_id, modified_at) WHERE (status = ANY (ARRAY['Sent'::text, 'Delivered'::text, 'Failed'::text]));
CREATE INDEX deliveries_job ON public.deliveries USING btree (tenant_id, job_id);
CREATE INDEX deliveries_status ON public.deliveries USING btree (tenant_id, status, delivery_id);
CREATE INDEX deliveries_term ON public.deliveries USING btree (tenant_id, term_id, status, delivery_id);
CREATE TRIGGER deliveries_sealed_on_insert AFTER INSERT ON public.deliveries REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_for_seal('delivery');
CREATE TRIGGER deliveries_sealed_on_update AFTER UPDATE ON public.deliveries REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_for_seal('delivery');
alter table deliveries enable row level security, force row level security;
create policy tenant_wall on deliveries as permissive for all using ((tenant_id = current_tenant()));
grant select, update on deliveries to billwright_api;
grant insert, select, update on deliveries to billwright_worker;

-- A file for the printer, with the bills of a range of deliveries. Any server can put it together
-- from their documents; its size and hash when it was written are kept here.
create table print_files (
  tenant_id bigint not null,
  -- The job that wrote it.
  job_id bigint not null,
  -- The files of a job are numbered from 1.
  part integer not null,
  term_id bigint not null,
  name text not null,
  first_delivery_id bigint not null,
  last_delivery_id bigint not null,
  bills integer not null,
  size bigint not null,
  sha256 bytea not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint print_files_bills_check CHECK ((bills > 0)),
  constraint print_files_part_check CHECK ((part > 0)),
  constraint print_files_pkey PRIMARY KEY (tenant_id, job_id, part),
  constraint print_files_sha256_check CHECK ((length(sha256) = 32)),
  constraint print_files_size_check CHECK ((size > 0)),
  constraint print_files_tenant_id_job_id_fkey FOREIGN KEY (tenant_id, job_id) REFERENCES jobs(tenant_id, job_id),
  constraint print_files_tenant_id_term_id_fkey FOREIGN KEY (tenant_id, term_id) REFERENCES terms(tenant_id, term_id)
);
CREATE INDEX print_files_term ON public.print_files USING btree (tenant_id, term_id, job_id, part);
alter table print_files enable row level security, force row level security;
create policy tenant_wall on print_files as permissive for all using ((tenant_id = current_tenant()));
grant select on print_files to billwright_api;
grant insert, select on print_files to billwright_worker;

-- Documents that no bill run makes: that of a cancelled bill, that of a credit note, the receipt of
-- a payment, and a reminder.
create table further_documents (
  tenant_id bigint not null,
  document_id bigint not null,
  kind text not null,
  -- The bill that is cancelled, the credit note, the payment, or the notice.
  subject_id bigint not null,
  size integer not null,
  sha256 bytea not null,
  created_at timestamp with time zone not null,
  -- As of bill_documents.
  deleted_on date,
  constraint further_documents_kind_check CHECK ((kind = ANY (ARRAY['Cancelled'::text, 'CreditNote'::text, 'Receipt'::text, 'Reminder'::text, 'EInvoice'::text, 'CreditNoteEInvoice'::text]))),
  constraint further_documents_once UNIQUE (tenant_id, kind, subject_id),
  constraint further_documents_pkey PRIMARY KEY (tenant_id, document_id),
  constraint further_documents_sha256_check CHECK ((length(sha256) = 32)),
  constraint further_documents_size_check CHECK ((size > 0))
);
CREATE INDEX further_documents_kept ON public.further_documents USING btree (tenant_id, created_at, document_id) WHERE (deleted_on IS NULL);
alter table further_documents enable row level security, force row level security;
create policy tenant_wall on further_documents as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on further_documents to billwright_api;
grant delete, insert, select on further_documents to billwright_worker;
grant update (deleted_on) on further_documents to billwright_worker;

-- Further documents that are to be made. A row waits until its document is kept.
create table document_queue (
  tenant_id bigint not null,
  kind text not null,
  subject_id bigint not null,
  constraint document_queue_pkey PRIMARY KEY (tenant_id, kind, subject_id)
);
alter table document_queue enable row level security, force row level security;
create policy tenant_wall on document_queue as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on document_queue to billwright_api;
grant delete, insert, select, update on document_queue to billwright_worker;

CREATE OR REPLACE FUNCTION public.queue_documents()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.workspaces_with_documents_to_make()
 RETURNS SETOF bigint
 LANGUAGE plpgsql
AS $function$
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
$function$
;
-- owned by the owner

-- imports (0011_imports.sql)

-- A file that was imported, by the hash of its bytes: the same file is not imported twice.
create table imports (
  tenant_id bigint not null,
  import_id bigint not null,
  kind text not null,
  file_name text,
  sha256 bytea not null,
  rows integer not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint imports_pkey PRIMARY KEY (tenant_id, import_id),
  constraint imports_rows_check CHECK ((rows > 0)),
  constraint imports_sha256_check CHECK ((length(sha256) = 32)),
  constraint imports_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE INDEX imports_sha256 ON public.imports USING btree (tenant_id, kind, sha256);
alter table imports enable row level security, force row level security;
create policy tenant_wall on imports as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on imports to billwright_api;

-- audit and seals (0012_audit_and_seals.sql)

-- One change by one call: the caller, the address, the object, and its values before and after.
-- Rows are appended and never changed.
create table audit_entries (
  tenant_id bigint not null,
  request_id text not null,
  "position" integer not null,
  at timestamp with time zone not null,
  actor text not null,
  actor_kind text not null,
  address text,
  operation text not null,
  subject text not null,
  subject_id text not null,
  before jsonb,
  after jsonb,
  constraint audit_entries_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['Login'::text, 'Client'::text, 'System'::text]))),
  constraint audit_entries_pkey PRIMARY KEY (tenant_id, request_id, "position")
);
CREATE INDEX audit_entries_actor ON public.audit_entries USING btree (tenant_id, actor, request_id);
CREATE INDEX audit_entries_at ON public.audit_entries USING btree (tenant_id, at);
CREATE INDEX audit_entries_subject ON public.audit_entries USING btree (tenant_id, subject, subject_id, request_id);
CREATE TRIGGER audit_entries_append_only BEFORE DELETE OR UPDATE ON public.audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_entries_no_truncate BEFORE TRUNCATE ON public.audit_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_entries_sealed AFTER INSERT ON public.audit_entries REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_for_seal('audit');
CREATE TRIGGER audit_entries_tenant AFTER INSERT ON public.audit_entries REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION check_named_tenants('audit_entries_tenant_fkey');
alter table audit_entries enable row level security, force row level security;
create policy tenant_wall on audit_entries as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on audit_entries to billwright_api;
grant insert, select on audit_entries to billwright_worker;

-- An item that waits for its seal. An item is a kind and an id: 'audit 01J…' (all entries of a
-- request), 'journal 7' (with its lines and entries), 'credit-note 3', 'document 12', 'delivery
-- 40'.
create table seal_queue (
  tenant_id bigint not null,
  item text not null,
  constraint seal_queue_pkey PRIMARY KEY (tenant_id, item),
  constraint seal_queue_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
alter table seal_queue enable row level security, force row level security;
create policy tenant_wall on seal_queue as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on seal_queue to billwright_api;
grant delete, insert, select, update on seal_queue to billwright_worker;

-- A seal: a block of items. Its hash covers the items and the hash of the block before, so that
-- `verify` names every row that was changed, deleted or inserted afterwards.
create table seals (
  tenant_id bigint not null,
  block bigint not null,
  -- One text for each item: the item, the number of its rows and their hash.
  items text[] not null,
  -- The number of audit entries, for the figures of `verify`.
  audit_rows integer not null,
  previous_hash bytea not null,
  hash bytea not null,
  sealed_at timestamp with time zone not null,
  constraint seals_block_check CHECK ((block > 0)),
  constraint seals_hash_check CHECK ((length(hash) = 32)),
  constraint seals_pkey PRIMARY KEY (tenant_id, block),
  constraint seals_previous_hash_check CHECK ((length(previous_hash) = 32)),
  constraint seals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE TRIGGER seals_append_only BEFORE DELETE OR UPDATE ON public.seals FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER seals_no_truncate BEFORE TRUNCATE ON public.seals FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
alter table seals enable row level security, force row level security;
create policy tenant_wall on seals as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on seals to billwright_worker;

CREATE OR REPLACE FUNCTION public.queue_for_seal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.unsealed_workspaces()
 RETURNS SETOF bigint
 LANGUAGE plpgsql
AS $function$
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
$function$
;
-- owned by the owner

-- monitoring (0013_monitoring.sql)

-- How many jobs or deliveries of a workspace are in a state. It has no wall, because sums over all
-- workspaces are its purpose. The API role has no right to it and calls watch_operations(), which
-- returns sums alone.
create table operation_counts (
  tenant_id bigint not null,
  kind text not null,
  state text not null,
  -- 0 if a job was requested and is not counted yet.
  amount integer not null,
  -- Since when the oldest one waits, by the clock of the machine.
  oldest_at timestamp with time zone,
  counted_at timestamp with time zone not null,
  constraint operation_counts_amount_check CHECK ((amount >= 0)),
  constraint operation_counts_kind_check CHECK ((kind = ANY (ARRAY['job'::text, 'delivery'::text, 'webhook'::text, 'event'::text]))),
  constraint operation_counts_pkey PRIMARY KEY (tenant_id, kind, state),
  constraint operation_counts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES workspaces(tenant_id)
);
alter table operation_counts disable row level security;
grant delete, insert, select, update on operation_counts to billwright_worker;

-- A worker process that is or was running.
create table workers (
  worker text not null,
  started_at timestamp with time zone not null default clock_timestamp(),
  seen_at timestamp with time zone not null default clock_timestamp(),
  constraint workers_pkey PRIMARY KEY (worker)
);
alter table workers disable row level security;
grant delete, insert, select, update on workers to billwright_worker;

CREATE OR REPLACE FUNCTION public.watch_operations()
 RETURNS TABLE(kind text, state text, amount bigint, oldest_seconds double precision, counted_seconds double precision)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select c.kind, c.state, sum(c.amount),
    extract(epoch from clock_timestamp() - min(c.oldest_at))::float8,
    extract(epoch from clock_timestamp() - min(c.counted_at))::float8
  from operation_counts c
  group by c.kind, c.state
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.watch_workers()
 RETURNS TABLE(worker text, seen_seconds double precision)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select w.worker, extract(epoch from clock_timestamp() - w.seen_at)::float8
  from workers w
  order by w.seen_at desc
  limit 1000
$function$
;
-- owned by the owner

-- payments (0014_payments.sql)

-- Money received from a party, or paid to it. Rows are appended and never changed. What it settles
-- are the entries of the subledger that name it.
create table payments (
  tenant_id bigint not null,
  payment_id bigint not null,
  -- Unique for ever, so that nothing is booked twice.
  reference text not null,
  direction text not null,
  is_refund boolean not null default false,
  party_id bigint not null,
  -- The subscription that the payer named.
  subscription_id bigint,
  amount bigint not null,
  -- What of it went into the wallet; below zero, what a refund took from it.
  wallet_amount bigint not null default 0,
  -- What of it pays debts that were written off.
  recovered_amount bigint not null default 0,
  -- The day on which the customer paid. The day in the books is that of the journal, which is later
  -- if the month was closed.
  value_date date not null,
  payment_method text not null,
  cash_account_id bigint not null,
  bank_account_id bigint,
  journal_id bigint not null,
  remark text,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint payments_amount_check CHECK ((amount > 0)),
  constraint payments_check CHECK (((wallet_amount >= (- amount)) AND (wallet_amount <= amount))),
  constraint payments_direction_check CHECK ((direction = ANY (ARRAY['In'::text, 'Out'::text]))),
  constraint payments_pkey PRIMARY KEY (tenant_id, payment_id),
  constraint payments_recovered_amount_check CHECK ((recovered_amount >= 0)),
  constraint payments_reference_check CHECK ((reference <> ''::text)),
  constraint payments_reference_key UNIQUE (tenant_id, reference)
);
CREATE INDEX payments_date ON public.payments USING btree (tenant_id, value_date, payment_id);
CREATE INDEX payments_party ON public.payments USING btree (tenant_id, party_id, payment_id);
CREATE INDEX payments_recovered ON public.payments USING btree (tenant_id, party_id) WHERE (recovered_amount > 0);
CREATE INDEX payments_subscription ON public.payments USING btree (tenant_id, subscription_id, payment_id) WHERE (subscription_id IS NOT NULL);
CREATE TRIGGER payments_append_only BEFORE DELETE OR UPDATE ON public.payments FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER payments_party AFTER INSERT ON public.payments REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION check_named_parties('payments_party_fkey');
CREATE TRIGGER payments_receipt_mailed AFTER INSERT ON public.payments REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_receipt_mails();
alter table payments enable row level security, force row level security;
create policy tenant_wall on payments as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on payments to billwright_api;
grant insert, select on payments to billwright_worker;

-- A payment that was taken back, because a cheque bounced or it was booked by mistake. The key is
-- the payment: a second reversal is impossible.
create table payment_reversals (
  tenant_id bigint not null,
  payment_id bigint not null,
  reversal_date date not null,
  reason text not null,
  journal_id bigint not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint payment_reversals_pkey PRIMARY KEY (tenant_id, payment_id),
  constraint payment_reversals_reason_check CHECK ((reason <> ''::text)),
  constraint payment_reversals_tenant_id_payment_id_fkey FOREIGN KEY (tenant_id, payment_id) REFERENCES payments(tenant_id, payment_id)
);
CREATE TRIGGER payment_reversals_append_only BEFORE DELETE OR UPDATE ON public.payment_reversals FOR EACH ROW EXECUTE FUNCTION refuse_change();
alter table payment_reversals enable row level security, force row level security;
create policy tenant_wall on payment_reversals as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on payment_reversals to billwright_api;
grant insert, select on payment_reversals to billwright_worker;

-- A correction of what a customer owes that no bill brings: charged, credited, written off by
-- decision or as a bad debt. Rows are appended and never changed.
create table adjustments (
  tenant_id bigint not null,
  adjustment_id bigint not null,
  reference text not null,
  party_id bigint not null,
  subscription_id bigint not null,
  bill_id bigint,
  component text not null,
  kind text not null,
  -- In minor units, above zero whatever the kind.
  amount bigint not null,
  -- What of a credit was more than was open, and went into the wallet.
  wallet_amount bigint not null default 0,
  posting_date date not null,
  reason text not null,
  journal_id bigint not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint adjustments_amount_check CHECK ((amount > 0)),
  constraint adjustments_check CHECK (((wallet_amount >= 0) AND (wallet_amount <= amount))),
  constraint adjustments_kind_check CHECK ((kind = ANY (ARRAY['Debit'::text, 'Credit'::text, 'WriteOff'::text, 'BadDebt'::text]))),
  constraint adjustments_pkey PRIMARY KEY (tenant_id, adjustment_id),
  constraint adjustments_reason_check CHECK ((reason <> ''::text)),
  constraint adjustments_reference_check CHECK ((reference <> ''::text)),
  constraint adjustments_reference_key UNIQUE (tenant_id, reference),
  constraint adjustments_tenant_id_party_id_fkey FOREIGN KEY (tenant_id, party_id) REFERENCES parties(tenant_id, party_id),
  constraint adjustments_tenant_id_subscription_id_fkey FOREIGN KEY (tenant_id, subscription_id) REFERENCES subscriptions(tenant_id, subscription_id)
);
CREATE INDEX adjustments_party ON public.adjustments USING btree (tenant_id, party_id, adjustment_id);
CREATE INDEX adjustments_subscription ON public.adjustments USING btree (tenant_id, subscription_id, adjustment_id);
CREATE TRIGGER adjustments_append_only BEFORE DELETE OR UPDATE ON public.adjustments FOR EACH ROW EXECUTE FUNCTION refuse_change();
alter table adjustments enable row level security, force row level security;
create policy tenant_wall on adjustments as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on adjustments to billwright_api;
grant insert, select on adjustments to billwright_worker;

-- credits (0015_credits.sql)

-- What a credit note takes back of a component, for each subscription of the bill.
create table credit_note_lines (
  tenant_id bigint not null,
  credit_note_id bigint not null,
  line_number integer not null,
  bill_id bigint not null,
  subscription_id bigint not null,
  -- Null for the rounding of the bill.
  component text,
  -- In minor units; below zero for a discount that is taken back.
  amount bigint not null,
  constraint credit_note_lines_amount_check CHECK ((amount <> 0)),
  constraint credit_note_lines_line_number_check CHECK ((line_number > 0)),
  constraint credit_note_lines_pkey PRIMARY KEY (tenant_id, credit_note_id, line_number),
  constraint credit_note_lines_tenant_id_credit_note_id_fkey FOREIGN KEY (tenant_id, credit_note_id) REFERENCES credit_notes(tenant_id, credit_note_id)
);
CREATE INDEX credit_note_lines_bill ON public.credit_note_lines USING btree (tenant_id, bill_id);
CREATE TRIGGER credit_note_lines_append_only BEFORE DELETE OR UPDATE ON public.credit_note_lines FOR EACH ROW EXECUTE FUNCTION refuse_change();
alter table credit_note_lines enable row level security, force row level security;
create policy tenant_wall on credit_note_lines as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on credit_note_lines to billwright_api;
grant insert, select on credit_note_lines to billwright_worker;

-- A dispute: an amount of a bill that is booked on the account Disputed until it is resolved. Rows
-- are appended and never changed.
create table disputes (
  tenant_id bigint not null,
  dispute_id bigint not null,
  bill_id bigint not null,
  party_id bigint not null,
  -- In minor units.
  amount bigint not null,
  -- [{subscriptionId, amount}]: what of it is for each subscription of the bill.
  parts jsonb not null,
  reason text not null,
  raised_on date not null,
  journal_id bigint not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint disputes_amount_check CHECK ((amount > 0)),
  constraint disputes_parts_check CHECK ((jsonb_typeof(parts) = 'array'::text)),
  constraint disputes_pkey PRIMARY KEY (tenant_id, dispute_id),
  constraint disputes_reason_check CHECK ((reason <> ''::text)),
  constraint disputes_tenant_id_party_id_fkey FOREIGN KEY (tenant_id, party_id) REFERENCES parties(tenant_id, party_id)
);
CREATE INDEX disputes_bill ON public.disputes USING btree (tenant_id, bill_id);
CREATE INDEX disputes_party ON public.disputes USING btree (tenant_id, party_id, dispute_id);
CREATE TRIGGER disputes_append_only BEFORE DELETE OR UPDATE ON public.disputes FOR EACH ROW EXECUTE FUNCTION refuse_change();
alter table disputes enable row level security, force row level security;
create policy tenant_wall on disputes as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on disputes to billwright_api;
grant select on disputes to billwright_worker;

-- How a dispute was resolved. The key is the dispute: a second resolution is impossible.
create table dispute_resolutions (
  tenant_id bigint not null,
  dispute_id bigint not null,
  outcome text not null,
  remark text,
  resolved_on date not null,
  journal_id bigint not null,
  -- The credit note of a dispute that was upheld.
  credit_note_id bigint,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint dispute_resolutions_check CHECK (((outcome = 'Upheld'::text) = (credit_note_id IS NOT NULL))),
  constraint dispute_resolutions_outcome_check CHECK ((outcome = ANY (ARRAY['Upheld'::text, 'Rejected'::text]))),
  constraint dispute_resolutions_pkey PRIMARY KEY (tenant_id, dispute_id),
  constraint dispute_resolutions_tenant_id_dispute_id_fkey FOREIGN KEY (tenant_id, dispute_id) REFERENCES disputes(tenant_id, dispute_id)
);
CREATE TRIGGER dispute_resolutions_append_only BEFORE DELETE OR UPDATE ON public.dispute_resolutions FOR EACH ROW EXECUTE FUNCTION refuse_change();
alter table dispute_resolutions enable row level security, force row level security;
create policy tenant_wall on dispute_resolutions as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on dispute_resolutions to billwright_api;
grant select on dispute_resolutions to billwright_worker;

-- late payment (0016_late_payment.sql)

-- A mail to a customer that is no bill: a reminder, that the balance is low, or a receipt. Its text
-- is fixed when it is made. It is Sending before it is handed over; one whose outcome is not known
-- is Uncertain and is not sent again.
create table notices (
  tenant_id bigint not null,
  notice_id bigint not null,
  kind text not null,
  party_id bigint,
  subscription_id bigint,
  recipient text not null,
  subject text not null,
  body text not null,
  context_id bigint,
  -- The figures that the mail shows beside its text. The bank accounts that it names are those of
  -- the pricing context when it is sent.
  facts jsonb not null,
  status text not null default 'Queued'::text,
  reason text,
  attempts smallint not null default 0,
  next_attempt_at timestamp with time zone,
  created_at timestamp with time zone not null,
  modified_at timestamp with time zone not null,
  constraint notices_kind_check CHECK ((kind = ANY (ARRAY['Reminder'::text, 'LowBalance'::text, 'Receipt'::text, 'Access'::text]))),
  constraint notices_pkey PRIMARY KEY (tenant_id, notice_id),
  constraint notices_status_check CHECK ((status = ANY (ARRAY['Queued'::text, 'Sending'::text, 'Sent'::text, 'Failed'::text, 'Uncertain'::text]))),
  constraint notices_tenant_id_party_id_fkey FOREIGN KEY (tenant_id, party_id) REFERENCES parties(tenant_id, party_id)
);
CREATE INDEX notices_party ON public.notices USING btree (tenant_id, party_id);
CREATE INDEX notices_waiting ON public.notices USING btree (tenant_id, next_attempt_at) WHERE (status = ANY (ARRAY['Queued'::text, 'Sending'::text]));
CREATE TRIGGER notices_access_queued AFTER INSERT ON public.notices FOR EACH ROW WHEN ((new.kind = 'Access'::text)) EXECUTE FUNCTION wake_for_notice();
alter table notices enable row level security, force row level security;
create policy tenant_wall on notices as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on notices to billwright_api;
grant insert, select on notices to billwright_worker;
grant update (body, status, reason, attempts, next_attempt_at, modified_at) on notices to billwright_worker;

-- The collection of the overdue debts of a subscription, from its first step until nothing is
-- overdue.
create table dunning_episodes (
  tenant_id bigint not null,
  episode_id bigint not null,
  subscription_id bigint not null,
  party_id bigint not null,
  context_id bigint not null,
  steps_done smallint not null,
  last_action text not null,
  last_step_on date not null,
  started_on date not null,
  -- What was overdue when the daily job last looked.
  amount bigint not null,
  oldest_due_on date not null,
  -- True if a step disconnected it.
  is_disconnected boolean not null default false,
  ended_on date,
  constraint dunning_episodes_last_action_check CHECK ((last_action = ANY (ARRAY['Remind'::text, 'Fee'::text, 'List'::text, 'Disconnect'::text]))),
  constraint dunning_episodes_pkey PRIMARY KEY (tenant_id, episode_id),
  constraint dunning_episodes_steps_done_check CHECK ((steps_done > 0)),
  constraint dunning_episodes_tenant_id_party_id_fkey FOREIGN KEY (tenant_id, party_id) REFERENCES parties(tenant_id, party_id),
  constraint dunning_episodes_tenant_id_subscription_id_fkey FOREIGN KEY (tenant_id, subscription_id) REFERENCES subscriptions(tenant_id, subscription_id)
);
CREATE UNIQUE INDEX dunning_episodes_open_key ON public.dunning_episodes USING btree (tenant_id, subscription_id) WHERE (ended_on IS NULL);
CREATE INDEX dunning_episodes_party ON public.dunning_episodes USING btree (tenant_id, party_id);
CREATE INDEX dunning_episodes_subscription ON public.dunning_episodes USING btree (tenant_id, subscription_id);
alter table dunning_episodes enable row level security, force row level security;
create policy tenant_wall on dunning_episodes as permissive for all using ((tenant_id = current_tenant()));
grant select on dunning_episodes to billwright_api;
grant insert, select on dunning_episodes to billwright_worker;
grant update (steps_done, last_action, last_step_on, amount, oldest_due_on, is_disconnected, ended_on) on dunning_episodes to billwright_worker;

-- A step of an episode. The key holds that each is done once.
create table dunning_actions (
  tenant_id bigint not null,
  episode_id bigint not null,
  step_number smallint not null,
  action text not null,
  done_on date not null,
  -- What was overdue then, in minor units.
  amount bigint not null,
  notice_id bigint,
  fee bigint,
  -- Why the step could not be done.
  problem text,
  constraint dunning_actions_action_check CHECK ((action = ANY (ARRAY['Remind'::text, 'Fee'::text, 'List'::text, 'Disconnect'::text]))),
  constraint dunning_actions_pkey PRIMARY KEY (tenant_id, episode_id, step_number),
  constraint dunning_actions_step_number_check CHECK ((step_number > 0)),
  constraint dunning_actions_tenant_id_episode_id_fkey FOREIGN KEY (tenant_id, episode_id) REFERENCES dunning_episodes(tenant_id, episode_id)
);
alter table dunning_actions enable row level security, force row level security;
create policy tenant_wall on dunning_actions as permissive for all using ((tenant_id = current_tenant()));
grant select on dunning_actions to billwright_api;
grant insert, select on dunning_actions to billwright_worker;

-- A promise to pay, which pauses dunning until its date, or an instalment plan, which pauses
-- dunning and surcharges while every instalment is paid on its date.
create table arrangements (
  tenant_id bigint not null,
  arrangement_id bigint not null,
  kind text not null,
  party_id bigint not null,
  subscription_id bigint,
  amount bigint not null,
  -- Of a promise its date, of a plan the last instalment.
  until_date date not null,
  bill_ids bigint[] not null default '{}'::bigint[],
  -- What was open of the bills of a plan when it was made: what is less now is paid.
  open_at_start bigint not null default 0,
  reason text not null,
  status text not null default 'Active'::text,
  end_reason text,
  ended_on date,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  constraint arrangements_amount_check CHECK ((amount > 0)),
  constraint arrangements_ended CHECK (((status = 'Active'::text) = (ended_on IS NULL))),
  constraint arrangements_kind_check CHECK ((kind = ANY (ARRAY['Promise'::text, 'InstalmentPlan'::text]))),
  constraint arrangements_pkey PRIMARY KEY (tenant_id, arrangement_id),
  constraint arrangements_plan CHECK (((kind = 'InstalmentPlan'::text) = (subscription_id IS NOT NULL))),
  constraint arrangements_reason_check CHECK ((reason <> ''::text)),
  constraint arrangements_status_check CHECK ((status = ANY (ARRAY['Active'::text, 'Kept'::text, 'Broken'::text, 'Ended'::text]))),
  constraint arrangements_tenant_id_party_id_fkey FOREIGN KEY (tenant_id, party_id) REFERENCES parties(tenant_id, party_id),
  constraint arrangements_tenant_id_subscription_id_fkey FOREIGN KEY (tenant_id, subscription_id) REFERENCES subscriptions(tenant_id, subscription_id)
);
CREATE INDEX arrangements_active ON public.arrangements USING btree (tenant_id, party_id) WHERE (status = 'Active'::text);
CREATE INDEX arrangements_party ON public.arrangements USING btree (tenant_id, party_id);
CREATE UNIQUE INDEX arrangements_plan_key ON public.arrangements USING btree (tenant_id, subscription_id) WHERE ((status = 'Active'::text) AND (kind = 'InstalmentPlan'::text));
CREATE INDEX arrangements_subscription ON public.arrangements USING btree (tenant_id, subscription_id) WHERE (subscription_id IS NOT NULL);
alter table arrangements enable row level security, force row level security;
create policy tenant_wall on arrangements as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on arrangements to billwright_api;
grant select on arrangements to billwright_worker;
grant update (status, end_reason, ended_on, modified_at, modified_by) on arrangements to billwright_api;
grant update (status, end_reason, ended_on, modified_at, modified_by) on arrangements to billwright_worker;

-- An instalment of a plan, in minor units.
create table instalments (
  tenant_id bigint not null,
  arrangement_id bigint not null,
  instalment_number smallint not null,
  due_date date not null,
  amount bigint not null,
  constraint instalments_amount_check CHECK ((amount > 0)),
  constraint instalments_instalment_number_check CHECK ((instalment_number > 0)),
  constraint instalments_pkey PRIMARY KEY (tenant_id, arrangement_id, instalment_number),
  constraint instalments_tenant_id_arrangement_id_fkey FOREIGN KEY (tenant_id, arrangement_id) REFERENCES arrangements(tenant_id, arrangement_id)
);
alter table instalments enable row level security, force row level security;
create policy tenant_wall on instalments as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on instalments to billwright_api;
grant select on instalments to billwright_worker;

-- A party or a subscription for which no dunning step is done until a date: a vulnerable customer.
create table dunning_holds (
  tenant_id bigint not null,
  holder_kind text not null,
  holder_id bigint not null,
  until_date date not null,
  reason text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  constraint dunning_holds_holder_kind_check CHECK ((holder_kind = ANY (ARRAY['Party'::text, 'Subscription'::text]))),
  constraint dunning_holds_pkey PRIMARY KEY (tenant_id, holder_kind, holder_id),
  constraint dunning_holds_reason_check CHECK ((reason <> ''::text))
);
alter table dunning_holds enable row level security, force row level security;
create policy tenant_wall on dunning_holds as permissive for all using ((tenant_id = current_tenant()));
grant delete, insert, select, update on dunning_holds to billwright_api;
grant select on dunning_holds to billwright_worker;

-- What a daily job estimates to be left for a prepaid subscription: the wallet of its owner less
-- what is owed and what is used and not billed yet.
create table prepaid_balances (
  tenant_id bigint not null,
  subscription_id bigint not null,
  amount_left bigint not null,
  as_of date not null,
  -- Since when it is below the limit of the service. One notice is sent until it is topped up.
  low_since date,
  -- Since when nothing is left.
  empty_since date,
  -- True if the job disconnected it.
  is_disconnected boolean not null default false,
  constraint prepaid_balances_pkey PRIMARY KEY (tenant_id, subscription_id),
  constraint prepaid_balances_tenant_id_subscription_id_fkey FOREIGN KEY (tenant_id, subscription_id) REFERENCES subscriptions(tenant_id, subscription_id)
);
alter table prepaid_balances enable row level security, force row level security;
create policy tenant_wall on prepaid_balances as permissive for all using ((tenant_id = current_tenant()));
grant select on prepaid_balances to billwright_api;
grant insert, select, update on prepaid_balances to billwright_worker;

-- bank files (0017_bank_files.sql)

-- How the CSV files of a bank are read: which column has what.
create table bank_mappings (
  tenant_id bigint not null,
  name text not null,
  columns jsonb not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  constraint bank_mappings_columns_check CHECK ((jsonb_typeof(columns) = 'object'::text)),
  constraint bank_mappings_name_check CHECK ((name <> ''::text)),
  constraint bank_mappings_pkey PRIMARY KEY (tenant_id, name),
  constraint bank_mappings_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
alter table bank_mappings enable row level security, force row level security;
create policy tenant_wall on bank_mappings as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on bank_mappings to billwright_api;

-- A file of a bank, by the hash of its bytes: the same file brings nothing a second time.
create table bank_files (
  tenant_id bigint not null,
  bank_file_id bigint not null,
  bank_account_id bigint not null,
  format text not null,
  file_name text,
  sha256 bytea not null,
  -- [{statementId, account, opening, closing, lines}], proven when the file was accepted. Balances
  -- are in minor units, as text.
  statements jsonb not null default '[]'::jsonb,
  lines integer not null default 0,
  duplicates integer not null default 0,
  -- The last job that posts its lines; null if the call did.
  job_id bigint,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint bank_files_format_check CHECK ((format = ANY (ARRAY['CSV'::text, 'CAMT'::text, 'MT940'::text, 'GATEWAY'::text]))),
  constraint bank_files_pkey PRIMARY KEY (tenant_id, bank_file_id),
  constraint bank_files_sha256_check CHECK ((length(sha256) = 32)),
  constraint bank_files_sha256_key UNIQUE (tenant_id, bank_account_id, sha256),
  constraint bank_files_statements_check CHECK ((jsonb_typeof(statements) = 'array'::text)),
  constraint bank_files_tenant_id_bank_account_id_fkey FOREIGN KEY (tenant_id, bank_account_id) REFERENCES bank_accounts(tenant_id, bank_account_id),
  constraint bank_files_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
alter table bank_files enable row level security, force row level security;
create policy tenant_wall on bank_files as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on bank_files to billwright_api;
grant select on bank_files to billwright_worker;
grant update (statements, lines, duplicates, job_id) on bank_files to billwright_api;

-- A line of a bank file. The file brings it as Received; then it is posted as a payment, or left
-- for a clerk.
create table bank_lines (
  tenant_id bigint not null,
  bank_line_id bigint not null,
  bank_file_id bigint not null,
  line_number integer not null,
  bank_account_id bigint not null,
  -- Of a line without an id of the bank: identical lines of a file are counted by it.
  content_hash bytea,
  -- Of the bank's own id; else of account, day, amount, payer, text and which of several identical
  -- lines of that day it is. A second line with it is a Duplicate.
  fingerprint bytea not null,
  line_date date not null,
  -- In minor units; below zero money went out.
  amount bigint not null,
  is_reversal boolean not null,
  payer text,
  payer_account text,
  text text,
  reference text,
  bank_reference text,
  status text not null,
  is_duplicate boolean not null generated always as ((status = 'Duplicate'::text)) stored,
  -- True if a clerk has to decide.
  is_open boolean not null default false,
  payment_id bigint,
  -- True while its money is in the account SUSPENSE, because its payer is not known.
  in_suspense boolean not null default false,
  -- The journal that booked it to SUSPENSE.
  journal_id bigint,
  -- [{partyId, partyNumber, connectionNumber, billId, amount, reason}]
  suggestions jsonb not null default '[]'::jsonb,
  reason text,
  decided_at timestamp with time zone,
  decided_by text,
  constraint bank_lines_check CHECK (((status = 'Posted'::text) = (payment_id IS NOT NULL))),
  constraint bank_lines_check1 CHECK ((is_open = (status = ANY (ARRAY['Suggested'::text, 'Unmatched'::text])))),
  constraint bank_lines_check2 CHECK (((NOT in_suspense) OR ((status = ANY (ARRAY['Suggested'::text, 'Unmatched'::text])) AND (amount > 0)))),
  constraint bank_lines_line_number_check CHECK ((line_number > 0)),
  constraint bank_lines_number_key UNIQUE (tenant_id, bank_file_id, line_number),
  constraint bank_lines_pkey PRIMARY KEY (tenant_id, bank_line_id),
  constraint bank_lines_status_check CHECK ((status = ANY (ARRAY['Received'::text, 'Posted'::text, 'Suggested'::text, 'Unmatched'::text, 'Ignored'::text, 'Duplicate'::text]))),
  constraint bank_lines_suggestions_check CHECK ((jsonb_typeof(suggestions) = 'array'::text))
) with (fillfactor=40);
CREATE INDEX bank_lines_content ON public.bank_lines USING btree (tenant_id, bank_file_id, content_hash) WHERE (content_hash IS NOT NULL);
CREATE UNIQUE INDEX bank_lines_fingerprint_key ON public.bank_lines USING btree (tenant_id, fingerprint) WHERE (NOT is_duplicate);
CREATE INDEX bank_lines_open ON public.bank_lines USING btree (tenant_id, bank_line_id) WHERE is_open;
alter table bank_lines enable row level security, force row level security;
create policy tenant_wall on bank_lines as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on bank_lines to billwright_api;
grant select on bank_lines to billwright_worker;
grant update (status, is_open, payment_id, in_suspense, journal_id, suggestions, reason, decided_at, decided_by) on bank_lines to billwright_api;
grant update (status, is_open, payment_id, in_suspense, journal_id, suggestions, reason, decided_at, decided_by) on bank_lines to billwright_worker;

-- Whose money a clerk said that of a bank account or of a name is. The last decision counts.
create table bank_payers (
  tenant_id bigint not null,
  kind text not null,
  key text not null,
  party_id bigint not null,
  subscription_id bigint,
  decided_at timestamp with time zone not null,
  decided_by text not null,
  constraint bank_payers_key_check CHECK ((key <> ''::text)),
  constraint bank_payers_kind_check CHECK ((kind = ANY (ARRAY['Account'::text, 'Name'::text]))),
  constraint bank_payers_pkey PRIMARY KEY (tenant_id, kind, key),
  constraint bank_payers_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint bank_payers_tenant_id_party_id_fkey FOREIGN KEY (tenant_id, party_id) REFERENCES parties(tenant_id, party_id)
);
CREATE INDEX bank_payers_party ON public.bank_payers USING btree (tenant_id, party_id);
alter table bank_payers enable row level security, force row level security;
create policy tenant_wall on bank_payers as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on bank_payers to billwright_api;
grant select on bank_payers to billwright_worker;

CREATE OR REPLACE FUNCTION public.find_parties_named(tenant_id bigint, words text[], others text[])
 RETURNS TABLE(place bigint, party_id bigint)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select w.place, found.party_id
  from unnest($2, $3) with ordinality as w (word, other, place)
  cross join lateral (
    select p.party_id from parties p
    where p.tenant_id = require_tenant() and p.tenant_id = $1
      and p.search_text like '%' || w.word || '%' and p.search_text like '%' || w.other || '%'
      and not p.archived
    limit 50
  ) found;
$function$
;
-- owned by billwright_search

-- A part of a file that is too large for one call. A daily job deletes what is a day old.
create table upload_parts (
  tenant_id bigint not null,
  upload_id text not null,
  part_number integer not null,
  is_last boolean not null,
  content bytea not null,
  sha256 bytea not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint upload_parts_part_number_check CHECK ((part_number > 0)),
  constraint upload_parts_pkey PRIMARY KEY (tenant_id, upload_id, part_number),
  constraint upload_parts_sha256_check CHECK ((length(sha256) = 32)),
  constraint upload_parts_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint upload_parts_upload_id_check CHECK ((upload_id <> ''::text))
);
CREATE INDEX upload_parts_created ON public.upload_parts USING btree (tenant_id, created_at);
alter table upload_parts enable row level security, force row level security;
create policy tenant_wall on upload_parts as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on upload_parts to billwright_api;
grant delete, select on upload_parts to billwright_worker;

-- books (0018_books.sql)

-- A month of the ledger that was closed, or opened again. Months are closed one after the other, so
-- that the first open day says all.
create table ledger_months (
  tenant_id bigint not null,
  -- Its first day.
  month date not null,
  is_closed boolean not null,
  -- By format, the hash of the first export after closing: every later one has the same bytes.
  export_hashes jsonb not null default '{}'::jsonb,
  -- The journal that carried the result of the year forward, where that was asked for.
  year_end_journal_id bigint,
  reason text not null,
  changed_at timestamp with time zone not null,
  changed_by text not null,
  constraint ledger_months_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
  constraint ledger_months_pkey PRIMARY KEY (tenant_id, month),
  constraint ledger_months_reason_check CHECK ((reason <> ''::text)),
  constraint ledger_months_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
alter table ledger_months enable row level security, force row level security;
create policy tenant_wall on ledger_months as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on ledger_months to billwright_api;
grant insert, select, update on ledger_months to billwright_worker;

CREATE OR REPLACE FUNCTION public.lock_months(wanted_tenant bigint, is_alone boolean)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  lock_key bigint := hashtextextended('ledger months', wanted_tenant);
begin
  if is_alone then
    perform pg_advisory_xact_lock(lock_key);
  else
    perform pg_advisory_xact_lock_shared(lock_key);
  end if;
end
$function$
;
-- owned by the owner

-- cash desks (0019_cash_desks.sql)

-- A place where cashiers take money and give receipts. Its money is on a ledger account.
create table cash_desks (
  tenant_id bigint not null,
  cash_desk_id bigint not null,
  code text not null,
  name text not null,
  cash_account_id bigint not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint cash_desks_code_check CHECK ((code <> ''::text)),
  constraint cash_desks_code_key UNIQUE (tenant_id, code),
  constraint cash_desks_name_check CHECK ((name <> ''::text)),
  constraint cash_desks_pkey PRIMARY KEY (tenant_id, cash_desk_id),
  constraint cash_desks_tenant_id_cash_account_id_fkey FOREIGN KEY (tenant_id, cash_account_id) REFERENCES ledger_accounts(tenant_id, ledger_account_id),
  constraint cash_desks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE INDEX cash_desks_account ON public.cash_desks USING btree (tenant_id, cash_account_id);
alter table cash_desks enable row level security, force row level security;
create policy tenant_wall on cash_desks as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on cash_desks to billwright_api;
grant insert, select on cash_desks to billwright_worker;
grant update (name) on cash_desks to billwright_api;
grant update (name) on cash_desks to billwright_worker;

-- The receipt of a payment at a cash desk. Numbers are gapless for each desk and year; the receipt
-- of a reversed payment keeps its number and is void.
create table receipts (
  tenant_id bigint not null,
  payment_id bigint not null,
  cash_desk_id bigint not null,
  -- The day on which the desk took the money.
  desk_date date not null,
  receipt_number text not null,
  series_id integer not null,
  series_number bigint not null,
  constraint receipts_number_key UNIQUE (tenant_id, receipt_number),
  constraint receipts_pkey PRIMARY KEY (tenant_id, payment_id),
  constraint receipts_series_key UNIQUE (tenant_id, series_id, series_number),
  constraint receipts_tenant_id_cash_desk_id_fkey FOREIGN KEY (tenant_id, cash_desk_id) REFERENCES cash_desks(tenant_id, cash_desk_id),
  constraint receipts_tenant_id_payment_id_fkey FOREIGN KEY (tenant_id, payment_id) REFERENCES payments(tenant_id, payment_id)
);
CREATE INDEX receipts_day ON public.receipts USING btree (tenant_id, cash_desk_id, desk_date);
CREATE TRIGGER receipts_append_only BEFORE DELETE OR UPDATE ON public.receipts FOR EACH ROW EXECUTE FUNCTION refuse_change();
alter table receipts enable row level security, force row level security;
create policy tenant_wall on receipts as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on receipts to billwright_api;
grant insert, select on receipts to billwright_worker;

-- A day of a cash desk that was counted and closed: no payment is taken there on that day again.
create table cash_desk_days (
  tenant_id bigint not null,
  cash_desk_id bigint not null,
  desk_date date not null,
  -- By payment method, in minor units: what was expected and what was counted.
  counted jsonb not null,
  -- Counted less expected, in minor units; booked on the account for cash differences.
  difference bigint not null,
  journal_id bigint,
  reason text,
  closed_at timestamp with time zone not null,
  closed_by text not null,
  constraint cash_desk_days_check CHECK (((difference = 0) OR ((reason <> ''::text) AND (journal_id IS NOT NULL)))),
  constraint cash_desk_days_pkey PRIMARY KEY (tenant_id, cash_desk_id, desk_date),
  constraint cash_desk_days_tenant_id_cash_desk_id_fkey FOREIGN KEY (tenant_id, cash_desk_id) REFERENCES cash_desks(tenant_id, cash_desk_id)
);
alter table cash_desk_days enable row level security, force row level security;
create policy tenant_wall on cash_desk_days as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on cash_desk_days to billwright_api;
grant insert, select on cash_desk_days to billwright_worker;

-- A payment by cheque. Until the bank has paid it, its money is not paid back to the party.
create table cheques (
  tenant_id bigint not null,
  payment_id bigint not null,
  party_id bigint not null,
  cheque_number text,
  cleared_date date,
  cleared_by text,
  constraint cheques_pkey PRIMARY KEY (tenant_id, payment_id),
  constraint cheques_tenant_id_payment_id_fkey FOREIGN KEY (tenant_id, payment_id) REFERENCES payments(tenant_id, payment_id)
);
CREATE INDEX cheques_uncleared ON public.cheques USING btree (tenant_id, party_id) WHERE (cleared_date IS NULL);
alter table cheques enable row level security, force row level security;
create policy tenant_wall on cheques as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on cheques to billwright_api;
grant insert, select on cheques to billwright_worker;
grant update (cleared_date, cleared_by) on cheques to billwright_api;
grant update (cleared_date, cleared_by) on cheques to billwright_worker;

-- approvals (0020_approvals.sql)

-- A refund or write-off above the approval limit of the workspace. It is booked when a second
-- person approves it.
create table approvals (
  tenant_id bigint not null,
  approval_id bigint not null,
  kind text not null,
  -- Of the refund, or of the first adjustment of the call.
  reference text not null,
  amount bigint not null,
  -- The call that waits, as it was sent.
  request jsonb not null,
  status text not null default 'Waiting'::text,
  requested_at timestamp with time zone not null,
  requested_by text not null,
  decided_at timestamp with time zone,
  decided_by text,
  reason text,
  constraint approvals_amount_check CHECK ((amount > 0)),
  constraint approvals_check CHECK (((status = 'Waiting'::text) = (decided_by IS NULL))),
  constraint approvals_check1 CHECK ((decided_by <> requested_by)),
  constraint approvals_kind_check CHECK ((kind = ANY (ARRAY['Refund'::text, 'DepositRefund'::text, 'Adjustments'::text]))),
  constraint approvals_pkey PRIMARY KEY (tenant_id, approval_id),
  constraint approvals_status_check CHECK ((status = ANY (ARRAY['Waiting'::text, 'Approved'::text, 'Rejected'::text]))),
  constraint approvals_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE UNIQUE INDEX approvals_waiting ON public.approvals USING btree (tenant_id, kind, reference) WHERE (status = 'Waiting'::text);
alter table approvals enable row level security, force row level security;
create policy tenant_wall on approvals as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on approvals to billwright_api;
grant select on approvals to billwright_worker;
grant update (status, decided_at, decided_by, reason) on approvals to billwright_api;

-- events (0022_events.sql)

-- Something that happened to a bill, a payment or another thing that receivers want to know. It is
-- written with the change itself: what is rolled back leaves no event. Kept for 30 days.
create table events (
  tenant_id bigint not null,
  event_id bigint not null,
  type text not null,
  -- One row for many things: a chunk of a bill run or of a file.
  is_bulk boolean not null default false,
  data jsonb not null,
  at timestamp with time zone not null,
  -- The transaction that wrote it. Events are read in this order, and only those of transactions
  -- before the oldest one that still runs: none appears later behind the place of a reader.
  written_in xid8 not null default pg_current_xact_id(),
  constraint events_data_check CHECK ((jsonb_typeof(data) = 'object'::text)),
  constraint events_pkey PRIMARY KEY (tenant_id, event_id),
  constraint events_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint events_type_check CHECK ((type ~ '^[a-z_]+\.[a-z_]+$'::text))
);
CREATE INDEX events_at ON public.events USING btree (tenant_id, at);
CREATE INDEX events_order ON public.events USING btree (tenant_id, written_in, event_id);
CREATE TRIGGER events_fixed BEFORE UPDATE ON public.events FOR EACH ROW EXECUTE FUNCTION refuse_change();
alter table events enable row level security, force row level security;
create policy tenant_wall on events as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on events to billwright_api;
grant delete, insert, select on events to billwright_worker;

-- open amounts (0023_open_amounts.sql)

-- What a statement changed of what is receivable and open, by pricing context and due date. Rows
-- are appended by triggers, and folded into open_totals and open_parties.
create table open_changes (
  tenant_id bigint not null,
  change_id uuid not null default uuidv7(),
  -- 0 for what a party owes without a subscription.
  context_id bigint not null,
  due_date date not null,
  -- In minor units, of items above zero. Credits that are open are few, and are read themselves.
  owed numeric not null,
  -- How many more items are open, credits among them.
  items bigint not null,
  -- Parties with more or fewer open items; the same places of party_items say how many.
  party_ids bigint[] not null default '{}'::bigint[],
  party_items smallint[] not null default '{}'::smallint[],
  constraint open_changes_check CHECK ((cardinality(party_ids) = cardinality(party_items))),
  constraint open_changes_pkey PRIMARY KEY (tenant_id, change_id)
);
alter table open_changes enable row level security, force row level security;
create policy tenant_wall on open_changes as permissive for all using ((tenant_id = current_tenant()));
grant select on open_changes to billwright_api;
grant select on open_changes to billwright_worker;

-- What is receivable and open by pricing context and due date, without the changes that are not
-- folded yet.
create table open_totals (
  tenant_id bigint not null,
  context_id bigint not null,
  due_date date not null,
  owed numeric not null,
  items bigint not null,
  constraint open_totals_pkey PRIMARY KEY (tenant_id, context_id, due_date)
);
alter table open_totals enable row level security, force row level security;
create policy tenant_wall on open_totals as permissive for all using ((tenant_id = current_tenant()));
grant select on open_totals to billwright_api;
grant select on open_totals to billwright_worker;

-- Parties with open items by pricing context, without the changes that are not folded yet.
create table open_parties (
  tenant_id bigint not null,
  party_id bigint not null,
  context_id bigint not null,
  items integer not null,
  constraint open_parties_pkey PRIMARY KEY (tenant_id, party_id, context_id)
);
alter table open_parties enable row level security, force row level security;
create policy tenant_wall on open_parties as permissive for all using ((tenant_id = current_tenant()));
grant select on open_parties to billwright_api;
grant select on open_parties to billwright_worker;

-- How many parties open_parties has, by pricing context.
create table open_party_counts (
  tenant_id bigint not null,
  -- 0 for all parties, each counted once.
  context_id bigint not null,
  parties bigint not null,
  constraint open_party_counts_pkey PRIMARY KEY (tenant_id, context_id)
);
alter table open_party_counts enable row level security, force row level security;
create policy tenant_wall on open_party_counts as permissive for all using ((tenant_id = current_tenant()));
grant select on open_party_counts to billwright_api;
grant select on open_party_counts to billwright_worker;

CREATE OR REPLACE FUNCTION public.add_open_changes()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  -- Rows are looked up one by one: a join might read all bills of the workspace.
  tenant constant bigint := require_tenant();
  posted record;
  ids bigint[];
  opened bigint[];
  settled_now bigint[];
begin
  if not exists (select from new_rows where effect is null and ledger_account_id = 2) then
    return null;
  end if;
  -- Bills that a term opens: a chunk of it has one journal and one due date.
  for posted in
    select b.journal_id, b.due_date, sum(greatest(b.amount, 0)) as owed, count(*) as items,
      array_agg(b.party_id) as party_ids
    from (
      select journal_id, due_date, party_id, sum(amount) as amount
      from new_rows
      where kind = 'Bill' and ledger_account_id = 2
      group by journal_id, due_date, party_id, bill_id
      having sum(amount) <> 0
    ) b
    group by b.journal_id, b.due_date
  loop
    insert into open_changes (tenant_id, context_id, due_date, owed, items, party_ids, party_items)
    select j.tenant_id, t.context_id, posted.due_date, posted.owed, posted.items,
      posted.party_ids, array_fill(1::smallint, array[posted.items::integer])
    from journals j
    join terms t on t.tenant_id = require_tenant() and t.term_id = j.term_id
    where j.tenant_id = require_tenant() and j.journal_id = posted.journal_id;
  end loop;
  select array_agg(b.bill_id), array_agg(b.opened) into ids, opened
  from (
    select bill_id, sum(amount)::bigint as opened
    from new_rows
    where effect is null and ledger_account_id = 2 and kind <> 'Bill' and item_id is null
      and bill_id is not null
    group by bill_id
    having sum(amount) <> 0
  ) b;
  if ids is not null then
    -- Before it was taken back, what is open of the bill was that and what it opened.
    insert into open_changes (tenant_id, context_id, due_date, owed, items, party_ids, party_items)
    select c.tenant_id, c.context_id, c.due_date,
      coalesce(sum(c.opened) filter (where c.bill_amount > 0), 0), sum(c.items),
      coalesce(array_agg(c.party_id) filter (where c.items <> 0), '{}'),
      coalesce(array_agg(c.items) filter (where c.items <> 0), '{}')
    from (
      select b.tenant_id, b.context_id, b.due_date, b.party_id, b.bill_amount, n.opened,
        ((b.open_now + n.opened <> 0)::integer - (b.open_now <> 0)::integer)::smallint as items
      from (
        select * from unnest(ids, opened) as u (bill_id, opened)
        limit cardinality(ids)
      ) n
      cross join lateral (
        select a.tenant_id, a.context_id, a.due_date, a.party_id, a.bill_amount,
          a.bill_amount - a.paid_amount - a.credited - a.written_off - a.transferred - a.disputed
            as open_now
        from bills a where a.tenant_id = tenant and a.bill_id = n.bill_id offset 0
      ) b
    ) c
    group by c.tenant_id, c.context_id, c.due_date;
  end if;
  select array_agg(i.item_id), array_agg(i.opened), array_agg(i.settled)
  into ids, opened, settled_now
  from (
    select item_id, (sum(amount) filter (where effect is null))::bigint as opened,
      coalesce(sum(settled), 0)::bigint as settled
    from new_rows
    where ledger_account_id = 2 and item_id is not null
    group by item_id
    having sum(amount) filter (where effect is null) <> 0
  ) i;
  if ids is not null then
    -- What the same entries settle of an item comes after its beginning.
    insert into open_changes (tenant_id, context_id, due_date, owed, items, party_ids, party_items)
    select c.tenant_id, c.context_id, c.due_date,
      coalesce(sum(c.opened) filter (where c.amount > 0), 0), sum(c.items),
      coalesce(array_agg(c.party_id) filter (where c.items <> 0), '{}'),
      coalesce(array_agg(c.items) filter (where c.items <> 0), '{}')
    from (
      select i.tenant_id, coalesce((
          select s.context_id from subscriptions s
          where s.tenant_id = tenant and s.subscription_id = i.subscription_id
        ), 0) as context_id, i.due_date, i.party_id, i.amount, n.opened,
        ((i.open_now <> 0)::integer - (i.open_now - n.opened <> 0)::integer)::smallint as items
      from (
        select * from unnest(ids, opened, settled_now) as u (item_id, opened, settled)
        limit cardinality(ids)
      ) n
      cross join lateral (
        select a.tenant_id, a.subscription_id, a.due_date, a.party_id, a.amount,
          a.amount - a.paid_amount - a.credited - a.written_off - a.transferred - a.disputed
            + n.settled as open_now
        from open_items a where a.tenant_id = tenant and a.item_id = n.item_id offset 0
      ) i
    ) c
    group by c.tenant_id, c.context_id, c.due_date;
  end if;
  return null;
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.move_open_bill()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  open_amount bigint := new.bill_amount - new.paid_amount - new.credited - new.written_off
    - new.transferred - new.disputed;
begin
  if exists (
    select from pricing_contexts
    where tenant_id = require_tenant() and context_id = new.context_id
      and context_type = 'Sale'
  ) then
    insert into open_changes (tenant_id, context_id, due_date, owed, items)
    values
      (new.tenant_id, new.context_id, old.due_date, -greatest(open_amount, 0), -1),
      (new.tenant_id, new.context_id, new.due_date, greatest(open_amount, 0), 1);
  end if;
  return null;
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.count_open_parties(wanted bigint[])
 RETURNS TABLE(context_id bigint, parties bigint)
 LANGUAGE sql
 STABLE
AS $function$
  select 0::bigint, count(*)
  from (
    select p.party_id from open_parties p
    where p.tenant_id = require_tenant() and p.party_id = any(wanted)
    group by p.party_id having sum(p.items) > 0
  ) owing
  union all
  select p.context_id, count(*) from open_parties p
  where p.tenant_id = require_tenant() and p.party_id = any(wanted) and p.context_id > 0
    and p.items > 0
  group by p.context_id
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.add_party_counts(wanted bigint[], side integer)
 RETURNS void
 LANGUAGE sql
AS $function$
  insert into open_party_counts as c (tenant_id, context_id, parties)
  select own.tenant_id, n.context_id, side * n.parties
  from (select tenant_id from tenants where tenant_id = require_tenant()) own
  cross join count_open_parties(wanted) n
  on conflict (tenant_id, context_id) do update set parties = c.parties + excluded.parties
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.fold_open_changes(rows_max integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  change_ids uuid[];
  touched bigint[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended('open changes', require_tenant())) then
    return 0;
  end if;
  change_ids := array(
    select c.change_id from open_changes c
    where c.tenant_id = require_tenant()
    order by c.change_id
    limit rows_max
  );
  if cardinality(change_ids) = 0 then
    return 0;
  end if;
  insert into open_totals as t (tenant_id, context_id, due_date, owed, items)
  select c.tenant_id, c.context_id, c.due_date, sum(c.owed), sum(c.items)
  from open_changes c
  where c.tenant_id = require_tenant() and c.change_id = any(change_ids)
  group by c.tenant_id, c.context_id, c.due_date
  on conflict (tenant_id, context_id, due_date) do update
    set owed = t.owed + excluded.owed, items = t.items + excluded.items;
  delete from open_totals t where t.tenant_id = require_tenant() and t.owed = 0 and t.items = 0;
  touched := array(
    select distinct u.party_id
    from open_changes c
    cross join lateral unnest(c.party_ids) as u (party_id)
    where c.tenant_id = require_tenant() and c.change_id = any(change_ids)
  );
  perform add_party_counts(touched, -1);
  insert into open_parties as p (tenant_id, party_id, context_id, items)
  select c.tenant_id, u.party_id, c.context_id, sum(u.items)
  from open_changes c
  cross join lateral unnest(c.party_ids, c.party_items) as u (party_id, items)
  where c.tenant_id = require_tenant() and c.change_id = any(change_ids)
  group by c.tenant_id, u.party_id, c.context_id
  on conflict (tenant_id, party_id, context_id) do update set items = p.items + excluded.items;
  delete from open_parties p
  where p.tenant_id = require_tenant() and p.party_id = any(touched) and p.items = 0;
  perform add_party_counts(touched, 1);
  delete from open_changes c
  where c.tenant_id = require_tenant() and c.change_id = any(change_ids);
  return cardinality(change_ids);
end
$function$
;
-- owned by the owner

-- checked sets (0024_checked_sets.sql)

CREATE OR REPLACE FUNCTION public.check_named_parties()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  tenant bigint;
  party_ids bigint[];
begin
  select min(tenant_id), array_agg(distinct party_id) into tenant, party_ids from new_rows;
  if party_ids is null then
    return null;
  end if;
  if cardinality(party_ids) <> (
    select count(*)
    from (select unnest(party_ids) as party_id limit cardinality(party_ids)) n
    cross join lateral (
      select from parties p where p.tenant_id = tenant and p.party_id = n.party_id offset 0
    ) found
  ) then
    raise exception 'a row names a party that does not exist'
      using errcode = 'foreign_key_violation', constraint = tg_argv[0];
  end if;
  return null;
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.check_named_tenants()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  named bigint;
begin
  for named in select distinct tenant_id from new_rows loop
    perform from tenants where tenant_id = named;
    if not found then
      raise exception 'a row names a tenant that does not exist'
        using errcode = 'foreign_key_violation', constraint = tg_argv[0];
    end if;
  end loop;
  return null;
end
$function$
;
-- owned by the owner

-- opening items (0026_opening_items.sql)

-- A debt, a credit, an advance or a deposit of an old system. Its reference there is used once for
-- ever, so that a file can be imported again. Rows are appended and never changed.
create table opening_items (
  tenant_id bigint not null,
  reference text not null,
  -- The file that brought it. Journals of the source Opening name it.
  batch_id bigint not null,
  kind text not null,
  party_id bigint not null,
  -- Null if the party itself owes it.
  subscription_id bigint,
  component text,
  issue_date date not null,
  due_date date not null,
  -- In minor units. Below zero it is a credit of the customer.
  amount bigint not null,
  description text not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint opening_items_amount_check CHECK ((amount <> 0)),
  constraint opening_items_description_check CHECK ((description <> ''::text)),
  constraint opening_items_kind_check CHECK ((kind = ANY (ARRAY['OpenItem'::text, 'Advance'::text, 'SecurityDeposit'::text]))),
  constraint opening_items_pkey PRIMARY KEY (tenant_id, reference),
  constraint opening_items_reference_check CHECK ((reference <> ''::text)),
  constraint opening_items_tenant_id_party_id_fkey FOREIGN KEY (tenant_id, party_id) REFERENCES parties(tenant_id, party_id),
  constraint opening_items_tenant_id_subscription_id_fkey FOREIGN KEY (tenant_id, subscription_id) REFERENCES subscriptions(tenant_id, subscription_id)
);
CREATE INDEX opening_items_batch ON public.opening_items USING btree (tenant_id, batch_id, party_id, reference);
CREATE INDEX opening_items_party ON public.opening_items USING btree (tenant_id, party_id);
CREATE INDEX opening_items_subscription ON public.opening_items USING btree (tenant_id, subscription_id) WHERE (subscription_id IS NOT NULL);
CREATE TRIGGER opening_items_append_only BEFORE DELETE OR UPDATE ON public.opening_items FOR EACH ROW EXECUTE FUNCTION refuse_change();
alter table opening_items enable row level security, force row level security;
create policy tenant_wall on opening_items as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on opening_items to billwright_api;
grant insert, select on opening_items to billwright_worker;

-- receipt mails (0028_receipt_mails.sql)

CREATE OR REPLACE FUNCTION public.queue_receipt_mails()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$
;
-- owned by the owner

-- search (0029_search.sql)

CREATE OR REPLACE FUNCTION public.first_parties(beginning text, beginning_end text, most integer)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER ROWS 10
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select party_id
  from parties
  where tenant_id = require_tenant()
    and left(search_text, 60) >= beginning and left(search_text, 60) <= beginning_end
    and not archived
  order by left(search_text, 60), party_id
  limit most;
$function$
;
-- owned by billwright_search

CREATE OR REPLACE FUNCTION public.some_parties(pattern text, most integer)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER ROWS 10
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_indexscan TO 'off'
AS $function$
  select party_id
  from parties
  where tenant_id = require_tenant() and search_text like pattern and not archived
  limit most;
$function$
;
-- owned by billwright_search

CREATE OR REPLACE FUNCTION public.newest_parties(pattern text, looked_at integer, most integer)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER ROWS 10
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select party_id
  from (
    select party_id, search_text, archived
    from parties
    where tenant_id = require_tenant()
    order by party_id desc
    limit looked_at
  ) newest
  where search_text like pattern and not archived
  limit most;
$function$
;
-- owned by billwright_search

CREATE OR REPLACE FUNCTION public.some_subscriptions(pattern text, most integer)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER ROWS 10
 SET search_path TO 'public', 'pg_temp'
 SET enable_seqscan TO 'off'
 SET enable_indexscan TO 'off'
AS $function$
  select subscription_id
  from subscriptions
  where tenant_id = require_tenant() and search_text like pattern
  limit most;
$function$
;
-- owned by billwright_search

-- party notes (0030_party_notes.sql)

-- A note of staff on a party, or a problem that a customer reported. Rows are never changed.
create table party_notes (
  tenant_id bigint not null,
  note_id bigint not null,
  party_id bigint not null,
  kind text not null,
  text text not null,
  -- True if the login of the party wrote it. A customer sees these and no others.
  is_from_customer boolean not null,
  created_at timestamp with time zone not null,
  created_by text not null,
  constraint party_notes_kind_check CHECK ((kind = ANY (ARRAY['Note'::text, 'Problem'::text]))),
  constraint party_notes_pkey PRIMARY KEY (tenant_id, note_id),
  constraint party_notes_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint party_notes_tenant_id_party_id_fkey FOREIGN KEY (tenant_id, party_id) REFERENCES parties(tenant_id, party_id),
  constraint party_notes_text_check CHECK ((text <> ''::text))
);
CREATE INDEX party_notes_party ON public.party_notes USING btree (tenant_id, party_id, note_id);
CREATE TRIGGER party_notes_append_only BEFORE DELETE OR UPDATE ON public.party_notes FOR EACH ROW EXECUTE FUNCTION refuse_note_change();
alter table party_notes enable row level security, force row level security;
create policy tenant_wall on party_notes as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on party_notes to billwright_api;

-- access links (0031_access_links.sql)

-- A link that was mailed to a login, stored as a hash. It is used once, before it expires.
create table login_links (
  tenant_id bigint not null,
  token_hash bytea not null,
  login_id bigint not null,
  purpose text not null,
  expires_at timestamp with time zone not null,
  spent_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint login_links_pkey PRIMARY KEY (tenant_id, token_hash),
  constraint login_links_purpose_check CHECK ((purpose = ANY (ARRAY['Login'::text, 'Reset'::text]))),
  constraint login_links_tenant_id_login_id_fkey FOREIGN KEY (tenant_id, login_id) REFERENCES logins(tenant_id, login_id),
  constraint login_links_token_hash_check CHECK ((octet_length(token_hash) = 32))
);
CREATE INDEX login_links_expiry ON public.login_links USING btree (tenant_id, expires_at);
CREATE INDEX login_links_login ON public.login_links USING btree (tenant_id, login_id);
alter table login_links enable row level security, force row level security;
create policy tenant_wall on login_links as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on login_links to billwright_api;
grant delete, select on login_links to billwright_worker;

CREATE OR REPLACE FUNCTION public.wake_for_notice()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('billwright_clocks', new.tenant_id::text);
  return null;
end
$function$
;
-- owned by the owner

-- second factor (0032_second_factor.sql)

-- The second factor of a login. It counts once it is confirmed by a first code.
create table login_factors (
  tenant_id bigint not null,
  login_id bigint not null,
  -- Encrypted with the key of the installation, which is not in the database.
  secret bytea not null,
  confirmed_at timestamp with time zone,
  -- The time step of the last code that was accepted: each code works once.
  last_step bigint not null default 0,
  -- SHA-256 of the recovery codes that are left, as hexadecimal text.
  recovery_hashes text[] not null default '{}'::text[],
  created_at timestamp with time zone not null,
  constraint login_factors_pkey PRIMARY KEY (tenant_id, login_id),
  constraint login_factors_tenant_id_login_id_fkey FOREIGN KEY (tenant_id, login_id) REFERENCES logins(tenant_id, login_id)
);
alter table login_factors enable row level security, force row level security;
create policy tenant_wall on login_factors as permissive for all using ((tenant_id = current_tenant()));
grant delete, insert, select, update on login_factors to billwright_api;

-- workspace ends (0050_workspace_ends.sql)

-- A workspace that is to be deleted, or was. The row stays, so that no other workspace gets the
-- tenant id. As the registry, it spans tenants.
create table ended_workspaces (
  tenant_id bigint not null,
  workspace text not null,
  -- What it was before: it is that again if the deletion is undone.
  was_active boolean not null,
  requested_at timestamp with time zone not null,
  -- From then on workers delete its rows, and the deletion cannot be undone.
  delete_after timestamp with time zone not null,
  -- Where its last export was written.
  export_file text not null,
  deleted_at timestamp with time zone,
  rows_deleted bigint not null default 0,
  constraint ended_workspaces_check CHECK ((delete_after >= requested_at)),
  constraint ended_workspaces_pkey PRIMARY KEY (tenant_id)
);
alter table ended_workspaces disable row level security;
grant select on ended_workspaces to billwright_worker;

CREATE OR REPLACE FUNCTION public.next_tenant_id()
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select 1 + greatest(
    (select coalesce(max(tenant_id), 0) from workspaces),
    (select coalesce(max(tenant_id), 0) from ended_workspaces))
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.is_ending(tenant bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if is_program() then
    return false;
  end if;
  perform from ended_workspaces
    where tenant_id = tenant and delete_after <= now() and deleted_at is null;
  return found;
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.delete_ended_rows(wanted_table text, most integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  tenant bigint := require_tenant();
  deleted integer;
  ended_at timestamptz := case when wanted_table = 'workspaces' then now() end;
begin
  perform from ended_workspaces
    where tenant_id = require_tenant() and delete_after <= now() and deleted_at is null
    for update;
  if not found then
    raise exception 'workspace % has not ended', tenant using errcode = 'insufficient_privilege';
  end if;
  if not exists (
    select from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and c.relname = wanted_table and c.relname <> 'ended_workspaces'
  ) then
    raise exception '% is no table of workspaces', wanted_table;
  end if;
  begin
    execute format(
      'delete from %1$I where tenant_id = $1 and ctid = any(array('
        'select ctid from %1$I where tenant_id = $1 limit $2))', wanted_table)
      using tenant, most;
  exception when foreign_key_violation then
    -- Rows of the table name each other: they go together.
    execute format('delete from %I where tenant_id = $1', wanted_table) using tenant;
  end;
  get diagnostics deleted = row_count;
  update ended_workspaces set rows_deleted = rows_deleted + deleted, deleted_at = ended_at
  where tenant_id = tenant;
  return deleted;
end
$function$
;
-- owned by the owner

-- party erasure (0051_party_erasure.sql)

CREATE OR REPLACE FUNCTION public.refuse_note_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if tg_op = 'DELETE' then
    if is_ending(old.tenant_id) then
      return old;
    end if;
    if not is_program() and exists (
      select from parties
      where tenant_id = old.tenant_id and party_id = old.party_id and erased_on is not null
    ) then
      return old;
    end if;
  end if;
  raise exception 'party_notes is append-only' using errcode = 'insufficient_privilege';
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.keep_erased()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.erased_on is distinct from old.erased_on or not new.archived or new.email is not null
    or new.address is not null or new.identity_number is not null or new.contacts <> '[]' then
    raise exception 'an erased party stays erased'
      using errcode = 'check_violation', constraint = 'parties_stay_erased';
  end if;
  return new;
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.erase_party(wanted_party bigint, on_date date, by_name text, at timestamp with time zone)
 RETURNS jsonb
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  tenant bigint := require_tenant();
  found_number bigint;
  login_ids bigint[];
  counts jsonb := '{}';
  changed integer;
begin
  update parties
  set name = 'Erased party ' || party_number, search_text = '', email = null, country = null,
    contacts = '[]', identity_number = null, tax_number = null, address = null, language = null,
    competencies = '[]', delivery_channels = null, portal_status = 'NONE', erased_on = on_date,
    modified_at = at, modified_by = by_name,
    ts = greatest(ts + 1, (extract(epoch from at) * 1000)::bigint)
  where tenant_id = require_tenant() and party_id = wanted_party and archived and erased_on is null
  returning party_number into found_number;
  if found_number is null then
    raise exception 'party % is not archived, or is erased', wanted_party;
  end if;

  update billing_accounts set label = 'Account ' || account_id
  where tenant_id = tenant and party_id = wanted_party;
  get diagnostics changed = row_count;
  counts := counts || jsonb_build_object('accounts', changed);

  delete from party_notes where tenant_id = tenant and party_id = wanted_party;
  get diagnostics changed = row_count;
  counts := counts || jsonb_build_object('notes', changed);

  delete from bank_payers where tenant_id = tenant and party_id = wanted_party;
  get diagnostics changed = row_count;
  counts := counts || jsonb_build_object('payers', changed);

  update notices
  set recipient = '', subject = '', body = '', facts = '{}',
    status = case when status in ('Queued', 'Sending') then 'Failed' else status end,
    reason = case when status in ('Queued', 'Sending') then 'The party was erased' end
  where tenant_id = tenant and party_id = wanted_party;
  get diagnostics changed = row_count;
  counts := counts || jsonb_build_object('notices', changed);

  select array_agg(login_id) into login_ids
  from logins where tenant_id = tenant and party_id = wanted_party;
  delete from login_links where tenant_id = tenant and login_id = any(login_ids);
  delete from login_factors where tenant_id = tenant and login_id = any(login_ids);
  delete from login_names where tenant_id = tenant and login_id = any(login_ids);
  delete from sessions where tenant_id = tenant and login_id = any(login_ids);
  -- No text has this hash: no password opens the login.
  update logins
  set username = 'erased-' || login_id, email = null, name = 'Erased', password_hash = '!',
    status = 'INACTIVE', modified_at = at, modified_by = by_name,
    ts = greatest(ts + 1, (extract(epoch from at) * 1000)::bigint)
  where tenant_id = tenant and login_id = any(login_ids);
  get diagnostics changed = row_count;
  return counts || jsonb_build_object('logins', changed);
end
$function$
;
-- owned by the owner

-- webhooks (0055_webhooks.sql)

-- An address to which events of the workspace are sent, with what signs them. Events before it was
-- made are not sent to it.
create table webhooks (
  tenant_id bigint not null,
  webhook_id bigint not null,
  url text not null,
  description text,
  -- The types of events that it receives; empty for all.
  types text[] not null default '{}'::text[],
  -- Paused: by an administrator. Disabled: the receiver answered 410 Gone. Both keep their place.
  status text not null default 'Active'::text,
  reason text,
  -- Encrypted with the key of the installation, which is not in the database.
  secret bytea not null,
  -- The secret before the last change. Messages are signed with both until old_secret_until.
  old_secret bytea,
  old_secret_until timestamp with time zone,
  -- With read_event_id the last event of which messages were made, in the order of events.
  read_in xid8 not null default pg_current_xact_id(),
  read_event_id bigint not null default '9007199254740991'::bigint,
  -- The sequence of the newest message.
  last_sequence bigint not null default 0,
  -- Batches of attempts that failed since the last success.
  failures integer not null default 0,
  last_success_at timestamp with time zone,
  last_failure_at timestamp with time zone,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  -- Why an attempt failed at last_failure_at. It contains nothing of the answer but its status.
  last_error text,
  constraint webhooks_check CHECK (((old_secret IS NULL) = (old_secret_until IS NULL))),
  constraint webhooks_failures_check CHECK ((failures >= 0)),
  constraint webhooks_pkey PRIMARY KEY (tenant_id, webhook_id),
  constraint webhooks_status_check CHECK ((status = ANY (ARRAY['Active'::text, 'Paused'::text, 'Disabled'::text]))),
  constraint webhooks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
  constraint webhooks_url_check CHECK (((url ~ '^https?://'::text) AND (length(url) <= 2000)))
);
CREATE TRIGGER webhooks_noted AFTER INSERT ON public.webhooks FOR EACH STATEMENT EXECUTE FUNCTION note_webhook();
alter table webhooks enable row level security, force row level security;
create policy tenant_wall on webhooks as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on webhooks to billwright_api;
grant select on webhooks to billwright_worker;
grant update (url, description, types, status, reason, secret, old_secret, old_secret_until, last_sequence, modified_at, modified_by, ts) on webhooks to billwright_api;
grant update (status, reason, read_in, read_event_id, last_sequence, failures, last_success_at, last_failure_at, modified_at, modified_by, ts, last_error) on webhooks to billwright_worker;

-- An event, or one thing of an event about many, on its way to a webhook.
create table webhook_messages (
  tenant_id bigint not null,
  webhook_id bigint not null,
  -- Counts the messages of a webhook in the order of events, without gaps.
  sequence bigint not null,
  event_id bigint not null,
  -- Which thing of an event about many, from 1; 0 for an event about one.
  item integer not null default 0,
  type text not null,
  status text not null default 'Queued'::text,
  -- How often it was sent. Only the worker that counted last may record the outcome.
  attempts integer not null default 0,
  -- Attempts that failed in this round. Redelivery begins a new round.
  failures smallint not null default 0,
  -- When it is sent, or sent again if the worker that sends it now is not heard of until then.
  next_attempt_at timestamp with time zone,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint webhook_messages_check CHECK (((status = ANY (ARRAY['Queued'::text, 'Sending'::text])) = (next_attempt_at IS NOT NULL))),
  constraint webhook_messages_check1 CHECK (((status = ANY (ARRAY['Delivered'::text, 'Dead'::text])) = (ended_at IS NOT NULL))),
  constraint webhook_messages_item_check CHECK ((item >= 0)),
  constraint webhook_messages_once UNIQUE (tenant_id, webhook_id, event_id, item),
  constraint webhook_messages_pkey PRIMARY KEY (tenant_id, webhook_id, sequence),
  constraint webhook_messages_sequence_check CHECK ((sequence > 0)),
  constraint webhook_messages_status_check CHECK ((status = ANY (ARRAY['Queued'::text, 'Sending'::text, 'Delivered'::text, 'Dead'::text]))),
  constraint webhook_messages_tenant_id_webhook_id_fkey FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks(tenant_id, webhook_id)
);
CREATE INDEX webhook_messages_due ON public.webhook_messages USING btree (tenant_id, webhook_id, next_attempt_at, sequence) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX webhook_messages_ended ON public.webhook_messages USING btree (tenant_id, ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX webhook_messages_event ON public.webhook_messages USING btree (tenant_id, event_id);
CREATE INDEX webhook_messages_status ON public.webhook_messages USING btree (tenant_id, status, webhook_id, sequence);
alter table webhook_messages enable row level security, force row level security;
create policy tenant_wall on webhook_messages as permissive for all using ((tenant_id = current_tenant()));
grant insert, select on webhook_messages to billwright_api;
grant delete, insert, select on webhook_messages to billwright_worker;
grant update (status, failures, next_attempt_at, ended_at) on webhook_messages to billwright_api;
grant update (status, attempts, failures, next_attempt_at, ended_at) on webhook_messages to billwright_worker;

-- One attempt to send a message. It is written before the message is sent.
create table webhook_attempts (
  tenant_id bigint not null,
  webhook_id bigint not null,
  sequence bigint not null,
  attempt integer not null,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  -- Null while it is sent, and for ever if the worker ended meanwhile. Refused: the target is not
  -- allowed, and nothing was sent.
  outcome text,
  http_status smallint,
  detail text,
  constraint webhook_attempts_attempt_check CHECK ((attempt > 0)),
  constraint webhook_attempts_check CHECK (((outcome IS NULL) = (ended_at IS NULL))),
  constraint webhook_attempts_outcome_check CHECK ((outcome = ANY (ARRAY['Delivered'::text, 'Failed'::text, 'Refused'::text]))),
  constraint webhook_attempts_pkey PRIMARY KEY (tenant_id, webhook_id, sequence, attempt),
  constraint webhook_attempts_tenant_id_webhook_id_sequence_fkey FOREIGN KEY (tenant_id, webhook_id, sequence) REFERENCES webhook_messages(tenant_id, webhook_id, sequence) ON DELETE CASCADE
);
alter table webhook_attempts enable row level security, force row level security;
create policy tenant_wall on webhook_attempts as permissive for all using ((tenant_id = current_tenant()));
grant select on webhook_attempts to billwright_api;
grant delete, insert, select on webhook_attempts to billwright_worker;
grant update (ended_at, outcome, http_status, detail) on webhook_attempts to billwright_worker;

-- Workspaces that have a webhook, so that workers look at no other. It has no wall and no data of a
-- workspace; the API role has no right to it.
create table workspace_webhooks (
  tenant_id bigint not null,
  constraint workspace_webhooks_pkey PRIMARY KEY (tenant_id),
  constraint workspace_webhooks_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES workspaces(tenant_id)
);
alter table workspace_webhooks disable row level security;
grant select on workspace_webhooks to billwright_worker;

CREATE OR REPLACE FUNCTION public.note_webhook()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  insert into workspace_webhooks (tenant_id)
  select w.tenant_id from workspaces w where w.tenant_id = require_tenant()
  on conflict do nothing;
  return null;
end
$function$
;
-- owned by the owner

CREATE OR REPLACE FUNCTION public.webhooks_with_work(at timestamp with time zone)
 RETURNS TABLE(tenant_id bigint, webhook_id bigint, failures integer)
 LANGUAGE plpgsql
AS $function$
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
$function$
;
-- owned by the owner

-- gateways (0056_gateways.sql)

-- A payment gateway whose signed notices the workspace accepts. Each notice becomes a line of a
-- bank file of the day.
create table gateways (
  tenant_id bigint not null,
  -- The name of the adapter that reads its notices.
  adapter text not null,
  -- The bank account to which the gateway pays out.
  bank_account_id bigint not null,
  -- Encrypted with the key of the installation, which is not in the database.
  secret bytea not null,
  status text not null default 'Active'::text,
  created_at timestamp with time zone not null,
  created_by text not null,
  modified_at timestamp with time zone not null,
  modified_by text not null,
  ts bigint not null,
  -- The secret before the last change. Notices signed with it are accepted until old_secret_until.
  old_secret bytea,
  old_secret_until timestamp with time zone,
  constraint gateways_account_fkey FOREIGN KEY (tenant_id, bank_account_id) REFERENCES bank_accounts(tenant_id, bank_account_id),
  constraint gateways_adapter_check CHECK ((adapter ~ '^[a-z][a-z0-9-]{0,39}$'::text)),
  constraint gateways_old_secret_check CHECK (((old_secret IS NULL) = (old_secret_until IS NULL))),
  constraint gateways_pkey PRIMARY KEY (tenant_id, adapter),
  constraint gateways_status_check CHECK ((status = ANY (ARRAY['Active'::text, 'Paused'::text]))),
  constraint gateways_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE INDEX gateways_account ON public.gateways USING btree (tenant_id, bank_account_id);
alter table gateways enable row level security, force row level security;
create policy tenant_wall on gateways as permissive for all using ((tenant_id = current_tenant()));
grant insert, select, update on gateways to billwright_api;

-- journals checked at once (0061_journals_checked_at_once.sql)

CREATE OR REPLACE FUNCTION public.check_journals()
 RETURNS trigger
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
AS $function$
declare
  tenants_named bigint[];
  first_day date;
begin
  select array_agg(distinct tenant_id), min(posting_date) into tenants_named, first_day
  from new_rows;
  if tenants_named is null then
    return null;
  end if;
  if cardinality(tenants_named) <> (
    select count(*) from tenants where tenant_id = any(tenants_named)
  ) then
    raise exception 'a journal names a tenant that does not exist'
      using errcode = 'foreign_key_violation', constraint = 'journals_tenant_fkey';
  end if;
  if is_program() then
    -- The walls between workspaces leave it no other tenant than its own.
    perform lock_months(tenants_named[1], false);
    if exists (
      select from ledger_months
      where tenant_id = tenants_named[1] and is_closed
        and month >= date_trunc('month', first_day)
    ) then
      raise exception 'a journal is posted in a month that is closed'
        using errcode = 'check_violation', constraint = 'journals_month_open';
    end if;
  end if;
  return null;
end
$function$
;
-- owned by the owner

-- several machines (0065_several_machines.sql)

CREATE OR REPLACE FUNCTION public.set_tenant(wanted text)
 RETURNS text
 LANGUAGE sql
AS $function$
  select set_config('app.tenant', wanted, true)
$function$
;
-- owned by the owner

-- lists of a million (0068_lists_of_a_million.sql)

CREATE OR REPLACE FUNCTION public.spread_parties(pattern text, places integer, looked_at integer, most integer)
 RETURNS SETOF bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER ROWS 10
 SET search_path TO 'public', 'pg_temp'
AS $function$
  select near.party_id
  from (
    select min(party_id) as first_id, max(party_id) as last_id
    from parties
    where tenant_id = require_tenant()
  ) ids
  cross join generate_series(0, places - 1) as place (number)
  cross join lateral (
    select party_id, search_text, archived
    from parties
    where tenant_id = require_tenant()
      and party_id >= ids.first_id + (ids.last_id - ids.first_id) * place.number / places
    order by party_id
    limit looked_at
  ) near
  where near.search_text like pattern and not near.archived
  limit most;
$function$
;
-- owned by billwright_search

-- made by no migration

-- A migration that this database has run, with the checksum of its file.
create table schema_migrations (
  version integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (version)
);
alter table schema_migrations disable row level security;
