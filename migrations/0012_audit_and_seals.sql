-- The audit trail, and the seals. The audit trail, the ledger, credit notes, documents and
-- deliveries are sealed in blocks, each with a hash that covers the block before.

create table audit_entries (
  tenant_id bigint not null references tenants (tenant_id),
  request_id text not null,
  position integer not null,
  at timestamptz not null,
  actor text not null,
  actor_kind text not null check (actor_kind in ('Login', 'Client', 'System')),
  address text,
  operation text not null,
  subject text not null,
  subject_id text not null,
  before jsonb,
  after jsonb,
  primary key (tenant_id, request_id, position)
);
comment on table audit_entries is
  'One change by one call: the caller, the address, the object, and its values before and after. '
  'Rows are appended and never changed.';
create index audit_entries_subject on audit_entries (tenant_id, subject, subject_id, request_id);
create index audit_entries_actor on audit_entries (tenant_id, actor, request_id);
create index audit_entries_at on audit_entries (tenant_id, at);
call wall_off('audit_entries');
grant select, insert on audit_entries to billwright_api, billwright_worker;

create trigger audit_entries_append_only
  before update or delete on audit_entries
  for each row execute function refuse_change();
create trigger audit_entries_no_truncate
  before truncate on audit_entries
  for each statement execute function refuse_change();

create table seal_queue (
  tenant_id bigint not null references tenants (tenant_id),
  item text not null,
  primary key (tenant_id, item)
);
comment on table seal_queue is
  'An item that waits for its seal. An item is a kind and an id: ''audit 01J…'' (all entries of a '
  'request), ''journal 7'' (with its lines and entries), ''credit-note 3'', ''document 12'', '
  '''delivery 40''.';
call wall_off('seal_queue');
grant select, insert, update on seal_queue to billwright_api;
grant select, insert, update, delete on seal_queue to billwright_worker;

create table seals (
  tenant_id bigint not null references tenants (tenant_id),
  block bigint not null check (block > 0),
  items text[] not null,
  audit_rows integer not null,
  previous_hash bytea not null check (length(previous_hash) = 32),
  hash bytea not null check (length(hash) = 32),
  sealed_at timestamptz not null,
  primary key (tenant_id, block)
);
comment on table seals is
  'A seal: a block of items. Its hash covers the items and the hash of the block before, so that '
  '`verify` names every row that was changed, deleted or inserted afterwards.';
comment on column seals.items is
  'One text for each item: the item, the number of its rows and their hash.';
comment on column seals.audit_rows is 'The number of audit entries, for the figures of `verify`.';
call wall_off('seals');
grant select, insert on seals to billwright_worker;

create trigger seals_append_only
  before update or delete on seals
  for each row execute function refuse_change();
create trigger seals_no_truncate
  before truncate on seals
  for each statement execute function refuse_change();

-- An item that is queued already is locked, so that it is sealed as this transaction leaves it.
create function queue_for_seal() returns trigger
language plpgsql
as $$
begin
  if tg_argv[0] = 'audit' then
    insert into seal_queue (tenant_id, item)
    select distinct tenant_id, 'audit ' || request_id from changed order by 1, 2
    on conflict (tenant_id, item) do update set item = excluded.item;
  elsif tg_argv[0] = 'journal' then
    insert into seal_queue (tenant_id, item)
    select tenant_id, 'journal ' || journal_id from changed order by 1, 2
    on conflict (tenant_id, item) do update set item = excluded.item;
  elsif tg_argv[0] = 'credit-note' then
    insert into seal_queue (tenant_id, item)
    select tenant_id, 'credit-note ' || credit_note_id from changed order by 1, 2
    on conflict (tenant_id, item) do update set item = excluded.item;
  elsif tg_argv[0] = 'document' then
    insert into seal_queue (tenant_id, item)
    select tenant_id, 'document ' || document_id from changed order by 1, 2
    on conflict (tenant_id, item) do update set item = excluded.item;
  else
    -- What is still to be sent changes soon.
    insert into seal_queue (tenant_id, item)
    select tenant_id, 'delivery ' || delivery_id from changed
    where status in ('Sent', 'Delivered', 'Failed', 'Uncertain') order by 1, 2
    on conflict (tenant_id, item) do update set item = excluded.item;
  end if;
  return null;
end
$$;
create trigger audit_entries_sealed after insert on audit_entries
  referencing new table as changed
  for each statement execute function queue_for_seal('audit');
create trigger journals_sealed after insert on journals
  referencing new table as changed
  for each statement execute function queue_for_seal('journal');
create trigger credit_notes_sealed after insert on credit_notes
  referencing new table as changed
  for each statement execute function queue_for_seal('credit-note');
create trigger bill_documents_sealed_on_insert after insert on bill_documents
  referencing new table as changed
  for each statement execute function queue_for_seal('document');
create trigger bill_documents_sealed_on_update after update on bill_documents
  referencing new table as changed
  for each statement execute function queue_for_seal('document');
create trigger bill_documents_sealed_on_delete after delete on bill_documents
  referencing old table as changed
  for each statement execute function queue_for_seal('document');
create trigger deliveries_sealed_on_insert after insert on deliveries
  referencing new table as changed
  for each statement execute function queue_for_seal('delivery');
create trigger deliveries_sealed_on_update after update on deliveries
  referencing new table as changed
  for each statement execute function queue_for_seal('delivery');

-- Workspaces in which an item waits for its seal: one look into an index for each of them.
create function unsealed_workspaces() returns setof bigint
language plpgsql
as $$
declare
  found bigint;
begin
  for found in select tenant_id from workspaces order by tenant_id loop
    perform set_config('app.tenant', found::text, true);
    if exists (select from seal_queue where tenant_id = found) then
      return next found;
    end if;
  end loop;
end
$$;
