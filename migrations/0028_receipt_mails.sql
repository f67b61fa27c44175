-- Receipts by mail.

alter table tenants add receipt_mail jsonb check (jsonb_typeof(receipt_mail) = 'object');
comment on column tenants.receipt_mail is
  'Whether receipts are mailed, and by which template: {templateID}. Null: they are not.';

alter table notices
  alter subscription_id drop not null,
  alter context_id drop not null,
  drop constraint notices_kind_check,
  add constraint notices_kind_check check (kind in ('Reminder', 'LowBalance', 'Receipt'));
comment on table notices is
  'A mail to a customer that is no bill: a reminder, that the balance is low, or a receipt. Its '
  'text is fixed when it is made. It is Sending before it is handed over; one whose outcome is not '
  'known is Uncertain and is not sent again.';

-- A worker makes the receipts and their mails.
create function queue_receipt_mails() returns trigger
language plpgsql
as $$
declare
  own bigint := require_tenant();
begin
  if exists (select from tenants where tenant_id = own and receipt_mail is not null) then
    insert into document_queue (tenant_id, kind, subject_id)
    select tenant_id, 'ReceiptMail', payment_id from changed where direction = 'In'
    on conflict do nothing;
  end if;
  return null;
end
$$;
create trigger payments_receipt_mailed after insert on payments
  referencing new table as changed
  for each statement execute function queue_receipt_mails();
