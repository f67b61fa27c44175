-- Operators see how many events webhooks have not read yet.

alter table operation_counts
  drop constraint operation_counts_kind_check,
  add constraint operation_counts_kind_check
    check (kind in ('job', 'delivery', 'webhook', 'event'));
