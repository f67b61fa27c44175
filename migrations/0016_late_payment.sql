-- Late payment and collection: daily jobs that work in chunks, surcharges, dunning, arrangements,
-- notices.

alter table daily_runs
  alter finished_at drop not null,
  add progress jsonb check (jsonb_typeof(progress) = 'object');
comment on table daily_runs is
  'A daily job of a local date of a workspace. Each job runs once for each date.';
comment on column daily_runs.finished_at is 'Null while chunks of the job are left.';
comment on column daily_runs.progress is
  'The key of the last row that the chunks have done; the next chunk begins after it.';
grant update (finished_at, outcome, progress) on daily_runs to billwright_worker;

-- Chunks walk along it: by due date, then by bill.
drop index bills_falling_due;
create index bills_falling_due on bills (tenant_id, due_date, bill_id)
  where issue_date is not null and overdue_on is null and not is_settled;

alter table bills add surcharged_on date;
comment on column bills.surcharged_on is
  'The day on which its late surcharge was posted, as open items. Kept when that is taken back: '
  'a bill is surcharged once.';
-- Bills that may still be surcharged; chunks walk along it.
create index bills_to_surcharge on bills (tenant_id, due_date, bill_id)
  where issue_date is not null and surcharged_on is null and not is_settled
    and late_surcharge > 0;

create table notices (
  tenant_id bigint not null,
  notice_id bigint not null,
  kind text not null check (kind in ('Reminder', 'LowBalance')),
  party_id bigint not null,
  subscription_id bigint not null,
  recipient text not null,
  subject text not null,
  body text not null,
  context_id bigint not null,
  facts jsonb not null,
  status text not null default 'Queued'
    check (status in ('Queued', 'Sending', 'Sent', 'Failed', 'Uncertain')),
  reason text,
  attempts smallint not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  modified_at timestamptz not null,
  primary key (tenant_id, notice_id),
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id)
);
comment on column notices.facts is
  'The figures that the mail shows beside its text. The bank accounts that it names are those of '
  'the pricing context when it is sent.';
comment on table notices is
  'A mail to a customer that is no bill: a reminder, or that the balance is low. Its text is fixed '
  'when it is made. It is Sending before it is handed over; one whose outcome is not known is '
  'Uncertain and is not sent again.';
create index notices_waiting on notices (tenant_id, next_attempt_at)
  where status in ('Queued', 'Sending');
create index notices_party on notices (tenant_id, party_id);
call wall_off('notices');
grant select, insert on notices to billwright_worker;
grant update (status, reason, attempts, next_attempt_at, modified_at)
  on notices to billwright_worker;
grant select on notices to billwright_api;

create table dunning_episodes (
  tenant_id bigint not null,
  episode_id bigint not null,
  subscription_id bigint not null,
  party_id bigint not null,
  context_id bigint not null,
  steps_done smallint not null check (steps_done > 0),
  last_action text not null check (last_action in ('Remind', 'Fee', 'List', 'Disconnect')),
  last_step_on date not null,
  started_on date not null,
  amount bigint not null,
  oldest_due_on date not null,
  is_disconnected boolean not null default false,
  ended_on date,
  primary key (tenant_id, episode_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id),
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id)
);
comment on table dunning_episodes is
  'The collection of the overdue debts of a subscription, from its first step until nothing is '
  'overdue.';
comment on column dunning_episodes.amount is 'What was overdue when the daily job last looked.';
comment on column dunning_episodes.is_disconnected is 'True if a step disconnected it.';
create unique index dunning_episodes_open_key on dunning_episodes (tenant_id, subscription_id)
  where ended_on is null;
create index dunning_episodes_party on dunning_episodes (tenant_id, party_id);
create index dunning_episodes_subscription on dunning_episodes (tenant_id, subscription_id);
call wall_off('dunning_episodes');
grant select, insert on dunning_episodes to billwright_worker;
grant update (steps_done, last_action, last_step_on, amount, oldest_due_on, is_disconnected,
  ended_on) on dunning_episodes to billwright_worker;
grant select on dunning_episodes to billwright_api;

create table dunning_actions (
  tenant_id bigint not null,
  episode_id bigint not null,
  step_number smallint not null check (step_number > 0),
  action text not null check (action in ('Remind', 'Fee', 'List', 'Disconnect')),
  done_on date not null,
  amount bigint not null,
  notice_id bigint,
  fee bigint,
  problem text,
  primary key (tenant_id, episode_id, step_number),
  foreign key (tenant_id, episode_id) references dunning_episodes (tenant_id, episode_id)
);
comment on table dunning_actions is
  'A step of an episode. The key holds that each is done once.';
