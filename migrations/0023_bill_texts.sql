-- A bill is touched when it is posted, published and paid, and its document and frozen inputs never
-- are. They lie beside the row, so that writing a few figures does not write kilobytes with them:
-- posting then writes half as much. Compressing them would cost more than it saves, and what is
-- booked of the bill stays in the row.
alter table bills set (toast_tuple_target = 700);
alter table bills
  alter document set storage external,
  alter frozen set storage external,
  alter usage set storage main,
  alter charges set storage main;

-- With the id of the bill in their order, these were taken to look for bills by id while PostgreSQL
-- did not know yet how many a workspace has, and were read from end to end.
drop index bills_party, bills_subscription, bill_parts_subscription;
create index bills_party on bills (tenant_id, party_id) include (bill_id);
create index bills_subscription on bills (tenant_id, subscription_id) include (bill_id)
  where subscription_id is not null;
create index bill_parts_subscription on bill_parts (tenant_id, subscription_id) include (bill_id);
