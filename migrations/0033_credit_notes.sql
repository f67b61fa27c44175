-- What is credited to customers, each under a number of its own. A posted bill is never changed: a
-- credit note takes it back.
create table credit_notes (
  tenant_id bigint not null references tenants,
  credit_note_id bigint not null,
  credit_note_number text not null,
  bill_id bigint not null,
  party_id bigint not null,
  -- What the bill came to: below zero where that was a credit itself.
  amount bigint not null,
  -- What had been paid of the bill, and is the party's again.
  to_wallet bigint not null check (to_wallet >= 0),
  issue_date date not null,
  reason text not null check (reason <> ''),
  -- Null where there was nothing to book.
  journal_id bigint,
  -- The term that bills the days again.
  rebill_term_id bigint,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, credit_note_id),
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id),
  foreign key (tenant_id, journal_id) references journals (tenant_id, journal_id),
  foreign key (tenant_id, rebill_term_id) references terms (tenant_id, term_id)
);
create unique index credit_notes_number_key on credit_notes (tenant_id, credit_note_number);
create index credit_notes_bill on credit_notes (tenant_id, bill_id);
create index credit_notes_party on credit_notes (tenant_id, party_id, credit_note_id);
create index credit_notes_journal on credit_notes (tenant_id, journal_id);
create index credit_notes_rebill on credit_notes (tenant_id, rebill_term_id);
call wall_off('credit_notes');
grant select on credit_notes to billwright_api;
grant select, insert on credit_notes to billwright_worker;

create trigger credit_notes_append_only
  before update or delete on credit_notes
  for each row execute function refuse_change();

-- A term that bills such a bill again is opened by a worker, which holds the context still for it.
grant update (ts) on pricing_contexts to billwright_worker;
