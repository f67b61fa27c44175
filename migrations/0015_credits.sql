-- Credit notes for a part of a bill.

alter table credit_notes
  add column reference text check (reference <> ''),
  add column cancels_bill boolean not null default false;
comment on table credit_notes is
  'A credit note. A posted bill is never changed: credit notes take it back, in part or as a whole.';
comment on column credit_notes.amount is
  'In minor units; below zero if the bill was itself a credit.';
comment on column credit_notes.to_wallet is
  'What had been paid of it, and is returned to the wallet of the party.';
comment on column credit_notes.reference is
  'The reference of the caller, unique for ever. Null if none was given: the number is it then.';
comment on column credit_notes.cancels_bill is
  'True for the credit note by which the bill was cancelled: it credits what was left.';
create unique index credit_notes_reference_key on credit_notes (tenant_id, reference)
  where reference is not null;
create unique index credit_notes_cancels_key on credit_notes (tenant_id, bill_id)
  where cancels_bill;
-- Calls make credit notes and take their numbers.
grant insert on credit_notes to billwright_api;
grant select, insert on number_series to billwright_api;
grant update (last_number) on number_series to billwright_api;

create table credit_note_lines (
  tenant_id bigint not null,
  credit_note_id bigint not null,
  line_number integer not null check (line_number > 0),
  bill_id bigint not null,
  subscription_id bigint not null,
  component text,
  amount bigint not null check (amount <> 0),
  primary key (tenant_id, credit_note_id, line_number),
  foreign key (tenant_id, credit_note_id) references credit_notes (tenant_id, credit_note_id)
);
comment on table credit_note_lines is
  'What a credit note takes back of a component, for each subscription of the bill.';
comment on column credit_note_lines.component is 'Null for the rounding of the bill.';
comment on column credit_note_lines.amount is
  'In minor units; below zero for a discount that is taken back.';
create index credit_note_lines_bill on credit_note_lines (tenant_id, bill_id);
call wall_off('credit_note_lines');
grant select, insert on credit_note_lines to billwright_api, billwright_worker;
create trigger credit_note_lines_append_only
  before update or delete on credit_note_lines
  for each row execute function refuse_change();

-- Debts that were given up, and what was paid of them later.
create index bills_written_off on bills (tenant_id, party_id) where written_off > 0;
create index open_items_written_off on open_items (tenant_id, party_id) where written_off > 0;
create index payments_recovered on payments (tenant_id, party_id) where recovered_amount > 0;

-- What is in dispute is not overdue: a bill without anything else open is not late.
alter table bills alter column payment_status set expression as (
  case
    when status not in ('Posted', 'Published') then 'Unpaid'
    when bill_amount <= paid_amount + credited + written_off + transferred
      then case when written_off > 0 then 'WrittenOff' else 'Paid' end
    when overdue_on is not null
      and bill_amount > paid_amount + credited + written_off + transferred + disputed
      then 'Overdue'
    when paid_amount > 0 then 'PartiallyPaid'
    else 'Unpaid'
  end
);

create table disputes (
  tenant_id bigint not null,
  dispute_id bigint not null,
  bill_id bigint not null,
  party_id bigint not null,
  amount bigint not null check (amount > 0),
  parts jsonb not null check (jsonb_typeof(parts) = 'array'),
  reason text not null check (reason <> ''),
  raised_on date not null,
  journal_id bigint not null,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, dispute_id),
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id)
);
comment on table disputes is
  'A dispute: an amount of a bill that is booked on the account Disputed until it is resolved. Rows '
  'are appended and never changed.';
comment on column disputes.amount is 'In minor units.';
comment on column disputes.parts is
  '[{subscriptionId, amount}]: what of it is for each subscription of the bill.';
create index disputes_bill on disputes (tenant_id, bill_id);
create index disputes_party on disputes (tenant_id, party_id, dispute_id);
call wall_off('disputes');
grant select, insert on disputes to billwright_api;
grant select on disputes to billwright_worker;
create trigger disputes_append_only
  before update or delete on disputes
  for each row execute function refuse_change();

create table dispute_resolutions (
  tenant_id bigint not null,
  dispute_id bigint not null,
  outcome text not null check (outcome in ('Upheld', 'Rejected')),
  remark text,
  resolved_on date not null,
  journal_id bigint not null,
  credit_note_id bigint,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, dispute_id),
  foreign key (tenant_id, dispute_id) references disputes (tenant_id, dispute_id),
  check ((outcome = 'Upheld') = (credit_note_id is not null))
);
comment on table dispute_resolutions is
  'How a dispute was resolved. The key is the dispute: a second resolution is impossible.';
comment on column dispute_resolutions.credit_note_id is 'The credit note of a dispute that was upheld.';
call wall_off('dispute_resolutions');
grant select, insert on dispute_resolutions to billwright_api;
grant select on dispute_resolutions to billwright_worker;
create trigger dispute_resolutions_append_only
  before update or delete on dispute_resolutions
  for each row execute function refuse_change();

-- A reference of a demanded deposit is used once for ever.
create unique index open_items_deposit_key on open_items (tenant_id, reference)
  where kind = 'Deposit';
create index open_items_deposits on open_items (tenant_id, item_id) where kind = 'Deposit';
