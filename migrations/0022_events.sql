-- The outbox: what happened, written in the transaction of the change.

create table events (
  tenant_id bigint not null references tenants (tenant_id),
  event_id bigint not null,
  type text not null check (type ~ '^[a-z_]+\.[a-z_]+$'),
  is_bulk boolean not null default false,
  data jsonb not null check (jsonb_typeof(data) = 'object'),
  at timestamptz not null,
  written_in xid8 not null default pg_current_xact_id(),
  primary key (tenant_id, event_id)
);
comment on table events is
  'Something that happened to a bill, a payment or another thing that receivers want to know. It is '
  'written with the change itself: what is rolled back leaves no event. Kept for 30 days.';
comment on column events.is_bulk is 'One row for many things: a chunk of a bill run or of a file.';
comment on column events.written_in is
  'The transaction that wrote it. Events are read in this order, and only those of transactions '
  'before the oldest one that still runs: none appears later behind the place of a reader.';
create index events_order on events (tenant_id, written_in, event_id);
create index events_at on events (tenant_id, at);
call wall_off('events');
grant select, insert on events to billwright_api, billwright_worker;
grant delete on events to billwright_worker;
create trigger events_fixed
  before update on events
  for each row execute function refuse_change();