comment on column dunning_actions.amount is 'What was overdue then, in minor units.';
comment on column dunning_actions.problem is 'Why the step could not be done.';
call wall_off('dunning_actions');
grant select, insert on dunning_actions to billwright_worker;
grant select on dunning_actions to billwright_api;

-- Subscriptions with overdue bills, which the job of dunning walks along.
create index bills_overdue on bills (tenant_id, subscription_id)
  where overdue_on is not null and not is_settled;

create table arrangements (
  tenant_id bigint not null,
  arrangement_id bigint not null,
  kind text not null check (kind in ('Promise', 'InstalmentPlan')),
  party_id bigint not null,
  subscription_id bigint,
  amount bigint not null check (amount > 0),
  until_date date not null,
  bill_ids bigint[] not null default '{}',
  open_at_start bigint not null default 0,
  reason text not null check (reason <> ''),
  status text not null default 'Active' check (status in ('Active', 'Kept', 'Broken', 'Ended')),
  end_reason text,
  ended_on date,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  primary key (tenant_id, arrangement_id),
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id),
  constraint arrangements_plan check ((kind = 'InstalmentPlan') = (subscription_id is not null)),
  constraint arrangements_ended check ((status = 'Active') = (ended_on is null))
);
comment on table arrangements is
  'A promise to pay, which pauses dunning until its date, or an instalment plan, which pauses '
  'dunning and surcharges while every instalment is paid on its date.';
comment on column arrangements.until_date is 'Of a promise its date, of a plan the last instalment.';
comment on column arrangements.open_at_start is
  'What was open of the bills of a plan when it was made: what is less now is paid.';
create index arrangements_active on arrangements (tenant_id, party_id) where status = 'Active';
create unique index arrangements_plan_key on arrangements (tenant_id, subscription_id)
  where status = 'Active' and kind = 'InstalmentPlan';
create index arrangements_party on arrangements (tenant_id, party_id);
create index arrangements_subscription on arrangements (tenant_id, subscription_id)
  where subscription_id is not null;
call wall_off('arrangements');
grant select, insert on arrangements to billwright_api;
grant select on arrangements to billwright_worker;
grant update (status, end_reason, ended_on, modified_at, modified_by)
  on arrangements to billwright_api, billwright_worker;

create table instalments (
  tenant_id bigint not null,
  arrangement_id bigint not null,
  instalment_number smallint not null check (instalment_number > 0),
  due_date date not null,
  amount bigint not null check (amount > 0),
  primary key (tenant_id, arrangement_id, instalment_number),
  foreign key (tenant_id, arrangement_id) references arrangements (tenant_id, arrangement_id)
);
comment on table instalments is 'An instalment of a plan, in minor units.';
call wall_off('instalments');
grant select, insert on instalments to billwright_api;
grant select on instalments to billwright_worker;

create table dunning_holds (
  tenant_id bigint not null,
  holder_kind text not null check (holder_kind in ('Party', 'Subscription')),
  holder_id bigint not null,
  until_date date not null,
  reason text not null check (reason <> ''),
  modified_at timestamptz not null,
  modified_by text not null,
  primary key (tenant_id, holder_kind, holder_id)
);
comment on table dunning_holds is
  'A party or a subscription for which no dunning step is done until a date: a vulnerable customer.';
call wall_off('dunning_holds');
grant select, insert, update, delete on dunning_holds to billwright_api;
grant select on dunning_holds to billwright_worker;

-- The job of dunning connects subscriptions again, and holds their owners meanwhile.
grant update (ts) on parties to billwright_worker;

create table prepaid_balances (
  tenant_id bigint not null,
  subscription_id bigint not null,
  amount_left bigint not null,
  as_of date not null,
  low_since date,
  empty_since date,
  is_disconnected boolean not null default false,
  primary key (tenant_id, subscription_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id)
);
comment on table prepaid_balances is
  'What a daily job estimates to be left for a prepaid subscription: the wallet of its owner less '
  'what is owed and what is used and not billed yet.';
comment on column prepaid_balances.low_since is
  'Since when it is below the limit of the service. One notice is sent until it is topped up.';
comment on column prepaid_balances.empty_since is 'Since when nothing is left.';
comment on column prepaid_balances.is_disconnected is 'True if the job disconnected it.';
call wall_off('prepaid_balances');
grant select, insert, update on prepaid_balances to billwright_worker;
grant select on prepaid_balances to billwright_api;
