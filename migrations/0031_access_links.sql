-- Links that a login gets by mail: to log in without a password, or to set a new one.

alter table tenants
  add portal_address text check (portal_address ~ '^https?://[^/\s]+$');
comment on column tenants.portal_address is
  'The address of the web pages of the workspace, such as https://demo.example.com. Mails name it; '
  'it is set, never taken from a request. Null: no mail has a link.';

create table login_links (
  tenant_id bigint not null,
  token_hash bytea not null check (octet_length(token_hash) = 32),
  login_id bigint not null,
  purpose text not null check (purpose in ('Login', 'Reset')),
  expires_at timestamptz not null,
  spent_at timestamptz,
  created_at timestamptz not null,
  primary key (tenant_id, token_hash),
  foreign key (tenant_id, login_id) references logins (tenant_id, login_id)
);
comment on table login_links is
  'A link that was mailed to a login, stored as a hash. It is used once, before it expires.';
create index login_links_login on login_links (tenant_id, login_id);
create index login_links_expiry on login_links (tenant_id, expires_at);
call wall_off('login_links');
grant select, insert, update on login_links to billwright_api;
grant select, delete on login_links to billwright_worker;

-- A login of staff has no party. The text of such a mail contains the link, so it is deleted when
-- the mail has been sent.
alter table notices
  alter party_id drop not null,
  drop constraint notices_kind_check,
  add constraint notices_kind_check
    check (kind in ('Reminder', 'LowBalance', 'Receipt', 'Access'));
grant insert on notices to billwright_api;
grant update (body) on notices to billwright_worker;

-- A person waits for it: workers look at the workspace at once.
create function wake_for_notice() returns trigger
language plpgsql
as $$
begin
  perform pg_notify('billwright_clocks', new.tenant_id::text);
  return null;
end
$$;
create trigger notices_access_queued
  after insert on notices
  for each row when (new.kind = 'Access')
  execute function wake_for_notice();
