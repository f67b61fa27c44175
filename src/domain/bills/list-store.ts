import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { openOfBill } from '../ledger/open-amounts-store.ts';
import type { StoredBill } from './bill-forms.ts';
import { storedBillColumns, withContents, withHead } from './contents-store.ts';

export type BillStatus = 'Draft' | 'Error' | 'Hold' | 'Posted' | 'Published' | 'Cancelled';
export const billStatuses = ['Draft', 'Error', 'Hold', 'Posted', 'Published', 'Cancelled'] as const;
export const paymentStatuses = [
  'Unpaid',
  'PartiallyPaid',
  'Paid',
  'Overdue',
  'WrittenOff',
] as const;

export type BillRow = StoredBill & {
  status: BillStatus;
  payment_status: string;
  is_held: boolean;
  hold_reason: string | null;
  term_id: number;
  term_label: string;
  start_date: string;
  end_date: string;
  context_id: number;
  context_code: string;
  context_name: string;
  batch_code: string;
  unit_id: number;
  plan_id: number | null;
  first_run: number;
  issue_date: string | null;
  previously_billed_to: string | null;
  surcharged_on: string | null;
  paid_amount: string;
  credited: string;
  /** Written off, moved to a new owner or in dispute. */
  gone: string;
  /** Neither paid, credited, written off, moved to a new owner nor in dispute. */
  open_amount: string;
  /** Hexadecimal. */
  hash: string;
  created_at: Temporal.Instant;
  created_by: string;
  modified_at: Temporal.Instant;
  modified_by: string;
  ts: number;
};

/** A bill as it is read: what belongs to its term and its pricing context comes as arrays. */
type FoundBill = Omit<BillRow, Around> & {
  /** Label, first and last day. */
  of_term: [string, string, string];
  /** Code and name. */
  of_context: [string, string];
};
type Around = 'term_label' | 'start_date' | 'end_date' | 'context_code' | 'context_name';

/**
 * Queries of their own, not joins: several machines plan a statement twice at each call, and most
 * of that time goes to joins.
 */
const columns = (tenantId: number) => sql`${sql.raw(storedBillColumns)}, k.document, k.frozen,
  b.payment_status, b.is_held, b.hold_reason, b.term_id, (
    select array[t.label, t.start_date::text, t.end_date::text] from terms t
    where t.tenant_id = ${tenantId} and t.term_id = b.term_id
  ) as of_term, b.context_id, (
    select array[c.code, c.name] from pricing_contexts c
    where c.tenant_id = ${tenantId} and c.context_id = b.context_id
  ) as of_context, (
    select x.code from batches x where x.tenant_id = ${tenantId} and x.batch_id = b.batch_id
  ) as batch_code, b.unit_id,
  b.plan_id, b.first_run, b.issue_date, b.previously_billed_to, b.surcharged_on,
  b.paid_amount::text as paid_amount,
  b.credited::text as credited, (b.written_off + b.transferred + b.disputed)::text as gone,
  ${openOfBill}::text as open_amount,
  encode(b.hash, 'hex') as hash, b.created_at, b.created_by, b.modified_at, b.modified_by, b.ts`;

function billOf<Found extends FoundBill>(found: Found): Found & BillRow {
  const [label, start, end] = found.of_term;
  const [code, name] = found.of_context;
  const term = { term_label: label, start_date: start, end_date: end };
  return Object.assign(found, term, { context_code: code, context_name: name });
}

const withTerm = (tenantId: number) =>
  sql`join terms t on t.tenant_id = ${tenantId} and t.term_id = b.term_id`;

export type BillFilter = {
  billId?: number | null;
  billIds?: readonly number[] | null;
  billNumber?: string | null;
  subscriptionNumber?: string | null;
  partyId?: number | null;
  termId?: number | null;
  batchId?: number | null;
  statuses?: readonly BillStatus[] | null;
  paymentStatus?: (typeof paymentStatuses)[number] | null;
  /** Of the first day of the term. */
  fromDate?: Temporal.PlainDate | null;
  toDate?: Temporal.PlainDate | null;
  newestFirst?: boolean;
  /** Reads of the frozen inputs only the number of the subscription. */
  isShort?: boolean;
};

/** A paymentStatus filter without status covers Posted and Published bills. */
const owed: readonly BillStatus[] = ['Posted', 'Published'];

