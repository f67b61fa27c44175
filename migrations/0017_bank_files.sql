-- Files of banks: what was sent, its lines, whose money each is, and what clerks decided before.

create table bank_mappings (
  tenant_id bigint not null references tenants (tenant_id),
  name text not null check (name <> ''),
  columns jsonb not null check (jsonb_typeof(columns) = 'object'),
  modified_at timestamptz not null,
  modified_by text not null,
  primary key (tenant_id, name)
);
comment on table bank_mappings is 'How the CSV files of a bank are read: which column has what.';
call wall_off('bank_mappings');
grant select, insert, update on bank_mappings to billwright_api;

create table bank_files (
  tenant_id bigint not null references tenants (tenant_id),
  bank_file_id bigint not null,
  bank_account_id bigint not null,
  format text not null check (format in ('CSV', 'CAMT', 'MT940')),
  file_name text,
  sha256 bytea not null check (length(sha256) = 32),
  statements jsonb not null default '[]' check (jsonb_typeof(statements) = 'array'),
  lines integer not null default 0,
  duplicates integer not null default 0,
  job_id bigint,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, bank_file_id),
  constraint bank_files_sha256_key unique (tenant_id, bank_account_id, sha256),
  foreign key (tenant_id, bank_account_id) references bank_accounts (tenant_id, bank_account_id)
);
comment on table bank_files is
  'A file of a bank, by the hash of its bytes: the same file brings nothing a second time.';
comment on column bank_files.statements is
  '[{statementId, account, opening, closing, lines}], proven when the file was accepted. Balances '
  'are in minor units, as text.';
comment on column bank_files.job_id is 'The last job that posts its lines; null if the call did.';
call wall_off('bank_files');
grant select, insert on bank_files to billwright_api;
grant update (statements, lines, duplicates, job_id) on bank_files to billwright_api;
grant select on bank_files to billwright_worker;

create table bank_lines (
  tenant_id bigint not null,
  bank_line_id bigint not null,
  bank_file_id bigint not null,
  line_number integer not null check (line_number > 0),
  bank_account_id bigint not null,
  content_hash bytea,
  fingerprint bytea not null,
  line_date date not null,
  amount bigint not null,
  is_reversal boolean not null,
  payer text,
  payer_account text,
  text text,
  reference text,
  bank_reference text,
  status text not null
    check (status in ('Received', 'Posted', 'Suggested', 'Unmatched', 'Ignored', 'Duplicate')),
  is_duplicate boolean not null generated always as (status = 'Duplicate') stored,
  is_open boolean not null default false,
  payment_id bigint,
  in_suspense boolean not null default false,
  journal_id bigint,
  suggestions jsonb not null default '[]' check (jsonb_typeof(suggestions) = 'array'),
  reason text,
  decided_at timestamptz,
  decided_by text,
  primary key (tenant_id, bank_line_id),
  constraint bank_lines_number_key unique (tenant_id, bank_file_id, line_number),
  check ((status = 'Posted') = (payment_id is not null)),
  check (is_open = (status in ('Suggested', 'Unmatched'))),
  check (not in_suspense or (status in ('Suggested', 'Unmatched') and amount > 0))
)
-- A line that is posted is written again, and no index has to be touched.
with (fillfactor = 40);
comment on table bank_lines is
  'A line of a bank file. The file brings it as Received; then it is posted as a payment, or left '
  'for a clerk.';
comment on column bank_lines.fingerprint is
  'Of the bank''s own id; else of account, day, amount, payer, text and which of several identical '
  'lines of that day it is. A second line with it is a Duplicate.';
comment on column bank_lines.content_hash is
  'Of a line without an id of the bank: identical lines of a file are counted by it.';
comment on column bank_lines.amount is 'In minor units; below zero money went out.';
comment on column bank_lines.is_open is 'True if a clerk has to decide.';
comment on column bank_lines.in_suspense is
  'True while its money is in the account SUSPENSE, because its payer is not known.';
comment on column bank_lines.journal_id is 'The journal that booked it to SUSPENSE.';
comment on column bank_lines.suggestions is
  '[{partyId, partyNumber, connectionNumber, billId, amount, reason}]';
create unique index bank_lines_fingerprint_key on bank_lines (tenant_id, fingerprint)
  where not is_duplicate;
create index bank_lines_content on bank_lines (tenant_id, bank_file_id, content_hash)
  where content_hash is not null;
-- What clerks have to decide: few among all.
create index bank_lines_open on bank_lines (tenant_id, bank_line_id) where is_open;
call wall_off('bank_lines');
grant select, insert on bank_lines to billwright_api;
grant select on bank_lines to billwright_worker;
grant update (status, is_open, payment_id, in_suspense, journal_id, suggestions, reason, decided_at,
  decided_by) on bank_lines to billwright_api, billwright_worker;

create table bank_payers (
  tenant_id bigint not null references tenants (tenant_id),
  kind text not null check (kind in ('Account', 'Name')),
  key text not null check (key <> ''),
  party_id bigint not null,
  subscription_id bigint,
  decided_at timestamptz not null,
  decided_by text not null,
  primary key (tenant_id, kind, key),
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id)
);
comment on table bank_payers is
  'Whose money a clerk said that of a bank account or of a name is. The last decision counts.';
create index bank_payers_party on bank_payers (tenant_id, party_id);
call wall_off('bank_payers');
grant select, insert, update on bank_payers to billwright_api;
grant select on bank_payers to billwright_worker;

-- Parties whose name has these words, a few for each row. Without row-level security (see
-- billwright_search), so that the trigram index can be used; it names the tenant itself.
grant create on schema public to billwright_search;
create function find_parties_named(tenant_id bigint, words text[], others text[])
returns table (place bigint, party_id bigint)
language sql stable security definer rows 1000
set search_path = public, pg_temp
as $$
  select w.place, found.party_id
  from unnest($2, $3) with ordinality as w (word, other, place)
  cross join lateral (
    select p.party_id from parties p
    where p.tenant_id = require_tenant() and p.tenant_id = $1
      and p.search_text like '%' || w.word || '%' and p.search_text like '%' || w.other || '%'
      and not p.archived
    limit 50
  ) found;
$$;
alter function find_parties_named(bigint, text[], text[]) owner to billwright_search;
revoke all on function find_parties_named(bigint, text[], text[]) from public;
grant execute on function find_parties_named(bigint, text[], text[])
  to billwright_api, billwright_worker;
revoke create on schema public from billwright_search;

create table upload_parts (
  tenant_id bigint not null references tenants (tenant_id),
  upload_id text not null check (upload_id <> ''),
  part_number integer not null check (part_number > 0),
  is_last boolean not null,
  content bytea not null,
  sha256 bytea not null check (length(sha256) = 32),
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, upload_id, part_number)
);
comment on table upload_parts is
  'A part of a file that is too large for one call. A daily job deletes what is a day old.';
create index upload_parts_created on upload_parts (tenant_id, created_at);
-- Bytes of files are sent as they are stored: to compress them would slow both down.
alter table upload_parts alter column content set storage external;
call wall_off('upload_parts');
grant select, insert on upload_parts to billwright_api;
grant select, delete on upload_parts to billwright_worker;
