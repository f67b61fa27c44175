-- E-invoices of credit notes, kept like those of bills.

alter table further_documents drop constraint further_documents_kind_check;
alter table further_documents add constraint further_documents_kind_check
  check (kind in ('Cancelled', 'CreditNote', 'Receipt', 'Reminder', 'EInvoice',
    'CreditNoteEInvoice'));

comment on column tenants.e_invoice is
  '{format, vatID, street, city, postalCode, vat, untaxed}: bills and credit notes are published as '
  'e-invoices too, beside the PDF (UBL) or inside it (FacturX). Null: they are not.';
