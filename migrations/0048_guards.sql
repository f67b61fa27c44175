-- What the roles of API and worker may not do, even by a wrong statement. The owner of the tables,
-- who can switch triggers off, is not held back by these.
create function is_program() returns boolean
language sql stable parallel safe
return current_user in ('billwright_api', 'billwright_worker');

-- A journal is written once. It names the transaction that writes it: only that one adds lines and
-- entries, and at its end the lines on control accounts are the sums of the entries.
alter table journals add column written_in xid8 not null default pg_current_xact_id();

create function check_journals_open() returns trigger
language plpgsql
as $$
declare
  wanted bigint[] := array(select distinct journal_id from new_rows);
  found bigint;
begin
  select count(*) into found from journals
  where tenant_id = require_tenant() and journal_id = any(wanted)
    and written_in = pg_current_xact_id();
  if found < cardinality(wanted) then
    raise exception 'lines and entries are written together with their journal'
      using errcode = 'check_violation', constraint = 'journals_written_once';
  end if;
  return null;
end
$$;
create trigger journal_lines_written_once
  after insert on journal_lines
  referencing new table as new_rows
  for each statement when (is_program()) execute function check_journals_open();
create trigger subledger_entries_written_once
  after insert on subledger_entries
  referencing new table as new_rows
  for each statement when (is_program()) execute function check_journals_open();

create function check_journal_entries() returns trigger
language plpgsql
as $$
begin
  if exists (
    select from (
      select ledger_account_id, amount from journal_lines
      where tenant_id = new.tenant_id and journal_id = new.journal_id
        and ledger_account_id in (2, 3, 4, 10, 1000001)
      union all
      select ledger_account_id, -amount from subledger_entries
      where tenant_id = new.tenant_id and journal_id = new.journal_id
    ) parts
    group by ledger_account_id
    having sum(amount) <> 0
  ) then
    raise exception 'the entries of journal % are not those of its lines', new.journal_id
      using errcode = 'check_violation', constraint = 'journals_made_of_entries';
  end if;
  return null;
end
$$;
-- For each journal, of which a part of a posted term has one or two.
create constraint trigger journals_made_of_entries
  after insert on journals
  deferrable initially deferred
  for each row when (is_program()) execute function check_journal_entries();

-- A posted bill keeps its amounts, dates and party. The triggers run after the update: before it
-- PostgreSQL would lock each bill once more, also a draft that is posted and meets no condition.
create function refuse_bill_change() returns trigger
language plpgsql
as $$
begin
  raise exception 'a posted bill does not change'
    using errcode = 'check_violation', constraint = 'bills_posted_fixed';
end
$$;
create trigger bills_posted_kept_as_is
  after update of party_id, account_id, subscription_id, plan_id, context_id, batch_id, bill_type,
    posting, days, entry_id, previous_balance, payments_received, adjustments, late_surcharge,
    previously_billed_to, due_date, issue_date on bills
  for each row
  when (old.status in ('Posted', 'Published', 'Cancelled')
    and new.status in ('Posted', 'Published', 'Cancelled')
    and ((old.party_id, old.account_id, old.subscription_id, old.plan_id, old.context_id,
        old.batch_id, old.bill_type, old.posting, old.days, old.entry_id, old.previous_balance,
        old.payments_received, old.adjustments, old.late_surcharge, old.previously_billed_to)
      is distinct from (new.party_id, new.account_id, new.subscription_id, new.plan_id,
        new.context_id, new.batch_id, new.bill_type, new.posting, new.days, new.entry_id,
        new.previous_balance, new.payments_received, new.adjustments, new.late_surcharge,
        new.previously_billed_to)
      or (old.status <> 'Posted'
        and (old.due_date, old.issue_date) is distinct from (new.due_date, new.issue_date)))
    and is_program())
  execute function refuse_bill_change();

create function refuse_bill_step() returns trigger
language plpgsql
as $$
begin
  raise exception 'a bill that is % does not become %', old.status, new.status
    using errcode = 'check_violation', constraint = 'bills_status_step';
end
$$;
-- What customers have seen is cancelled and not taken back. Calls post and publish nothing.
create trigger bills_status_step
  after update of status on bills
  for each row
  when (old.status <> new.status and (
    (old.status = 'Published' and new.status <> 'Cancelled')
    or (old.status = 'Cancelled' and old.bill_number is not null)
    or (current_user = 'billwright_api'
      and (old.status in ('Posted', 'Published') or new.status in ('Posted', 'Published'))))
    and is_program())
  execute function refuse_bill_step();

-- A posted bill is due with its term; the date moves as long as no customer has seen it.
create function check_due_date() returns trigger
language plpgsql
as $$
begin
  if new.due_date is distinct from (
    select due_date from terms where tenant_id = new.tenant_id and term_id = new.term_id
  ) then
    raise exception 'a posted bill is due with its term'
      using errcode = 'check_violation', constraint = 'bills_due_with_term';
  end if;
  return null;
end
$$;
create trigger bills_due_with_term
  after update of due_date on bills
  for each row
  when (old.status = 'Posted' and new.status = 'Posted' and old.due_date <> new.due_date
    and is_program())
  execute function check_due_date();

-- What is paid of a posted bill is what its wallet and the payments in the ledger come to.
create function check_bill_payment() returns trigger
language plpgsql
as $$
declare
  paid bigint;
  expected text;
begin
  select coalesce(-sum(case e.ledger_account_id when 1000001 then -e.amount else e.amount end), 0)
  into paid
  from subledger_entries e
  left join journals j on j.tenant_id = new.tenant_id and j.journal_id = e.journal_id
  left join journals o on o.tenant_id = new.tenant_id and o.journal_id = j.reverses_journal_id
  where e.tenant_id = new.tenant_id and e.party_id = new.party_id and e.bill_id = new.bill_id
    and e.ledger_account_id in (2, 1000001)
    and (e.kind = 'Payment' or (e.kind = 'Reversal' and o.source_type = 'Payment'));
  expected := case
    when new.paid_amount >= new.bill_amount then 'Paid'
    when new.payment_status = 'Overdue' and new.status = 'Published'
      and new.due_date < (new.modified_at at time zone 'Pacific/Kiritimati')::date then 'Overdue'
    when new.paid_amount > 0 then 'PartiallyPaid'
    else 'Unpaid' end;
  if new.paid_amount <> new.wallet_applied + paid or new.payment_status <> expected then
    raise exception 'bill % is paid as the ledger says', new.bill_id
      using errcode = 'check_violation', constraint = 'bills_paid_as_booked';
  end if;
  return null;
end
$$;
create trigger bills_paid_as_booked
  after update of payment_status, paid_amount on bills
  for each row
  when (old.status in ('Posted', 'Published') and new.status in ('Posted', 'Published')
    and (old.payment_status <> new.payment_status or old.paid_amount <> new.paid_amount)
    and is_program())
  execute function check_bill_payment();

-- Calls hold bills and cancel drafts; nothing else of a bill is theirs.
revoke insert, update on bills from billwright_api;
grant update (status, is_held, hold_reason, due_date, modified_at, modified_by, ts)
  on bills to billwright_api;
