import { plainArray, textArray } from '../../base/db/array-text.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import type { PaymentMethod } from './payment.ts';
import type { Known } from './references.ts';

/** A reference that was used before, and what for. */
export type KnownReference = Known & { party_id: number; amount: number };

export async function listReferences(
  tx: Tx,
  tenantId: number,
  references: readonly string[],
): Promise<Map<string, KnownReference>> {
  const { rows } = await sql<KnownReference>`
    select reference, payment_id as id, party_id, amount from payments
    where tenant_id = ${tenantId} and reference = any(${references}::text[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.reference, row]));
}

export type NewPayment = {
  paymentId: number;
  reference: string;
  direction: 'In' | 'Out';
  isRefund: boolean;
  partyId: number;
  subscriptionId: number | null;
  amount: number;
  walletAmount: number;
  recoveredAmount: number;
  valueDate: string;
  paymentMethod: PaymentMethod;
  cashAccountId: number;
  bankAccountId: number | null;
  journalId: number;
  remark: string | null;
};

/** Returns how many references were free. */
export async function insertPayments(
  tx: Tx,
  tenantId: number,
  payments: readonly NewPayment[],
  stamp: Stamp,
): Promise<number> {
  const rows = payments.toSorted((a, b) => (a.reference < b.reference ? -1 : 1));
  const all = <Value>(of: (row: NewPayment) => Value) => rows.map(of);
  const { count } = await sql`
    insert into payments (tenant_id, payment_id, reference, direction, is_refund, party_id,
      subscription_id, amount, wallet_amount, recovered_amount, value_date, payment_method,
      cash_account_id, bank_account_id, journal_id, remark, created_at, created_by)
    select own.tenant_id, r.payment_id, r.reference, r.direction, r.is_refund, r.party_id,
      r.subscription_id, r.amount, r.wallet_amount, r.recovered_amount, r.value_date,
      r.payment_method, r.cash_account_id, r.bank_account_id, r.journal_id, r.remark,
      ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(
      ${plainArray(all((row) => row.paymentId))}::bigint[],
      ${textArray(all((row) => row.reference))}::text[],
      ${plainArray(all((row) => row.direction))}::text[],
      ${plainArray(all((row) => row.isRefund))}::boolean[],
      ${plainArray(all((row) => row.partyId))}::bigint[],
      ${plainArray(all((row) => row.subscriptionId))}::bigint[],
      ${plainArray(all((row) => row.amount))}::bigint[],
      ${plainArray(all((row) => row.walletAmount))}::bigint[],
      ${plainArray(all((row) => row.recoveredAmount))}::bigint[],
      ${textArray(all((row) => row.valueDate))}::date[],
      ${plainArray(all((row) => row.paymentMethod))}::text[],
      ${plainArray(all((row) => row.cashAccountId))}::bigint[],
      ${plainArray(all((row) => row.bankAccountId))}::bigint[],
      ${plainArray(all((row) => row.journalId))}::bigint[],
      ${textArray(all((row) => row.remark))}::text[]
    ) as r (payment_id, reference, direction, is_refund, party_id, subscription_id, amount,
      wallet_amount, recovered_amount, value_date, payment_method, cash_account_id,
      bank_account_id, journal_id, remark)
    on conflict (tenant_id, reference) do nothing
  `.execute(tx);
  return count;
}

export type PaymentRow = {
  payment_id: number;
  reference: string;
  direction: 'In' | 'Out';
  is_refund: boolean;
  party_id: number;
  subscription_id: number | null;
  amount: number;
  wallet_amount: number;
  recovered_amount: number;
  value_date: string;
  payment_method: PaymentMethod;
  bank_account_id: number | null;
  cash_account_id: number;
  journal_id: number;
  business_unit_id: number;
  is_reversed: boolean;
};

export async function findPayment(
  tx: Tx,
  tenantId: number,
  paymentId: number,
): Promise<PaymentRow | undefined> {
  const { rows } = await sql<PaymentRow>`
    select p.payment_id, p.reference, p.direction, p.is_refund, p.party_id, p.subscription_id,
      p.amount, p.wallet_amount, p.recovered_amount, p.value_date, p.payment_method,
      p.bank_account_id, p.cash_account_id, p.journal_id, j.business_unit_id, exists (
        select from payment_reversals r
        where r.tenant_id = ${tenantId} and r.payment_id = p.payment_id
      ) as is_reversed
    from payments p
    join journals j on j.tenant_id = ${tenantId} and j.journal_id = p.journal_id
    where p.tenant_id = ${tenantId} and p.payment_id = ${paymentId}
  `.execute(tx);
  return rows[0];
}

export async function insertReversal(
  tx: Tx,
  tenantId: number,
  reversal: { paymentId: number; date: string; reason: string; journalId: number },
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into payment_reversals (tenant_id, payment_id, reversal_date, reason, journal_id,
      created_at, created_by)
    values (${tenantId}, ${reversal.paymentId}, ${reversal.date}::date, ${reversal.reason},
      ${reversal.journalId}, ${stamp.at}, ${stamp.by})
  `.execute(tx);
}