function matches(tenantId: number, filter: BillFilter): Sql {
  const conditions = [sql`b.tenant_id = ${tenantId}`];
  const { billId, billIds, billNumber, subscriptionNumber, partyId, termId, batchId } = filter;
  if (billId) conditions.push(sql`b.bill_id = ${billId}`);
  if (billIds) conditions.push(sql`b.bill_id = any(${billIds}::bigint[])`);
  if (billNumber) conditions.push(sql`b.bill_id = (${billNumbered(tenantId, billNumber)})`);
  if (partyId) conditions.push(sql`b.party_id = ${partyId}`);
  if (termId) conditions.push(sql`b.term_id = ${termId}`);
  if (batchId) conditions.push(sql`b.batch_id = ${batchId}`);
  const statuses = filter.statuses ?? (filter.paymentStatus ? owed : null);
  if (statuses) conditions.push(...haveStatus(tenantId, statuses));
  if (filter.paymentStatus) {
    conditions.push(sql`b.payment_status = ${sql.lit(filter.paymentStatus)}`);
  }
  conditions.push(...daysOf(filter));
  if (filter.fromDate || filter.toDate) {
    conditions.push(isInReach(tenantId, sql.join(daysOf(filter), sql` and `)));
  }
  if (subscriptionNumber) {
    conditions.push(sql`b.bill_id in (${billsOf(tenantId, subscriptionNumber)})`);
  }
  return sql.join(conditions, sql` and `);
}

function billNumbered(tenantId: number, billNumber: string): Sql {
  return sql`
    select n.bill_id from bill_numbers n
    where n.tenant_id = ${tenantId} and n.bill_number = ${billNumber} and n.retired_at is null`;
}

/** Of term `t`. */
function daysOf({ fromDate, toDate }: BillFilter): Sql[] {
  return [
    ...(fromDate ? [sql`t.start_date >= ${fromDate}`] : []),
    ...(toDate ? [sql`t.start_date <= ${toDate}`] : []),
  ];
}

/** In which states the terms of such bills are; where nothing is said, in any. */
const termStates: Partial<Record<BillStatus, string>> = {
  Draft: `t.status = 'Open'`,
  Posted: `t.status in ('Open', 'Posted')`,
};

function isForReview(status: BillStatus): boolean {
  return status === 'Error' || status === 'Hold';
}

/** States as literals: PostgreSQL uses a partial index only if the statement has the state. */
function haveStatus(tenantId: number, statuses: readonly BillStatus[]): Sql[] {
  const column = statuses.every(isForReview) ? sql`b.review_status` : sql`b.status`;
  const isOne = sql`${column} in (${sql.join(statuses.map((status) => sql.lit(status)))})`;
  const states = statuses.map((status) => termStates[status]);
  if (states.some((state) => state === undefined)) return [isOne];
  return [isOne, isInReach(tenantId, sql.raw(`(${states.join(' or ')})`))];
}

/**
 * Whether bill `b` has an id that bills of some terms `t` can have, so that bills of earlier terms
 * are not read.
 */
function isInReach(tenantId: number, terms: Sql): Sql {
  return sql`b.bill_id >= (
    select coalesce(min(coalesce((
        select min(r.first_bill_id) from bill_runs r
        where r.tenant_id = ${tenantId} and r.term_id = t.term_id
      ), 0)), ${sql.lit(Number.MAX_SAFE_INTEGER)})
    from terms t
    where t.tenant_id = ${tenantId} and ${terms} and exists (
      select from bills o where o.tenant_id = ${tenantId} and o.term_id = t.term_id
    )
  )`;
}

/** Bills of a subscription, alone on its bill or one of several. */
function billsOf(tenantId: number, subscriptionNumber: string): Sql {
  return sql`
    select o.bill_id from subscriptions s
    join bills o on o.tenant_id = ${tenantId} and o.subscription_id = s.subscription_id
    where s.tenant_id = ${tenantId} and s.subscription_number = ${subscriptionNumber}
    union all
    select p.bill_id from subscriptions s
    join bill_parts p on p.tenant_id = ${tenantId} and p.subscription_id = s.subscription_id
    where s.tenant_id = ${tenantId} and s.subscription_number = ${subscriptionNumber}`;
}

/** What `matches` asks about: only days are those of the term. */
function searched(tenantId: number, { fromDate, toDate }: BillFilter): Sql {
  return fromDate || toDate ? sql`bills b ${withTerm(tenantId)}` : sql`bills b`;
}

/** By id; of a term, by what they are for, which is the order in which they were made. */
function orderOf({ termId, newestFirst }: BillFilter): Sql {
  if (newestFirst) return termId ? sql`b.unit_id desc, b.bill_id desc` : sql`b.bill_id desc`;
  return termId ? sql`b.unit_id, b.bill_id` : sql`b.bill_id`;
}

type Window = {
  after?: Sql;
  order: Sql;
  limit: number;
  offset: number;
};

/**
 * Finds the bills first, then reads what belongs to them; of one bill, both at once, which is
 * planned sooner.
 */
