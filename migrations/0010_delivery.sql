-- Documents of bills, their deliveries to customers, and files for the printer.

create table document_settings (
  tenant_id bigint not null,
  term_id bigint not null,
  version integer not null check (version > 0),
  issue_date date not null,
  setting jsonb not null check (jsonb_typeof(setting) = 'object'),
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, term_id, version),
  foreign key (tenant_id, term_id) references terms (tenant_id, term_id)
);
comment on table document_settings is
  'What the documents of a term are made with besides its bills, as it was when they were '
  'published: letterhead, bank accounts, template and its version, locale. Bills that are '
  'published later add a version.';
call wall_off('document_settings');
grant select on document_settings to billwright_api;
grant select, insert on document_settings to billwright_worker;

create table bill_documents (
  tenant_id bigint not null,
  document_id bigint not null,
  bill_id bigint not null,
  term_id bigint not null,
  format text not null check (format in ('PDF', 'HTML')),
  setting_version integer not null,
  template_id bigint not null,
  template_version integer not null,
  size integer check (size > 0),
  sha256 bytea check (length(sha256) = 32),
  error jsonb,
  created_at timestamptz not null,
  primary key (tenant_id, document_id),
  constraint bill_documents_once unique (tenant_id, bill_id, format),
  constraint bill_documents_made check (
    (error is null) = (sha256 is not null) and (error is null) = (size is not null)
  ),
  foreign key (tenant_id, bill_id) references bills (tenant_id, bill_id),
  constraint bill_documents_setting_fkey foreign key (tenant_id, term_id, setting_version)
    references document_settings (tenant_id, term_id, version)
);
comment on table bill_documents is
  'The document of a published bill, with the size and hash of its file. If it could not be made, '
  'the row has the error, and its bill is not published.';
comment on column bill_documents.error is '{code, message}';
create index bill_documents_failed on bill_documents (tenant_id, term_id, bill_id)
  where error is not null;
call wall_off('bill_documents');
grant select on bill_documents to billwright_api;
grant select, insert, update, delete on bill_documents to billwright_worker;

create table document_parts (
  tenant_id bigint not null,
  sha256 bytea not null check (sha256 = sha256(bytes)),
  bytes bytea not null,
  primary key (tenant_id, sha256)
);
comment on table document_parts is
  'Bytes that the files of many documents have in common: fonts and pictures. Each is kept once.';
alter table document_parts alter column bytes set storage external;
call wall_off('document_parts');
grant select, insert on document_parts to billwright_api;
grant select, insert, delete on document_parts to billwright_worker;

create table document_contents (
  tenant_id bigint not null,
  document_id bigint not null,
  own bytea not null,
  part_offsets integer[] not null,
  part_hashes bytea[] not null check (cardinality(part_hashes) = cardinality(part_offsets)),
  primary key (tenant_id, document_id)
);
comment on table document_contents is
  'The file of a document of bill_documents or further_documents: its own bytes, and the parts '
  'between them. Nothing changes it, whatever later versions of the program make of the same bill.';
comment on column document_contents.part_offsets is
  'For each part, in order: how many of the own bytes come before it.';
alter table document_contents alter column own set storage external;
call wall_off('document_contents');
grant select, insert on document_contents to billwright_api;
grant select, insert, delete on document_contents to billwright_worker;

create table deliveries (
  tenant_id bigint not null references tenants (tenant_id),
  delivery_id bigint not null,
  bill_id bigint not null,
  term_id bigint not null,
  job_id bigint not null,
  channel text not null
    check (channel in ('Email', 'SMS', 'WhatsApp', 'Portal', 'Print', 'Webhook')),
  recipient text,
  status text not null check (status in (
    'Queued', 'Sending', 'Sent', 'Delivered', 'Failed', 'Uncertain'
  )),
  reason text,
  attempts integer not null default 0,
  failures smallint not null default 0,
  next_attempt_at timestamptz,
  message_id text not null,
  template_id bigint,
  template_version integer,
  sent_at timestamptz,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  primary key (tenant_id, delivery_id),
  constraint deliveries_once unique (tenant_id, bill_id, channel, job_id),
  foreign key (tenant_id, bill_id) references bills (tenant_id, bill_id),
  foreign key (tenant_id, job_id) references jobs (tenant_id, job_id),
  constraint deliveries_template_fkey foreign key (tenant_id, template_id, template_version)
    references template_versions (tenant_id, template_id, version)
);
comment on table deliveries is
  'A bill on its way to a customer by one channel. If an operator repeats it, that is a further '
  'row of a further job; one job sends nothing twice.';
