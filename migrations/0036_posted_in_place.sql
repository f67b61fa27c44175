-- Posting writes every bill anew. With room left for the new version on its page, and no index that
-- looks at what posting changes, no index has to be touched: six were, which was a third of the
-- cost.

-- What is not posted and somebody has to look at; which of the bills of a billed unit in a term is
-- the one that stands; whether anything of a bill is still to be paid. None of it changes as a
-- draft becomes a bill that nobody has paid yet.
alter table bills
  add review_status text
    generated always as (case when status in ('Error', 'Hold') then status end) stored,
  add cancelled_id bigint
    generated always as (case when status = 'Cancelled' then bill_id end) stored,
  add is_settled boolean not null
    generated always as (paid_amount >= bill_amount) stored;
alter table bills set (fillfactor = 50);

drop index bills_unit_key, bills_review, bills_open, bills_subscription;
-- Nothing is billed twice: of the bills of a billed unit in a term, all but one are cancelled.
-- Lists of a term walk along it.
create unique index bills_unit_key on bills (tenant_id, term_id, unit_id, cancelled_id)
  nulls not distinct;
create index bills_review on bills (tenant_id, term_id, review_status, bill_id)
  where review_status is not null;
-- Those still to be paid are found among many that are.
create index bills_subscription on bills (tenant_id, subscription_id, is_settled) include (bill_id)
  where subscription_id is not null;
-- What the daily job makes Overdue, once the day is over.
create index bills_falling_due on bills (tenant_id, due_date)
  where issue_date is not null and payment_status in ('Unpaid', 'PartiallyPaid') and not is_settled;

-- Every number that was ever given: to a bill, which has it still, or taken back and never given
-- again.
create table bill_numbers (
  tenant_id bigint not null,
  bill_number text not null,
  bill_id bigint not null,
  term_id bigint not null,
  retired_reason text,
  retired_at timestamptz,
  retired_by text,
  primary key (tenant_id, bill_number),
  constraint bill_numbers_retired check (
    num_nulls(retired_reason, retired_at, retired_by) in (0, 3)
  )
);
create index bill_numbers_retired on bill_numbers (tenant_id, term_id) where retired_at is not null;
call wall_off('bill_numbers');
alter policy tenant_wall on bill_numbers using (tenant_id = (select current_tenant()));
do $$
declare
  one bigint;
begin
  for one in select tenant_id from workspaces order by tenant_id loop
    perform set_config('app.tenant', one::text, true);
    insert into bill_numbers (tenant_id, bill_number, bill_id, term_id)
    select one, bill_number, bill_id, term_id from bills
    where tenant_id = one and bill_number is not null order by bill_id;
    insert into bill_numbers
      (tenant_id, bill_number, bill_id, term_id, retired_reason, retired_at, retired_by)
    select one, bill_number, bill_id, term_id, reason, retired_at, retired_by
    from retired_numbers where tenant_id = one
    -- Which should not be; 'verify' tells of it.
    on conflict do nothing;
  end loop;
  perform set_config('app.tenant', '', true);
end
$$;
drop table retired_numbers;
drop index bills_number_key;
grant select, insert on bill_numbers to billwright_api, billwright_worker;
grant update (retired_reason, retired_at, retired_by) on bill_numbers to billwright_worker;
create trigger bill_numbers_retired_once
  before update on bill_numbers
  for each row
  when (old.retired_at is not null or new.retired_at is null)
  execute function refuse_change();

create or replace function keep_posted_bills() returns trigger
language plpgsql
as $$
begin
  if old.hash <> new.hash or old.bill_amount <> new.bill_amount
    or old.bill_number is distinct from new.bill_number
    or old.current_charges <> new.current_charges or old.tax_amount <> new.tax_amount
    or old.billed_from is distinct from new.billed_from
    or old.billed_to is distinct from new.billed_to
    or old.unit_id <> new.unit_id or old.term_id <> new.term_id
    or old.charges::text <> new.charges::text
    or old.usage::text is distinct from new.usage::text
  then
    raise exception 'a posted bill does not change'
      using errcode = 'check_violation', constraint = 'bills_posted_fixed';
  end if;
  return new;
end
$$;

-- Histories grow by a term with each bill until they are full.
alter table usage_histories set (fillfactor = 45);