async function listWindow(
  tx: Tx,
  tenantId: number,
  filter: BillFilter,
  { after = sql`true`, order, limit, offset }: Window,
): Promise<BillRow[]> {
  const window = sql`order by ${order} limit ${limit} offset ${offset}`;
  const contents = filter.isShort ? withHead(tenantId) : withContents(tenantId);
  const ofOne = sql<FoundBill>`
    select ${columns(tenantId)}
    from ${searched(tenantId, filter)} ${contents}
    where ${matches(tenantId, filter)} and ${after}
    ${window}
  `;
  const ofMany = sql<FoundBill>`
    select ${columns(tenantId)}
    from (
      select b.* from ${searched(tenantId, filter)}
      where ${matches(tenantId, filter)} and ${after}
      ${window}
    ) b ${contents}
    order by ${order}
  `;
  const { rows } = await (filter.billId ? ofOne : ofMany).execute(tx);
  return rows.map(billOf);
}

export function listBillsAt(
  tx: Tx,
  tenantId: number,
  filter: BillFilter,
  window: { offset: number; limit: number },
): Promise<BillRow[]> {
  return listWindow(tx, tenantId, filter, { order: orderOf(filter), ...window });
}

export function listBillsAfter(
  tx: Tx,
  tenantId: number,
  filter: BillFilter,
  { after, limit }: { after: BillRow | undefined; limit: number },
): Promise<BillRow[]> {
  const window = { order: orderOf(filter), limit, offset: 0 };
  return listWindow(
    tx,
    tenantId,
    filter,
    after ? { ...window, after: isAfter(filter, after) } : window,
  );
}

function isAfter({ termId, newestFirst }: BillFilter, after: BillRow): Sql {
  if (newestFirst) {
    return termId
      ? sql`b.unit_id <= ${after.unit_id}
          and (b.unit_id, b.bill_id) < (${after.unit_id}, ${after.bill_id})`
      : sql`b.bill_id < ${after.bill_id}`;
  }
  return termId
    ? sql`b.unit_id >= ${after.unit_id}
        and (b.unit_id, b.bill_id) > (${after.unit_id}, ${after.bill_id})`
    : sql`b.bill_id > ${after.bill_id}`;
}

export async function countBills(tx: Tx, tenantId: number, filter: BillFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${searched(tenantId, filter)} where ${matches(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

export async function findBill(
  tx: Tx,
  tenantId: number,
  billId: number,
): Promise<BillRow | undefined> {
  const [row] = await listBillsAfter(tx, tenantId, { billId }, { after: undefined, limit: 1 });
  return row;
}

/** The newest bills of each subscription, alone on their bill or one of several. */
export async function listNewestBills(
  tx: Tx,
  tenantId: number,
  subscriptionIds: readonly number[],
  options: {
    /** null: all of them. */
    limit: number | null;
    statuses: readonly BillStatus[] | null;
    /** Only bills of this party. */
    partyId: number | null;
  },
): Promise<(BillRow & { of_subscription: number })[]> {
  const isWanted = sql.join(
    [
      options.statuses ? sql`o.status = any(${options.statuses}::text[])` : sql`true`,
      options.partyId === null ? sql`true` : sql`o.party_id = ${options.partyId}`,
    ],
    sql` and `,
  );
  const { rows } = await sql<FoundBill & { of_subscription: number }>`
    select ${columns(tenantId)}, n.of_subscription
    from (
      select s.subscription_id as of_subscription, found.bill_id
      from unnest(${subscriptionIds}::bigint[]) as s (subscription_id)
      cross join lateral (
        select bill_id from (
          (select o.bill_id from bills o
          where o.tenant_id = ${tenantId} and o.subscription_id = s.subscription_id and ${isWanted}
          order by o.bill_id desc limit ${options.limit}::bigint)
          union all
          (select p.bill_id from bill_parts p
          join bills o on o.tenant_id = ${tenantId} and o.bill_id = p.bill_id
          where p.tenant_id = ${tenantId} and p.subscription_id = s.subscription_id
            and ${isWanted}
          order by p.bill_id desc limit ${options.limit}::bigint)
        ) own
        order by bill_id desc
        limit ${options.limit}::bigint
      ) found
    ) n
    join (bills b ${withContents(tenantId)})
      on b.tenant_id = ${tenantId} and b.bill_id = n.bill_id
    order by n.of_subscription, b.bill_id desc
  `.execute(tx);
  return rows.map(billOf);
}

type PartyFilter = { partyId: number; statuses: readonly BillStatus[] | null };

/** Newest first. */
export function listBillsOfPartyAt(
  tx: Tx,
  tenantId: number,
  filter: PartyFilter,
  window: { offset: number; limit: number },
): Promise<BillRow[]> {
  return listWindow(tx, tenantId, filter, { order: sql`b.bill_id desc`, ...window });
}

export function listBillsOfPartyAfter(
  tx: Tx,
  tenantId: number,
  filter: PartyFilter,
  { after, limit }: { after: BillRow | undefined; limit: number },
): Promise<BillRow[]> {
  const older = after ? { after: sql`b.bill_id < ${after.bill_id}` } : {};
  const window = { order: sql`b.bill_id desc`, limit, offset: 0, ...older };
  return listWindow(tx, tenantId, filter, window);
}
