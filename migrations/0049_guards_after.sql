-- Before an update PostgreSQL would lock each bill once more, also one that no condition is true of.
-- After it, posting a draft costs the conditions alone.
drop trigger bills_posted_kept_as_is on bills;
create trigger bills_posted_kept_as_is
  after update of party_id, account_id, subscription_id, plan_id, context_id, batch_id, bill_type,
    posting, days, entry_id, previous_balance, payments_received, adjustments, late_surcharge,
    billed_through, due_date, issue_date on bills
  for each row
  when (old.status in ('Posted', 'Published', 'Cancelled')
    and new.status in ('Posted', 'Published', 'Cancelled')
    and ((old.party_id, old.account_id, old.subscription_id, old.plan_id, old.context_id,
        old.batch_id, old.bill_type, old.posting, old.days, old.entry_id, old.previous_balance,
        old.payments_received, old.adjustments, old.late_surcharge, old.billed_through)
      is distinct from (new.party_id, new.account_id, new.subscription_id, new.plan_id,
        new.context_id, new.batch_id, new.bill_type, new.posting, new.days, new.entry_id,
        new.previous_balance, new.payments_received, new.adjustments, new.late_surcharge,
        new.billed_through)
      or (old.status <> 'Posted'
        and (old.due_date, old.issue_date) is distinct from (new.due_date, new.issue_date)))
    and is_program())
  execute function refuse_bill_change();
drop trigger bills_status_step on bills;
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
