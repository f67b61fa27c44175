// Payments by cheque, and when the bank paid them.
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type NewCheque = {
  paymentId: number;
  partyId: number;
  chequeNumber: string | null;
  clearedDate: string | null;
};

export async function insertCheques(
  tx: Tx,
  tenantId: number,
  cheques: readonly NewCheque[],
): Promise<void> {
  if (cheques.length === 0) return;
  await sql`
    insert into cheques (tenant_id, payment_id, party_id, cheque_number, cleared_date)
    select own.tenant_id, r."paymentId", r."partyId", r."chequeNumber", r."clearedDate"
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(cheques)}::jsonb) as r (
      "paymentId" bigint, "partyId" bigint, "chequeNumber" text, "clearedDate" date
    )
  `.execute(tx);
}

export type ChequeRow = { cheque_number: string | null; cleared_date: string | null };

export async function findCheque(
  tx: Tx,
  tenantId: number,
  paymentId: number,
): Promise<ChequeRow | undefined> {
  const { rows } = await sql<ChequeRow>`
    select cheque_number, cleared_date from cheques
    where tenant_id = ${tenantId} and payment_id = ${paymentId}
    for no key update
  `.execute(tx);
  return rows[0];
}

export async function updateCleared(
  tx: Tx,
  tenantId: number,
  { paymentId, date, by }: { paymentId: number; date: string; by: string },
): Promise<void> {
  await sql`
    update cheques set cleared_date = ${date}::date, cleared_by = ${by}
    where tenant_id = ${tenantId} and payment_id = ${paymentId}
  `.execute(tx);
}

/** What cheques paid of the deposit of a subscription that the bank has not paid yet. */
export async function findUnclearedDeposit(
  tx: Tx,
  tenantId: number,
  { partyId, subscriptionId }: { partyId: number; subscriptionId: number },
): Promise<number> {
  const { rows } = await sql<{ amount: number }>`
    select coalesce(sum(e.settled), 0)::bigint as amount
    from cheques c
    join subledger_entries e on e.tenant_id = ${tenantId} and e.payment_id = c.payment_id
    join open_items i on i.tenant_id = ${tenantId} and i.item_id = e.item_id
    where c.tenant_id = ${tenantId} and c.party_id = ${partyId} and c.cleared_date is null
      and e.subscription_id = ${subscriptionId} and e.effect = 'paid' and i.kind = 'Deposit'
  `.execute(tx);
  return rows[0]?.amount ?? 0;
}

/** What cheques brought into the wallet of a party that the bank has not paid yet. */
export async function findUnclearedAmount(
  tx: Tx,
  tenantId: number,
  partyId: number,
): Promise<number> {
  const { rows } = await sql<{ amount: number }>`
    select coalesce(sum(p.wallet_amount), 0)::bigint as amount
    from cheques c
    join payments p on p.tenant_id = ${tenantId} and p.payment_id = c.payment_id
    left join payment_reversals r on r.tenant_id = ${tenantId} and r.payment_id = c.payment_id
    where c.tenant_id = ${tenantId} and c.party_id = ${partyId} and c.cleared_date is null
      and r.payment_id is null
  `.execute(tx);
  return rows[0]?.amount ?? 0;
}
