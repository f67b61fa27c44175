-- Money that customers pay, and what is paid back.

create table payments (
  tenant_id bigint not null,
  payment_id bigint not null,
  reference text not null check (reference <> ''),
  direction text not null check (direction in ('In', 'Out')),
  is_refund boolean not null default false,
  party_id bigint not null,
  subscription_id bigint,
  amount bigint not null check (amount > 0),
  wallet_amount bigint not null default 0 check (wallet_amount between -amount and amount),
  recovered_amount bigint not null default 0 check (recovered_amount >= 0),
  value_date date not null,
  payment_method text not null,
  cash_account_id bigint not null,
  bank_account_id bigint,
  journal_id bigint not null,
  remark text,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, payment_id),
  constraint payments_reference_key unique (tenant_id, reference),
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id)
);
comment on table payments is
  'Money received from a party, or paid to it. Rows are appended and never changed. What it settles '
  'are the entries of the subledger that name it.';
comment on column payments.reference is 'Unique for ever, so that nothing is booked twice.';
comment on column payments.subscription_id is 'The subscription that the payer named.';
comment on column payments.wallet_amount is
  'What of it went into the wallet; below zero, what a refund took from it.';
comment on column payments.recovered_amount is 'What of it pays debts that were written off.';
comment on column payments.value_date is
  'The day on which the customer paid. The day in the books is that of the journal, which is later '
  'if the month was closed.';
create index payments_party on payments (tenant_id, party_id, payment_id);
create index payments_subscription on payments (tenant_id, subscription_id, payment_id)
  where subscription_id is not null;
create index payments_date on payments (tenant_id, value_date, payment_id);
call wall_off('payments');
grant select, insert on payments to billwright_api, billwright_worker;
create trigger payments_append_only
  before update or delete on payments
  for each row execute function refuse_change();

create table payment_reversals (
  tenant_id bigint not null,
  payment_id bigint not null,
  reversal_date date not null,
  reason text not null check (reason <> ''),
  journal_id bigint not null,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, payment_id),
  foreign key (tenant_id, payment_id) references payments (tenant_id, payment_id)
);
comment on table payment_reversals is
  'A payment that was taken back, because a cheque bounced or it was booked by mistake. The key is '
  'the payment: a second reversal is impossible.';
call wall_off('payment_reversals');
grant select, insert on payment_reversals to billwright_api, billwright_worker;
create trigger payment_reversals_append_only
  before update or delete on payment_reversals
  for each row execute function refuse_change();

create table adjustments (
  tenant_id bigint not null,
  adjustment_id bigint not null,
  reference text not null check (reference <> ''),
  party_id bigint not null,
  subscription_id bigint not null,
  bill_id bigint,
  component text not null,
  kind text not null check (kind in ('Debit', 'Credit', 'WriteOff', 'BadDebt')),
  amount bigint not null check (amount > 0),
  wallet_amount bigint not null default 0 check (wallet_amount between 0 and amount),
  posting_date date not null,
  reason text not null check (reason <> ''),
  journal_id bigint not null,
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, adjustment_id),
  constraint adjustments_reference_key unique (tenant_id, reference),
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id)
);
comment on table adjustments is
  'A correction of what a customer owes that no bill brings: charged, credited, written off by '
  'decision or as a bad debt. Rows are appended and never changed.';
comment on column adjustments.amount is 'In minor units, above zero whatever the kind.';
comment on column adjustments.wallet_amount is
  'What of a credit was more than was open, and went into the wallet.';
create index adjustments_subscription on adjustments (tenant_id, subscription_id, adjustment_id);
create index adjustments_party on adjustments (tenant_id, party_id, adjustment_id);
call wall_off('adjustments');
grant select, insert on adjustments to billwright_api, billwright_worker;
create trigger adjustments_append_only
  before update or delete on adjustments
  for each row execute function refuse_change();
