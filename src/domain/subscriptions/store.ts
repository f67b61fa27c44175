import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { folded } from '../parties/party.ts';
import type {
  AddOn,
  DisconnectionKind,
  InputValue,
  PlanStep,
  Quantity,
  StatusStep,
  SubscriptionStatus,
  SubscriptionUser,
  Transfer,
  Variant,
} from './subscription.ts';
import { searchText } from './subscription.ts';

/** Everything that is stored of a subscription, except the login and time of its last change. */
export type SubscriptionDetails = {
  subscription_id: number;
  subscription_number: string;
  reference_number: string | null;
  context_id: number;
  plan_id: number;
  batch_id: number;
  account_id: number;
  party_id: number;
  status: SubscriptionStatus;
  /** YYYY-MM-DD, as all dates of the row. */
  next_change_date: string | null;
  connection_date: string;
  disconnection_kind: DisconnectionKind | null;
  billed_through: string | null;
  is_metered: boolean;
  has_quantities: boolean;
  description: string | null;
  payment_method: string | null;
  project_name: string | null;
  address: object | null;
  plan_history: PlanStep[];
  status_history: StatusStep[];
  connection_inputs: InputValue[];
  quantities: Quantity[];
  variants: Variant[];
  add_ons: AddOn[];
  users: SubscriptionUser[];
  transfers: Transfer[];
  documents: string[];
};

export type SubscriptionRow = SubscriptionDetails & {
  created_at: Temporal.Instant;
  created_by: string;
  modified_at: Temporal.Instant;
  modified_by: string;
  ts: number;
};

const factColumns = [
  ['subscription_id', 'bigint'],
  ['subscription_number', 'text'],
  ['reference_number', 'text'],
  ['context_id', 'bigint'],
  ['plan_id', 'bigint'],
  ['batch_id', 'bigint'],
  ['account_id', 'bigint'],
  ['party_id', 'bigint'],
  ['status', 'text'],
  ['next_change_date', 'date'],
  ['connection_date', 'date'],
  ['disconnection_kind', 'text'],
  ['billed_through', 'date'],
  ['is_metered', 'boolean'],
  ['has_quantities', 'boolean'],
  ['description', 'text'],
  ['payment_method', 'text'],
  ['project_name', 'text'],
  ['address', 'jsonb'],
  ['plan_history', 'jsonb'],
  ['status_history', 'jsonb'],
  ['connection_inputs', 'jsonb'],
  ['quantities', 'jsonb'],
  ['variants', 'jsonb'],
  ['add_ons', 'jsonb'],
  ['users', 'jsonb'],
  ['transfers', 'jsonb'],
  ['documents', 'jsonb'],
] as const satisfies readonly (readonly [keyof SubscriptionDetails, string])[];

const names = factColumns.map(([name]) => name);
const columns = sql.raw(
  `${names.join(', ')}, created_at, created_by, modified_at, modified_by, ts`,
);

/** What an update leaves as it is stored. */
const fixed = new Set<string>([
  'subscription_id',
  'subscription_number',
  'context_id',
  // Follows its meters.
  'is_metered',
]);

export async function insertSubscriptions(
  tx: Tx,
  tenantId: number,
  subscriptions: readonly SubscriptionDetails[],
  stamp: Stamp,
): Promise<void> {
  const rows = subscriptions.map(stored);
  const read = sql.raw(names.map((name) => `r.${name}`).join(', '));
  await sql`
    insert into subscriptions (
      tenant_id, ${sql.raw(names.join(', '))}, search_text,
      created_at, created_by, modified_at, modified_by, ts
    )
    select own.tenant_id, ${read}, r.search_text,
      ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by}, ${stamp.at.epochMilliseconds}::bigint
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (${recordColumns})
  `
    .execute(tx)
    .catch((error) => rethrowViolation(error, taken));
}

const recordColumns = sql.raw(
  [...factColumns.map((column) => column.join(' ')), 'search_text text'].join(', '),
);

/** null in JSON would become a jsonb null, which is no address. */
function stored(facts: SubscriptionDetails) {
  const { subscription_number: number, reference_number, project_name } = facts;
  const words = { number, referenceNumber: reference_number, projectName: project_name };
  return {
    ...facts,
    address: facts.address ?? undefined,
    search_text: searchText(folded, words),
  };
}

