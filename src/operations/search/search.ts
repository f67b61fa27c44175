import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { amountText } from '../../base/money.ts';
import type { Permission } from '../../domain/access/roles.ts';
import { findBills } from '../../domain/bills/find-store.ts';
import { findMeters } from '../../domain/meters/find-store.ts';
import { findParties } from '../../domain/parties/find-store.ts';
import { findPlans } from '../../domain/pricing/find-store.ts';
import { findPayments } from '../../domain/receivables/find-store.ts';
import { findSubscriptions } from '../../domain/subscriptions/find-store.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { filledText, maybe, nullable, oneOf } from '../fields.ts';
import { operation } from '../operation.ts';

/** Results of each kind. */
const foundMax = 10;

const kinds = ['party', 'connection', 'meter', 'bill', 'payment', 'plan'] as const;
type Kind = (typeof kinds)[number];

/** A kind is found by callers that may read it. */
const permissionOf: Record<Kind, Permission> = {
  party: 'parties:read',
  connection: 'subscriptions:read',
  meter: 'meters:read',
  bill: 'bills:read',
  payment: 'payments:read',
  plan: 'plans:read',
};

const result = Type.Object({
  kind: Type.String({ description: kinds.join(', ') }),
  id: Type.Integer(),
  number: Type.String({ description: 'by which the operations of its kind find it' }),
  title: Type.String(),
  detail: nullable(Type.String()),
  payer: Type.Optional(
    nullable(
      Type.Object(
        { partyNumber: Type.Integer(), name: Type.String() },
        { description: 'if asked for: the party that owes or pays; null if there is none' },
      ),
    ),
  ),
});
type Result = Type.Static<typeof result>;
type Found = Result & { payer: Exclude<Result['payer'], undefined> };

export const search = operation({
  path: '/billing/search/search',
  method: 'Retrieve',
  action: 'Search',
  access: 'authenticated',
  summary: 'Finds parties, subscriptions, meters, bills, payments and plans by what is typed.',
  request: Type.Object({
    text: filledText({ max: 100 }),
    kinds: maybe(Type.Array(oneOf(kinds), { maxItems: kinds.length, description: 'null: all' })),
    payers: maybe(
      Type.Boolean({
        description:
          'true, for callers that may read parties or payments: each result with its payer; of ' +
          'kinds that the caller may not read, the number and the payer alone',
      }),
    ),
  }),
  response: Type.Object({
    results: Type.Array(result, { description: `up to ${foundMax} of each kind` }),
  }),
  errors: [],
  example: { text: 'Khan', kinds: ['party'] },
  async handle({ tx, tenant, principal }, body) {
    const typed = body.text.trim();
    const { permissions } = principal;
    const showsPayers =
      body.payers === true && (permissions.has('parties:read') || permissions.has('payments:read'));
    const asked = kinds.filter((kind) => body.kinds?.includes(kind) ?? true);
    const found = await Promise.all(
      asked.map(async (kind) => {
        const isReadable = permissions.has(permissionOf[kind]);
        if (!isReadable && !(showsPayers && kind !== 'plan')) return [];
        const rows = await finders[kind](tx, tenant, typed);
        if (!isReadable) return rows.flatMap((row) => payerAlone(row, typed) ?? []);
        return showsPayers ? rows : rows.map(({ payer, ...row }) => row);
      }),
    );
    const results: Result[] = found.flat();
    return { message: counted(results.length, 'result'), data: { results } };
  },
});

/** Only where what was typed is in what is shown: a result must not confirm what is hidden. */
function payerAlone({ kind, id, number, payer }: Found, typed: string): Result | undefined {
  if (payer === null) return undefined;
  const shown = `${number} ${payer.name}`.toLowerCase();
  if (!shown.includes(typed.toLowerCase())) return undefined;
  return { kind, id, number, title: payer.name, detail: null, payer };
}

type Finder = (tx: Tx, tenant: Tenant, typed: string) => Promise<Found[]>;

const finders: Record<Kind, Finder> = {
  party: async (tx, { tenantId }, typed) =>
    (await findParties(tx, tenantId, typed, foundMax)).map((row) => ({
      kind: 'party',
      id: row.party_id,
      number: String(row.party_number),
      title: row.name,
      detail: [row.kind, row.email, row.contact].filter(Boolean).join(' · '),
      payer: { partyNumber: row.party_number, name: row.name },
    })),
  connection: async (tx, { tenantId }, typed) =>
    (await findSubscriptions(tx, tenantId, typed, foundMax)).map((row) => ({
      kind: 'connection',
      id: row.subscription_id,
      number: row.subscription_number,
      title: row.party_name,
      detail: `${row.status} · ${row.plan_code}`,
      payer: payerOf(row),
    })),
  meter: async (tx, { tenantId }, typed) =>
    (await findMeters(tx, tenantId, typed, foundMax)).map((row) => ({
      kind: 'meter',
      id: row.meter_id,
      number: String(row.number),
      title: row.brand,
      detail: row.subscription_number ?? row.status,
      payer: payerOf(row),
    })),
  bill: async (tx, { tenantId, currencyDecimals }, typed) =>
    (await findBills(tx, tenantId, typed, foundMax)).map((row) => ({
      kind: 'bill',
      id: row.bill_id,
      number: row.bill_number ?? '',
      title: row.party_name,
      detail: [
        row.term_label,
        amountText(BigInt(row.bill_amount), currencyDecimals),
        row.status,
      ].join(' · '),
      payer: payerOf(row),
    })),
  payment: async (tx, { tenantId, currencyDecimals }, typed) =>
    (await findPayments(tx, tenantId, typed, foundMax)).map((row) => ({
      kind: 'payment',
      id: row.payment_id,
      number: row.reference,
      title: row.party_name,
      detail: [
        wireDay(row.value_date),
        amountText(BigInt(row.amount), currencyDecimals),
        row.receipt_number,
      ]
        .filter(Boolean)
        .join(' · '),
      payer: payerOf(row),
    })),
  plan: async (tx, { tenantId }, typed) =>
    (await findPlans(tx, tenantId, typed, foundMax)).map((row) => ({
      kind: 'plan',
      id: row.plan_id,
      number: row.code,
      title: row.name,
      detail: row.context_code,
      payer: null,
    })),
};

function payerOf(row: { party_number: number | null; party_name: string | null }): Found['payer'] {
  if (row.party_number === null) return null;
  return { partyNumber: row.party_number, name: row.party_name ?? '' };
}
