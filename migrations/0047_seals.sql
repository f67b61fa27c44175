-- Seals: the audit trail, the ledger, credit notes, documents and deliveries are sealed in blocks.
-- The hash of a block covers what its items came to and the hash of the block before, so that
-- `verify` names every row that was changed, deleted or inserted afterwards.

-- What waits for its seal. An item is a kind and an id: 'audit 01J…' (all entries of a request),
-- 'journal 7' (with its lines and entries), 'credit-note 3', 'document 12', 'delivery 40'.
create table seal_queue (
  tenant_id bigint not null references tenants,
  item text not null,
  primary key (tenant_id, item)
);
call wall_off('seal_queue');
grant select, insert, update on seal_queue to billwright_api;
grant select, insert, update, delete on seal_queue to billwright_worker;

create table seals (
  tenant_id bigint not null references tenants,
  block bigint not null check (block > 0),
  -- One text for each item: the item, the number of its rows and their hash.
  items text[] not null,
  -- Of audit entries, for the figures of verify.
  audit_rows integer not null,
  previous_hash bytea not null check (length(previous_hash) = 32),
  hash bytea not null check (length(hash) = 32),
  sealed_at timestamptz not null,
  primary key (tenant_id, block)
);
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

-- Workspaces in which something waits for its seal: one look into an index for each of them.
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

-- What was written before there were seals waits for the first one.
do $$
declare
  found bigint;
begin
  for found in select tenant_id from workspaces loop
    perform set_config('app.tenant', found::text, true);
    insert into seal_queue (tenant_id, item)
    select distinct tenant_id, 'audit ' || request_id from audit_entries where tenant_id = found
    union all
    select tenant_id, 'journal ' || journal_id from journals where tenant_id = found
    union all
    select tenant_id, 'credit-note ' || credit_note_id from credit_notes where tenant_id = found
    union all
    select tenant_id, 'document ' || document_id from bill_documents where tenant_id = found
    union all
    select tenant_id, 'delivery ' || delivery_id from deliveries
    where tenant_id = found and status in ('Sent', 'Delivered', 'Failed', 'Uncertain');
  end loop;
  perform set_config('app.tenant', '', true);
end
$$;
