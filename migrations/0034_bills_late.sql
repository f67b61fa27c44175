-- Lists of bills that somebody has to run after: few among all, which were read one after another.
create index bills_late on bills (tenant_id, payment_status, bill_id)
  where payment_status in ('PartiallyPaid', 'Overdue', 'WrittenOff');
