-- Late payment: daily jobs that work in chunks.

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
