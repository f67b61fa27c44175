create table imports (
  tenant_id bigint not null references tenants (tenant_id),
  import_id bigint not null,
  kind text not null,
  file_name text,
  sha256 bytea not null check (length(sha256) = 32),
  rows integer not null check (rows > 0),
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, import_id)
);
comment on table imports is
  'A file that was imported, by the hash of its bytes: the same file is not imported twice.';
create index imports_sha256 on imports (tenant_id, kind, sha256);
call wall_off('imports');
grant select, insert on imports to billwright_api;
