-- The second factor of a login: codes of an authenticator app (TOTP), and recovery codes.

create table login_factors (
  tenant_id bigint not null,
  login_id bigint not null,
  secret bytea not null,
  confirmed_at timestamptz,
  last_step bigint not null default 0,
  recovery_hashes text[] not null default '{}',
  created_at timestamptz not null,
  primary key (tenant_id, login_id),
  foreign key (tenant_id, login_id) references logins (tenant_id, login_id)
);
comment on table login_factors is
  'The second factor of a login. It counts once it is confirmed by a first code.';
comment on column login_factors.secret is
  'Encrypted with the key of the installation, which is not in the database.';
comment on column login_factors.last_step is
  'The time step of the last code that was accepted: each code works once.';
comment on column login_factors.recovery_hashes is 'SHA-256 of the recovery codes that are left, as hexadecimal text.';
call wall_off('login_factors');
grant select, insert, update, delete on login_factors to billwright_api;
