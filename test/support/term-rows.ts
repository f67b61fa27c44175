// Terms, and what was taken into them, as rows: for tests of what comes after.
import { type Tx, tenantTransact } from '../../src/base/db/pool.ts';
import { sql } from '../../src/base/db/sql.ts';
import { ledgerAccounts } from '../../src/domain/ledger/accounts.ts';
import { openItemsOfContext } from '../../src/domain/ledger/accounts-store.ts';
import {
  type BookedEntry,
  book,
  intoWallet,
  opening,
  settling,
} from '../../src/domain/ledger/book.ts';
import { listOpenItems } from '../../src/domain/ledger/items-store.ts';
import { settle } from '../../src/domain/ledger/settle.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import { insertMeter, iso, next } from './meter-rows.ts';
import type { Scene } from './scene.ts';

export type TermRow = {
  serviceCode: string;
  batchCode?: string;
  label: string;
  startDate: string;
  endDate: string;
  dueDate: string;
  periodId?: number;
  postType?: string;
  type?: string;
  isRead?: boolean;
};

export async function insertTerm(scene: Scene, tenantId: number, term: TermRow): Promise<number> {
  const termId = await next(scene, tenantId, 'term');
  const { rowCount } = await scene.sql.query(
    `insert into terms (tenant_id, term_id, context_id, batch_id, billing_period_id, term_type,
       label, start_date, end_date, due_date, post_type, status, stage, readings_posted_at,
       created_at, created_by, modified_at, modified_by, ts)
     select c.tenant_id, $2, c.context_id, b.batch_id, $5, $6, $7, $8, $9, $10,
       coalesce($11, c.post_type), 'Open', 'ReadingsPosted', case when $12 then now() end,
       now(), 'test', now(), 'test', 1
     from pricing_contexts c
     join batches b on b.tenant_id = c.tenant_id and b.context_id = c.context_id and b.code = $4
     where c.tenant_id = $1 and c.code = $3`,
    [
      tenantId,
      termId,
      term.serviceCode,
      term.batchCode ?? 'DEFAULT',
      term.periodId ?? 1,
      term.type ?? 'Regular',
      term.label,
      iso(term.startDate),
      iso(term.endDate),
      iso(term.dueDate),
      term.postType ?? null,
      term.isRead ?? true,
    ],
  );
  if (rowCount !== 1) throw new Error('there is no such context or batch');
  return termId;
}

/** A subscription with all that a scenario of the worked tariffs says of it. */
export async function insertScenario(
  scene: Scene,
  tenantId: number,
  termId: number,
  facts: FrozenInputs,
  options: { partyId?: number; accountId?: number } = {},
): Promise<number> {
  const subscriptionId = await next(scene, tenantId, 'subscription');
  const connection = facts.connection ?? {};
  const { rows } = await scene.sql.query<{ context_id: string; batch_id: string }>(
    'select context_id, batch_id from terms where tenant_id = $1 and term_id = $2',
    [tenantId, termId],
  );
  const context = Number(rows[0]?.context_id);
  const planId = (code: string) => planIdOf(scene, tenantId, context, code);
  const since = iso(connection.connectionDate ?? facts.term.startDate);
  const plans = [];
  for (const { tariffCode, fromDate } of connection.tariffHistory ?? []) {
    plans.push({ planId: await planId(tariffCode), fromDate: iso(fromDate) });
  }
  const addOns = [];
  for (const { tariffLabel, tariffCode, quantity, fromDate } of connection.addOns ?? []) {
    const code = tariffCode ?? tariffLabel ?? '';
    addOns.push({ planId: await planId(code), quantity, fromDate: iso(fromDate ?? '') });
  }
  const ended = connection.disconnectDate;
  const statuses = [
    { status: 'Active', fromDate: since },
    ...(ended ? [{ status: 'Disconnected', fromDate: iso(ended), kind: 'Permanent' }] : []),
  ];
  await scene.sql.query(
    `insert into subscriptions (tenant_id, subscription_id, subscription_number, context_id,
       plan_id, batch_id, account_id, party_id, status, disconnection_kind, connection_date,
       billed_through, is_metered, plan_history, status_history, connection_inputs, quantities,
       variants, add_ons, users, search_text, created_at, created_by, modified_at, modified_by, ts)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
       '[]', '', now(), 'test', now(), 'test', 1)`,
    [
      tenantId,
      subscriptionId,
      connection.connectionNumber ?? `S-${subscriptionId}`,
      context,
      plans.at(-1)?.planId,
      Number(rows[0]?.batch_id),
      options.accountId ?? 1,
      options.partyId ?? 1,
      ended ? 'Disconnected' : 'Active',
      ended ? 'Permanent' : null,
      since,
      connection.billedThrough
        ? iso(connection.billedThrough)
        : connection.isFirstBill
          ? dayBefore(since)
          : null,
      (facts.meters?.length ?? 0) > 0,
      JSON.stringify(plans),
      JSON.stringify(statuses),
      JSON.stringify(connection.connectionInputs ?? []),
      dated(connection.unmeteredInputs),
      dated(connection.variants),
      JSON.stringify(addOns),
    ],
  );
  for (const meter of facts.meters ?? []) {
    await insertMeter(scene, tenantId, termId, subscriptionId, meter);
  }
  await insertBeside(scene, tenantId, termId, subscriptionId, facts);
  return subscriptionId;
}