comment on column deliveries.recipient is
  'Frozen: a later change of the party does not redirect it.';
comment on column deliveries.attempts is
  'How often it was handed over. Only the sender that counted last may record the result.';
comment on column deliveries.failures is
  'How many times in a row it failed for a reason that may pass.';
comment on column deliveries.message_id is
  'Always the same for this row, so that a mail that arrives twice is recognised.';
comment on column deliveries.template_id is
  'The template of the message, as it was when the delivery was requested. Null if there is none.';
create index deliveries_term on deliveries (tenant_id, term_id, status, delivery_id);
create index deliveries_status on deliveries (tenant_id, status, delivery_id);
create index deliveries_job on deliveries (tenant_id, job_id);
create index deliveries_finished on deliveries (tenant_id, modified_at)
  where status in ('Sent', 'Delivered', 'Failed');
call wall_off('deliveries');
grant select, update on deliveries to billwright_api;
grant select, insert, update on deliveries to billwright_worker;

create table print_files (
  tenant_id bigint not null,
  job_id bigint not null,
  part integer not null check (part > 0),
  term_id bigint not null,
  name text not null,
  first_delivery_id bigint not null,
  last_delivery_id bigint not null,
  bills integer not null check (bills > 0),
  size bigint not null check (size > 0),
  sha256 bytea not null check (length(sha256) = 32),
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, job_id, part),
  foreign key (tenant_id, term_id) references terms (tenant_id, term_id),
  foreign key (tenant_id, job_id) references jobs (tenant_id, job_id)
);
comment on table print_files is
  'A file for the printer, with the bills of a range of deliveries. Any server can put it together '
  'from their documents; its size and hash when it was written are kept here.';
comment on column print_files.job_id is 'The job that wrote it.';
comment on column print_files.part is 'The files of a job are numbered from 1.';
create index print_files_term on print_files (tenant_id, term_id, job_id, part);
call wall_off('print_files');
grant select on print_files to billwright_api;
grant select, insert on print_files to billwright_worker;

create table further_documents (
  tenant_id bigint not null,
  document_id bigint not null,
  kind text not null check (kind in ('Cancelled', 'CreditNote', 'Receipt', 'Reminder')),
  subject_id bigint not null,
  size integer not null check (size > 0),
  sha256 bytea not null check (length(sha256) = 32),
  created_at timestamptz not null,
  primary key (tenant_id, document_id),
  constraint further_documents_once unique (tenant_id, kind, subject_id)
);
comment on table further_documents is
  'Documents that no bill run makes: that of a cancelled bill, that of a credit note, the '
  'receipt of a payment, and a reminder.';
comment on column further_documents.subject_id is
  'The bill that is cancelled, the credit note, the payment, or the notice.';
call wall_off('further_documents');
-- The first call for a receipt keeps it.
grant select, insert on further_documents to billwright_api;
grant select, insert, delete on further_documents to billwright_worker;

create table document_queue (
  tenant_id bigint not null,
  kind text not null,
  subject_id bigint not null,
  primary key (tenant_id, kind, subject_id)
);
comment on table document_queue is
  'Further documents that are to be made. A row waits until its document is kept.';
call wall_off('document_queue');
grant select, insert on document_queue to billwright_api;
grant select, insert, update, delete on document_queue to billwright_worker;

create function queue_documents() returns trigger
language plpgsql
as $$
begin
  insert into document_queue (tenant_id, kind, subject_id)
  select tenant_id, 'CreditNote', credit_note_id from changed
  union all
  select tenant_id, 'Cancelled', bill_id from changed where cancels_bill
  on conflict do nothing;
  return null;
end
$$;
create trigger credit_notes_documented after insert on credit_notes
  referencing new table as changed
  for each statement execute function queue_documents();

-- Workspaces in which a document waits to be made: one look into an index for each of them.
create function workspaces_with_documents_to_make() returns setof bigint
language plpgsql
as $$
declare
  found bigint;
begin
  for found in select tenant_id from workspaces order by tenant_id loop
    perform set_config('app.tenant', found::text, true);
    if exists (select from document_queue where tenant_id = found) then
      return next found;
    end if;
  end loop;
end
$$;
