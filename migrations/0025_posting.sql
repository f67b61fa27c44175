-- That a posted bill does not change is looked at when it has changed: before, PostgreSQL locks
-- each row first and writes that to its log, also where the rule is not about the change at all, as
-- when a draft is posted. The trigger of subscriptions stays as it is: a table with generated
-- columns is updated at half the speed without a trigger before the update, because PostgreSQL then
-- reads their definitions again for every row.
drop trigger bills_posted_fixed on bills;
create trigger bills_posted_fixed
  after update on bills
  for each row
  when (old.status in ('Posted', 'Published', 'Cancelled')
    and new.status in ('Posted', 'Published', 'Cancelled'))
  execute function keep_posted_bills();

-- A bill of several subscriptions stays the same when one of them is touched; what it was made from
-- is then noted anew, as it is for a bill of one.
grant update (unit_ts) on bill_parts to billwright_worker;