/** What a payment settled of an item, and was not taken back since. */
export type SettledRow = {
  bill_id: number | null;
  item_id: number | null;
  account_id: number;
  subscription_id: number | null;
  amount: number;
};

export async function listSettled(
  tx: Tx,
  tenantId: number,
  paymentId: number,
): Promise<SettledRow[]> {
  const { rows } = await sql<SettledRow>`
    select bill_id, item_id, ledger_account_id as account_id, subscription_id,
      sum(settled)::bigint as amount
    from subledger_entries
    where tenant_id = ${tenantId} and payment_id = ${paymentId} and effect = 'paid'
    group by bill_id, item_id, ledger_account_id, subscription_id
    having sum(settled) <> 0
    order by bill_id, item_id, subscription_id
  `.execute(tx);
  return rows;
}

/** The parties of posted bills, by bill. */
export async function listBillOwners(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<Map<number, number>> {
  if (billIds.length === 0) return new Map();
  const { rows } = await sql<{ bill_id: number; party_id: number }>`
    select bill_id, party_id from bills
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
      and status in ('Posted', 'Published')
  `.execute(tx);
  return new Map(rows.map((row) => [row.bill_id, row.party_id]));
}

/** What of a payment is in the wallet, with what came back to it from bills. */
export async function findWalletPart(tx: Tx, tenantId: number, paymentId: number): Promise<number> {
  const { rows } = await sql<{ amount: number }>`
    select coalesce(-sum(amount), 0)::bigint as amount from subledger_entries
    where tenant_id = ${tenantId} and payment_id = ${paymentId}
      and ledger_account_id = ${ledgerAccounts.advance}
  `.execute(tx);
  return rows[0]?.amount ?? 0;
}

/** What wallets paid of items of a party, the newest first. */
export async function listWalletUses(
  tx: Tx,
  tenantId: number,
  partyId: number,
): Promise<SettledRow[]> {
  const { rows } = await sql<SettledRow>`
    select bill_id, item_id, ledger_account_id as account_id, subscription_id,
      sum(settled)::bigint as amount
    from subledger_entries
    where tenant_id = ${tenantId} and party_id = ${partyId} and effect = 'paid'
      and kind = 'Wallet'
    group by bill_id, item_id, ledger_account_id, subscription_id
    having sum(settled) > 0
    order by max(posting_date) desc, max(entry_id) desc
  `.execute(tx);
  return rows;
}

export type PaymentFilter = {
  paymentId: number | null;
  reference: string | null;
  partyId: number | null;
  partyNumber: number | null;
  connectionNumber: string | null;
  /** Those that settled something of the bill. */
  billId: number | null;
  status: 'Posted' | 'Reversed' | 'Refunded' | null;
  fromDate: string | null;
  toDate: string | null;
};

export type PaymentListRow = {
  payment_id: number;
  reference: string;
  direction: 'In' | 'Out';
  status: 'Posted' | 'Reversed' | 'Refunded';
  party_id: number;
  party_number: number;
  party_name: string;
  subscription_number: string | null;
  amount: string;
  wallet_amount: string;
  recovered_amount: string;
  value_date: string;
  posting_date: string;
  payment_method: string;
  bank_account_id: number | null;
  remark: string | null;
  receipt_number: string | null;
  cheque_number: string | null;
  cleared_date: string | null;
  reversal_date: string | null;
  reversal_reason: string | null;
  created_at: Temporal.Instant;
  created_by: string;
};

function conditionsOf(tenantId: number, filter: PaymentFilter): Sql {
  const conditions = [sql`p.tenant_id = ${tenantId}`];
  const add = (value: unknown, condition: Sql) => {
    if (value !== null) conditions.push(condition);
  };
  add(filter.paymentId, sql`p.payment_id = ${filter.paymentId}`);
  add(filter.reference, sql`p.reference = ${filter.reference}`);
  add(filter.partyId, sql`p.party_id = ${filter.partyId}`);
  add(
    filter.partyNumber,
    sql`p.party_id = (select o.party_id from parties o
      where o.tenant_id = ${tenantId} and o.party_number = ${filter.partyNumber})`,
  );
  add(
    filter.connectionNumber,
    sql`p.subscription_id = (select s.subscription_id from subscriptions s
      where s.tenant_id = ${tenantId} and s.subscription_number = ${filter.connectionNumber})`,
  );
  add(
    filter.billId,
    sql`p.payment_id in (select e.payment_id from subledger_entries e
      where e.tenant_id = ${tenantId} and e.bill_id = ${filter.billId} and e.effect = 'paid')`,
  );
  add(filter.fromDate, sql`p.value_date >= ${filter.fromDate}::date`);
  add(filter.toDate, sql`p.value_date <= ${filter.toDate}::date`);
  add(filter.status, sql`${status(tenantId)} = ${filter.status}`);
  return sql.join(conditions, sql` and `);
}

/** Of payment `p`. */
function status(tenantId: number): Sql {
  return sql`case when p.is_refund then 'Refunded' when exists (
    select from payment_reversals v
    where v.tenant_id = ${tenantId} and v.payment_id = p.payment_id
  ) then 'Reversed' else 'Posted' end`;
}

export async function countPayments(
  tx: Tx,
  tenantId: number,
  filter: PaymentFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from payments p where ${conditionsOf(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** The newest first. */
export async function listPayments(
  tx: Tx,
  tenantId: number,
  filter: PaymentFilter,
  { offset, limit, beforeId }: { offset: number; limit: number; beforeId: number | null },
): Promise<PaymentListRow[]> {
  const isBefore = beforeId === null ? sql`` : sql`and p.payment_id < ${beforeId}`;
  const { rows } = await sql<PaymentListRow>`
    select p.payment_id, p.reference, p.direction, ${status(tenantId)} as status, p.party_id,
      o.party_number, o.name as party_name, s.subscription_number, p.amount::text as amount,
      p.wallet_amount::text as wallet_amount, p.recovered_amount::text as recovered_amount,
      p.value_date, j.posting_date, p.payment_method, p.bank_account_id, p.remark,
      q.receipt_number, k.cheque_number, k.cleared_date,
      r.reversal_date, r.reason as reversal_reason, p.created_at, p.created_by
    from payments p
    join parties o on o.tenant_id = ${tenantId} and o.party_id = p.party_id
    join journals j on j.tenant_id = ${tenantId} and j.journal_id = p.journal_id
    left join subscriptions s on s.tenant_id = ${tenantId}
      and s.subscription_id = p.subscription_id
    left join payment_reversals r on r.tenant_id = ${tenantId} and r.payment_id = p.payment_id
    left join receipts q on q.tenant_id = ${tenantId} and q.payment_id = p.payment_id
    left join cheques k on k.tenant_id = ${tenantId} and k.payment_id = p.payment_id
    where ${conditionsOf(tenantId, filter)} ${isBefore}
    order by p.payment_id desc
    limit ${limit} offset ${offset}
  `.execute(tx);
  return rows;
}

export type AllocationRow = {
  payment_id: number;
  bill_id: number | null;
  bill_number: string | null;
  kind: string;
  amount: string;
  surcharge: string;
};

/**
 * What payments settle now, or settled when they were made: one row for each bill, with its
 * surcharge, and for each other item.
 */
export async function listAllocations(
  tx: Tx,
  tenantId: number,
  paymentIds: readonly number[],
  when: 'now' | 'made' = 'now',
): Promise<AllocationRow[]> {
  const inOwnJournal = sql`exists (
    select from payments p
    where p.tenant_id = ${tenantId} and p.payment_id = e.payment_id
      and p.journal_id = e.journal_id
  )`;
  const { rows } = await sql<AllocationRow>`
    select a.payment_id, a.bill_id, b.bill_number, a.kind, a.amount::text as amount,
      a.surcharge::text as surcharge
    from (
      select e.payment_id, case when i.kind is null or i.kind = 'Surcharge' then e.bill_id end
          as bill_id,
        case when i.kind is null or i.kind = 'Surcharge' then 'Bill' else i.kind end as kind,
        sum(e.settled) as amount,
        coalesce(sum(e.settled) filter (where i.kind = 'Surcharge'), 0) as surcharge
      from subledger_entries e
      left join open_items i on i.tenant_id = ${tenantId} and i.item_id = e.item_id
      where e.tenant_id = ${tenantId} and e.payment_id = any(${paymentIds}::bigint[])
        and e.effect = 'paid' and ${when === 'made' ? inOwnJournal : sql`true`}
      group by 1, 2, 3
      having sum(e.settled) <> 0
    ) a
    left join bills b on b.tenant_id = ${tenantId} and b.bill_id = a.bill_id
    order by a.payment_id, a.bill_id
  `.execute(tx);
  return rows;
}

export async function findTaken(
  tx: Tx,
  tenantId: number,
  paymentId: number,
): Promise<{ created_at: Temporal.Instant; created_by: string } | undefined> {
  const { rows } = await sql<{ created_at: Temporal.Instant; created_by: string }>`
    select created_at, created_by from payments
    where tenant_id = ${tenantId} and payment_id = ${paymentId}
  `.execute(tx);
  return rows[0];
}
