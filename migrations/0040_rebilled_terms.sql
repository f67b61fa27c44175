-- A term that bills a cancelled bill again has the label of the term that the bill was of, so that
-- documents and charts name the month. Labels of other terms of a batch stay unique.
alter table terms add replaces_bill_id bigint;
drop index terms_label_key;
create unique index terms_label_key
  on terms (tenant_id, context_id, batch_id, label, replaces_bill_id) nulls not distinct
  where status <> 'Cancelled';
