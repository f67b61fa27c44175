-- Days that customers have at least between the posting of a bill and its due date.
alter table pricing_contexts
  add minimum_days_to_pay integer not null default 7
    check (minimum_days_to_pay between 0 and 90);