async function planIdOf(
  scene: Scene,
  tenantId: number,
  context: number,
  code: string,
): Promise<number> {
  const found = await scene.sql.query<{ plan_id: string }>(
    `select plan_id from plans where tenant_id = $1 and context_id = $2
     and (code = $3 or unique_label = $3)`,
    [tenantId, context, code],
  );
  return Number(found.rows[0]?.plan_id);
}

/** Of items that hold from a day on: days as they are stored. */
function dated(items: readonly object[] | null | undefined): string {
  return JSON.stringify(
    (items ?? []).map((item) => {
      const { fromDate, toDate, ...rest } = item as { fromDate?: string; toDate?: string | null };
      return {
        ...rest,
        ...(fromDate ? { fromDate: iso(fromDate) } : {}),
        // Stored is the first day on which it no longer holds.
        ...(toDate ? { toDate: dayAfter(iso(toDate)) } : {}),
      };
    }),
  );
}

function dayBefore(isoDate: string): string {
  return Temporal.PlainDate.from(isoDate).subtract({ days: 1 }).toString();
}

function dayAfter(isoDate: string): string {
  return Temporal.PlainDate.from(isoDate).add({ days: 1 }).toString();
}

/** Uploaded use, manual values, earlier terms, balances. */
async function insertBeside(
  scene: Scene,
  tenantId: number,
  termId: number,
  subscriptionId: number,
  facts: FrozenInputs,
): Promise<void> {
  const { sql } = scene;
  const used = { ...facts.uploadedUsage, ...facts.previousTerm?.usage };
  for (const [input, quantity] of Object.entries(used)) {
    await sql.query(
      `insert into term_usage (tenant_id, term_id, subscription_id, input, usage_date, quantity,
         modified_at, modified_by)
       values ($1, $2, $3, $4, 'infinity', $5, now(), 'test')`,
      [tenantId, termId, subscriptionId, input, quantity],
    );
  }
  for (const [, component, value] of facts.manual ?? []) {
    await sql.query(
      `insert into manual_values (tenant_id, term_id, subscription_id, component, value,
         modified_at, modified_by)
       values ($1, $2, $3, $4, $5, now(), 'test')`,
      [tenantId, termId, subscriptionId, component, value],
    );
  }
  const inputs = Object.entries(facts.usageHistory ?? {});
  const terms = (inputs[0]?.[1] ?? []).map((term, index) => ({
    termId: null as number | null,
    label: term.label,
    days: term.days,
    usage: Object.fromEntries(
      inputs.map(([input, entries]) => [
        input,
        { quantity: entries[index]?.quantity, type: entries[index]?.type },
      ]),
    ),
  }));
  const previous = facts.previousTerm;
  if (previous) {
    const earlier = await insertTermBefore(scene, tenantId, termId, previous.term);
    terms.unshift({ termId: earlier, label: previous.term.label, days: 31, usage: {} });
  }
  if (terms.length > 0) {
    const billed = Object.entries(previous?.billed ?? {}).map(([component, amount]) => [
      component,
      Math.round(Number(amount) * 100),
    ]);
    await sql.query(
      `insert into usage_histories (tenant_id, subscription_id, terms, billed)
       values ($1, $2, $3, $4)`,
      [
        tenantId,
        subscriptionId,
        terms.map((term) => JSON.stringify(term)),
        previous ? JSON.stringify(Object.fromEntries(billed)) : null,
      ],
    );
  }
  const arrears = Math.round(Number(facts.account?.arrears ?? 0) * 100);
  if (arrears !== 0) await insertOpening(scene, tenantId, subscriptionId, arrears);
}

