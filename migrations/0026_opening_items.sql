-- Open items of an old system, which a migration brings.

create table opening_items (
  tenant_id bigint not null,
  reference text not null check (reference <> ''),
  batch_id bigint not null,
  kind text not null check (kind in ('OpenItem', 'Advance', 'SecurityDeposit')),
  party_id bigint not null,
  subscription_id bigint,
  component text,
  issue_date date not null,
  due_date date not null,
  amount bigint not null check (amount <> 0),
  description text not null check (description <> ''),
  created_at timestamptz not null,
  created_by text not null,
  primary key (tenant_id, reference),
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id)
);
comment on table opening_items is
  'A debt, a credit, an advance or a deposit of an old system. Its reference there is used once '
  'for ever, so that a file can be imported again. Rows are appended and never changed.';
comment on column opening_items.batch_id is
  'The file that brought it. Journals of the source Opening name it.';
comment on column opening_items.subscription_id is 'Null if the party itself owes it.';
comment on column opening_items.amount is
  'In minor units. Below zero it is a credit of the customer.';
create index opening_items_batch on opening_items (tenant_id, batch_id, party_id, reference);
create index opening_items_party on opening_items (tenant_id, party_id);
create index opening_items_subscription on opening_items (tenant_id, subscription_id)
  where subscription_id is not null;
call wall_off('opening_items');
grant select, insert on opening_items to billwright_api, billwright_worker;
create trigger opening_items_append_only
  before update or delete on opening_items
  for each row execute function refuse_change();
