// Erasing the personal data of a party, and what of it is kept.
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';

/** Rows that were changed or deleted. */
export type ErasedCounts = {
  accounts: number;
  notes: number;
  payers: number;
  notices: number;
  logins: number;
};

/** A party of the transaction's workspace: locked, archived and not erased. */
export async function eraseParty(
  tx: Tx,
  tenantId: number,
  partyId: number,
  { day, at, by }: Stamp & { day: Temporal.PlainDate },
): Promise<ErasedCounts> {
  const { rows } = await sql<{ counts: ErasedCounts }>`
    select erase_party(${partyId}::bigint, ${day}::date, ${by}, ${at}::timestamptz) as counts
    from tenants where tenant_id = ${tenantId}
  `.execute(tx);
  const counts = rows[0]?.counts;
  if (!counts) throw new Error('no party was erased');
  return counts;
}

export type KeptCounts = {
  bills: number;
  documents: number;
  creditNotes: number;
  payments: number;
  auditEntries: number;
};

/** What the law on accounts wants kept, each with its own index. */
export async function countKept(tx: Tx, tenantId: number, partyId: number): Promise<KeptCounts> {
  const { rows } = await sql<KeptCounts>`
    select
      (select count(*) from bills
        where tenant_id = ${tenantId} and party_id = ${partyId}
          and status in ('Posted', 'Published', 'Cancelled'))::integer as bills,
      (select count(*) from bills b
        join bill_documents d on d.tenant_id = ${tenantId} and d.bill_id = b.bill_id
          and d.error is null
        where b.tenant_id = ${tenantId} and b.party_id = ${partyId})::integer as documents,
      (select count(*) from credit_notes
        where tenant_id = ${tenantId} and party_id = ${partyId})::integer as "creditNotes",
      (select count(*) from payments
        where tenant_id = ${tenantId} and party_id = ${partyId})::integer as payments,
      (select count(*) from audit_entries
        where tenant_id = ${tenantId} and subject = 'party'
          and subject_id = ${String(partyId)})::integer as "auditEntries"
  `.execute(tx);
  const row = rows[0];
  if (!row) throw new Error('nothing was counted');
  return row;
}