async function insertTermBefore(
  scene: Scene,
  tenantId: number,
  termId: number,
  { label, startDate, endDate }: FrozenInputs['term'],
): Promise<number> {
  const { rows } = await scene.sql.query<{ code: string }>(
    `select c.code from terms t join pricing_contexts c
       on c.tenant_id = t.tenant_id and c.context_id = t.context_id
     where t.tenant_id = $1 and t.term_id = $2`,
    [tenantId, termId],
  );
  const serviceCode = rows[0]?.code ?? '';
  const days = { startDate, endDate, dueDate: endDate };
  return insertTerm(scene, tenantId, { serviceCode, label: label ?? '', ...days });
}

/**
 * An opening balance in minor units: on a subscription, or, below zero and without one, in the
 * wallet of party 1. Of the kind Payment it pays the bill, or the oldest of what is open.
 */
export async function insertOpening(
  scene: Scene,
  tenantId: number,
  subscriptionId: number | null,
  amount: number,
  kind: OpeningKind = 'Opening',
  billId: number | null = null,
): Promise<void> {
  await tenantTransact(scene.worker, tenantId, async (tx) => {
    const entries = await openingEntries(tx, tenantId, { subscriptionId, amount, kind, billId });
    const total = entries.reduce((sum, entry) => sum + entry.amount, 0);
    const booking = {
      source: kind,
      sourceId: 1,
      businessUnitId: 1,
      postingDate: Temporal.PlainDate.from('2020-01-01'),
      description: 'By hand',
      entries,
      against: [{ accountId: ledgerAccounts.opening, amount: -total }],
    };
    await book(tx, tenantId, [booking], { at: Temporal.Now.instant(), by: 'test' });
  });
}

type OpeningKind = 'Opening' | 'Payment' | 'CreditNote' | 'Adjustment';

async function openingEntries(
  tx: Tx,
  tenantId: number,
  wanted: {
    subscriptionId: number | null;
    amount: number;
    kind: OpeningKind;
    billId: number | null;
  },
): Promise<BookedEntry[]> {
  const { subscriptionId, amount, kind, billId } = wanted;
  if (subscriptionId === null) return [intoWallet(1, { kind, amount: -amount })];
  const { rows } = await sql<{ party_id: number; account_id: number }>`
    select s.party_id, ${openItemsOfContext} as account_id
    from subscriptions s
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
    where s.tenant_id = ${tenantId} and s.subscription_id = ${subscriptionId}
  `.execute(tx);
  const [{ party_id: partyId, account_id: accountId } = { party_id: 1, account_id: 2 }] = rows;
  const owner = { partyId, accountId, subscriptionId, billId };
  const side = accountId === ledgerAccounts.payable ? -1 : 1;
  if (billId !== null) {
    const effect = kind === 'CreditNote' ? 'credited' : 'paid';
    return [settling({ ...owner, itemId: null }, { kind, effect, amount: -amount * side })];
  }
  const items =
    kind === 'Payment' ? await listOpenItems(tx, tenantId, { partyId, subscriptionId }) : [];
  const paid = settle(items, -amount * side, { method: 'Chronology', subscriptionId });
  const rest = paid.reduce((sum, one) => sum + one.amount, amount * side);
  const opens = { kind: 'Opening', dueDate: '2020-01-01' } as const;
  return [
    ...paid.map((one) => settling(one.item, { kind, effect: 'paid', amount: one.amount })),
    ...(rest === 0 ? [] : [opening(owner, { kind, amount: rest }, opens)]),
  ];
}
