-- An entry is of a journal, which keep_balances() looks for, and a journal is of a tenant. To look
-- for the tenant of every entry as well cost a twentieth of posting, and had all who post in a
-- workspace lock one and the same row, over and over.
alter table subledger_entries drop constraint subledger_entries_tenant_id_fkey;
