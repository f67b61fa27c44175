-- How long the files of documents are kept.

alter table tenants add document_retention_years smallint not null default 10
  check (document_retention_years between 1 and 100);
comment on column tenants.document_retention_years is
  'Files of documents are deleted when so many years have passed since the end of the year in '
  'which they were published.';

alter table bill_documents add deleted_on date;
comment on column bill_documents.deleted_on is
  'The day on which its file was deleted, because the years of retention had passed.';
create index bill_documents_kept on bill_documents (tenant_id, created_at, document_id)
  where error is null and deleted_on is null;

alter table further_documents add deleted_on date;
comment on column further_documents.deleted_on is 'As of bill_documents.';
create index further_documents_kept on further_documents (tenant_id, created_at, document_id)
  where deleted_on is null;
grant update (deleted_on) on further_documents to billwright_worker;

alter table document_parts add last_year smallint not null;
comment on column document_parts.last_year is
  'The last year in which a document was made that has this part, or the year after. When all '
  'documents up to that year are deleted, no document has it.';
create index document_parts_unused on document_parts (tenant_id, last_year);
grant update (last_year) on document_parts to billwright_api, billwright_worker;
