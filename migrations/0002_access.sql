-- Access: logins, machine clients, their sessions and tokens. Passwords and secrets are argon2id
-- hashes; tokens are SHA-256 hashes. No stored value can be replayed.

create table logins (
  tenant_id bigint not null references tenants (tenant_id),
  login_id bigint not null,
  username text not null,
  email text,
  name text not null,
  password_hash text not null,
  roles text[] not null,
  party_id bigint,
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'INACTIVE')),
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  primary key (tenant_id, login_id)
);
comment on table logins is 'A person who can sign in with a password.';
create index logins_party on logins (tenant_id, party_id) where party_id is not null;
call wall_off('logins');
grant select, insert, update on logins to billwright_api;

create table login_names (
  tenant_id bigint not null,
  name text not null,
  login_id bigint not null,
  constraint login_names_taken primary key (tenant_id, name),
  foreign key (tenant_id, login_id) references logins (tenant_id, login_id)
);
comment on table login_names is
  'A name that a login signs in with: its user name or its e-mail address. Both share one set of '
  'names, so that a name belongs to one login.';
create index login_names_login on login_names (tenant_id, login_id);
call wall_off('login_names');
grant select, insert, delete on login_names to billwright_api;

create table clients (
  tenant_id bigint not null references tenants (tenant_id),
  client_number bigint not null,
  client_id text not null,
  secret_hash text not null,
  roles text[] not null,
  expires_at timestamptz,
  allowed_addresses text[] not null default '{}',
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'INACTIVE')),
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  primary key (tenant_id, client_number),
  constraint clients_client_id_key unique (tenant_id, client_id)
);
comment on table clients is 'A machine client that signs in with a secret.';
call wall_off('clients');
grant select, insert, update on clients to billwright_api;

create table sessions (
  tenant_id bigint not null references tenants (tenant_id),
  session_id uuid not null,
  login_id bigint,
  client_number bigint,
  address text not null,
  created_at timestamptz not null,
  used_at timestamptz not null,
  revoked_at timestamptz,
  revoked_reason text,
  primary key (tenant_id, session_id),
  foreign key (tenant_id, login_id) references logins (tenant_id, login_id),
  foreign key (tenant_id, client_number) references clients (tenant_id, client_number),
  check (num_nonnulls(login_id, client_number) = 1)
);
comment on table sessions is
  'One sign-in of a login or a client, with the family of all tokens that were issued from it.';
create index sessions_login on sessions (tenant_id, login_id) where revoked_at is null;
create index sessions_client on sessions (tenant_id, client_number) where revoked_at is null;
call wall_off('sessions');
grant select, insert, update on sessions to billwright_api;
grant select, delete on sessions to billwright_worker;

create table tokens (
  tenant_id bigint not null,
  token_hash bytea not null check (octet_length(token_hash) = 32),
  session_id uuid not null,
  kind text not null check (kind in ('access', 'refresh')),
  expires_at timestamptz not null,
  spent_at timestamptz,
  successor bytea,
  primary key (tenant_id, token_hash),
  foreign key (tenant_id, session_id) references sessions (tenant_id, session_id) on delete cascade
);
comment on table tokens is 'An access or refresh token of a session, stored as a hash.';
comment on column tokens.successor is
  'Of a refresh token that came as a cookie: the tokens that replaced it, encrypted with it. A second '
  'tab that sends the old cookie within seconds gets the same ones.';
create index tokens_session on tokens (tenant_id, session_id);
create index tokens_expiry on tokens (tenant_id, expires_at);
call wall_off('tokens');
grant select, insert, update on tokens to billwright_api;
grant select, delete on tokens to billwright_worker;

-- A login, client, session or token that changed changes the rights of callers.
create function advance_access_epoch() returns trigger
language plpgsql
as $$
begin
  update tenants set access_epoch = access_epoch + 1 where tenant_id = new.tenant_id;
  return null;
end
$$;
create trigger logins_access_epoch
  after update on logins
  for each row execute function advance_access_epoch();
create trigger clients_access_epoch
  after update on clients
  for each row execute function advance_access_epoch();
create trigger sessions_access_epoch
  after update on sessions
  for each row when (old.revoked_at is distinct from new.revoked_at)
  execute function advance_access_epoch();
create trigger tokens_access_epoch
  after update on tokens
  for each row when (
    old.spent_at is distinct from new.spent_at or old.expires_at is distinct from new.expires_at
  )
  execute function advance_access_epoch();

create table login_failures (
  tenant_id bigint not null references tenants (tenant_id),
  name_hash bytea not null check (octet_length(name_hash) = 32),
  failures integer not null check (failures > 0),
  failed_at timestamptz not null,
  locked_until timestamptz,
  primary key (tenant_id, name_hash)
);
comment on table login_failures is
  'Failed sign-ins by the name that was tried, whether or not the name exists: the reply to a '
  'wrong name must not differ from the reply to a wrong password.';
call wall_off('login_failures');
grant select, insert, update, delete on login_failures to billwright_api, billwright_worker;

create table idempotency_keys (
  tenant_id bigint not null references tenants (tenant_id),
  principal text not null,
  idempotency_key text not null check (length(idempotency_key) between 1 and 255),
  request_hash bytea not null,
  headers jsonb not null,
  body text not null,
  expires_at timestamptz not null,
  primary key (tenant_id, principal, idempotency_key)
);
comment on table idempotency_keys is 'A call that was made with an Idempotency-Key, and its reply.';
create index idempotency_keys_expiry on idempotency_keys (tenant_id, expires_at);
call wall_off('idempotency_keys');
grant select, insert, delete on idempotency_keys to billwright_api, billwright_worker;

-- Opens a call of a token that this process knows: sets the tenant and returns its epoch, which
-- shows whether that knowledge is still valid. This costs a tenth of finding the principal again.
create function enter_tenant(wanted_tenant bigint) returns bigint
language plpgsql volatile
as $$
declare
  found_epoch bigint;
begin
  perform set_config('app.tenant', wanted_tenant::text, true);
  select access_epoch into found_epoch from tenants where tenant_id = wanted_tenant;
  return found_epoch;
end
$$;
revoke all on function enter_tenant(bigint) from public;
grant execute on function enter_tenant(bigint) to billwright_api;

-- Opens any other call: sets the tenant and finds the token's principal and the workspace.
create function enter_call(wanted_tenant bigint, wanted_hash bytea)
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
  perform set_config('app.tenant', wanted_tenant::text, true);
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
revoke all on function enter_call(bigint, bytea) from public;
grant execute on function enter_call(bigint, bytea) to billwright_api;
