-- E-invoices beside the documents of bills, for workspaces that want them.

alter table tenants add e_invoice jsonb check (jsonb_typeof(e_invoice) = 'object');
comment on column tenants.e_invoice is
  '{format, vatID, street, city, postalCode, vat}: bills are published as e-invoices too. Null: '
  'they are not.';

alter table further_documents drop constraint further_documents_kind_check;
alter table further_documents add constraint further_documents_kind_check
  check (kind in ('Cancelled', 'CreditNote', 'Receipt', 'Reminder', 'EInvoice'));