/** Creates hold each other off and look first; only a change at the same time comes this far. */
const taken = {
  subscriptions_number_key: () =>
    new AppError('DUPLICATE', {
      message: 'A subscription has this number already',
      field: 'connection.connectionNumber',
    }),
  subscriptions_reference_key: () =>
    new AppError('DUPLICATE', {
      message: 'A subscription has this connectionRefNo already',
      field: 'connection.connectionRefNo',
    }),
};

export async function lockSubscription(
  tx: Tx,
  tenantId: number,
  number: string,
): Promise<SubscriptionRow | undefined> {
  const { rows } = await sql<SubscriptionRow>`
    select ${columns}
    from subscriptions
    where tenant_id = ${tenantId} and subscription_number = ${number}
    for no key update
  `.execute(tx);
  return rows[0];
}

/** Stores a changed subscription; its number and context stay. */
export async function updateSubscription(
  tx: Tx,
  tenantId: number,
  facts: SubscriptionDetails,
  stamp: Stamp,
): Promise<SubscriptionRow> {
  const changing = names.filter((name) => !fixed.has(name));
  const sets = changing.map((name) => `${name} = r.${name}`).join(', ');
  const { rows } = await sql<SubscriptionRow>`
    update subscriptions s
    set ${sql.raw(sets)}, search_text = r.search_text,
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(s.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    from jsonb_to_recordset(${JSON.stringify([stored(facts)])}::jsonb) as r (${recordColumns})
    where s.tenant_id = ${tenantId} and s.subscription_id = r.subscription_id
    returning ${returned}
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        subscriptions_reference_key: () =>
          new AppError('DUPLICATE', {
            message: `Another subscription has the connectionRefNo ${facts.reference_number}`,
            field: 'data.connectionRefNo',
          }),
        subscriptions_status_step: () =>
          new AppError('INVALID_STATE', {
            message: `Subscription ${facts.subscription_number} cannot become ${facts.status}`,
          }),
      }),
    );
  const row = rows[0];
  if (!row) throw new Error('the locked subscription is gone');
  return row;
}

const returned = sql.raw(
  [...names, 'created_at', 'created_by', 'modified_at', 'modified_by', 'ts']
    .map((name) => `s.${name}`)
    .join(', '),
);

export type UniqueInput = {
  subscriptionId: number;
  contextId: number;
  name: string;
  value: string;
};

export async function insertUniqueInputs(
  tx: Tx,
  tenantId: number,
  inputs: readonly UniqueInput[],
): Promise<void> {
  if (inputs.length === 0) return;
  await sql`
    insert into subscription_unique_inputs (tenant_id, context_id, name, value, subscription_id)
    select own.tenant_id, r."contextId", r.name, r.value, r."subscriptionId"
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(inputs)}::jsonb) as r (
      "contextId" bigint, name text, value text, "subscriptionId" bigint
    )
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        subscription_unique_inputs_pkey: () =>
          new AppError('CONNECTION_INPUTS_MISMATCH', {
            message: 'Another subscription has the same value of a field that is unique',
          }),
      }),
    );
}

export async function deleteUniqueInputs(
  tx: Tx,
  tenantId: number,
  subscriptionId: number,
): Promise<void> {
  await sql`
    delete from subscription_unique_inputs
    where tenant_id = ${tenantId} and subscription_id = ${subscriptionId}
  `.execute(tx);
}

export type Balances = { receivable: number; deposit: number; disputed: number };

/** What the entries on a subscription add up to for one party. */
export async function findBalances(
  tx: Tx,
  tenantId: number,
  key: { subscriptionId: number; partyId: number },
): Promise<Balances> {
  const { rows } = await sql<Balances>`
    select receivable, deposit, disputed
    from subscription_balances
    where tenant_id = ${tenantId} and subscription_id = ${key.subscriptionId}
      and party_id = ${key.partyId}
    for no key update
  `.execute(tx);
  return rows[0] ?? { receivable: 0, deposit: 0, disputed: 0 };
}
