// Making subscriptions: one, or a bulk load of a thousand, in the same number of statements.

import type { Tx } from '../../base/db/pool.ts';
import type { ErrorCode, ErrorDetail } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';
import { installMeters, isMetered } from '../meters/assign.ts';
import type { MeterInstallation } from '../meters/installation.ts';
import { ensureAccounts } from '../parties/accounts.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import { findSettings } from '../tenants/store.ts';
import { type CreateOptions, checkRow } from './check-row.ts';
import { checkMeters } from './installations.ts';
import { findTaken, inputKey } from './lookups-store.ts';
import type { Draft, WantedSubscription } from './new-subscription.ts';
import { giveNumbers } from './numbers.ts';
import { postBeginnings } from './postings.ts';
import { refusal } from './refusal.ts';
import { resolve, type Workspace } from './resolve.ts';
import { insertSubscriptions, insertUniqueInputs, type SubscriptionDetails } from './store.ts';
import { problem, statusColumns } from './subscription.ts';

export type Created = {
  facts: SubscriptionDetails;
  draft: Draft;
  meters: readonly MeterInstallation[];
};

/** All or nothing; every row that is wrong is named. */
export async function createSubscriptions(
  tx: Tx,
  workspace: Workspace,
  wanted: readonly WantedSubscription[],
  options: CreateOptions & { isBatch: boolean },
  stamp: Stamp,
): Promise<Created[]> {
  const { tenantId } = workspace;
  const known = await resolve(tx, workspace, wanted);
  const problems: ErrorDetail[] = [];
  const drafts = wanted.map((one) => checkRow(one, known, options, problems));
  problems.push(...customPlanProblems(drafts));
  const meters = await checkMeters(tx, tenantId, drafts, problems);
  // Taking ids makes every other create in the workspace wait, so what is read after it stays true:
  // of calls with the same number or reference one succeeds, and the others are refused.
  const firstId = await takeNumbers(tx, tenantId, 'subscription', wanted.length);
  problems.push(...(await duplicates(tx, tenantId, wanted, drafts)));
  if (problems.length > 0) throw refusal(problems, options.isBatch);
  const sound = drafts.filter((draft) => draft !== undefined);
  const numbers = await numbersFor(tx, tenantId, sound, options.today);
  const labels = sound.map((draft, index) => ({
    partyId: draft.owner.party_id,
    label: draft.accountLabel ?? numbers[index] ?? '',
  }));
  const accountIds = await ensureAccounts(tx, tenantId, labels, stamp);
  const created = sound.map((draft, index) => ({
    draft,
    meters: meters[index] ?? [],
    facts: factsOf(draft, {
      id: firstId + index,
      number: numbers[index] ?? '',
      accountId: accountIds[index] ?? 0,
      isMetered: isMetered(meters[index] ?? []),
      today: options.today,
      stamp,
    }),
  }));
  await store(tx, tenantId, created, { today: options.today, stamp });
  return created;
}

async function store(
  tx: Tx,
  tenantId: number,
  created: readonly Created[],
  options: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<void> {
  const facts = created.map((one) => one.facts);
  await insertSubscriptions(tx, tenantId, facts, options.stamp);
  const unique = created.flatMap(({ draft, facts: { subscription_id: subscriptionId } }) =>
    draft.uniqueInputs.map(({ name, value }) => ({
      subscriptionId,
      contextId: draft.context.row.context_id,
      name,
      value,
    })),
  );
  await insertUniqueInputs(tx, tenantId, unique);
  const places = created.map(({ meters, facts: { subscription_id: subscriptionId } }) => ({
    subscriptionId,
    meters,
  }));
  await installMeters(tx, tenantId, places, options.stamp);
  const opened = created.map(({ draft, facts: { subscription_id: subscriptionId } }) => ({
    draft,
    subscriptionId,
  }));
  await postBeginnings(tx, tenantId, opened, options);
  await noteCreated(tx, tenantId, created, options.stamp);
}

async function noteCreated(
  tx: Tx,
  tenantId: number,
  created: readonly Created[],
  stamp: Stamp,
): Promise<void> {
  const numbersOf = (some: readonly Created[]) =>
    some.map(({ facts }) => facts.subscription_number);
  const active = created.filter(({ facts }) => facts.status === 'Active');
  const meters = created.flatMap((one) => one.meters.map(({ meter }) => meter.number));
  const events = [
    ...eventsOf('subscription.created', 'connectionNumber', numbersOf(created)),
    ...eventsOf('subscription.activated', 'connectionNumber', numbersOf(active)),
    ...eventsOf('meter.assigned', 'meterNumber', meters),
  ];
  await insertEvents(tx, tenantId, events, stamp.at);
}

/** A custom plan is one party's; two rows of one call cannot both be the first to take it. */
function customPlanProblems(drafts: readonly (Draft | undefined)[]): ErrorDetail[] {
  const ownerByPlan = new Map<number, number>();
  return drafts.flatMap((draft) => {
    if (!draft?.plan.custom) return [];
    const { plan, owner, wanted } = draft;
    const first = ownerByPlan.get(plan.plan_id) ?? owner.party_id;
    ownerByPlan.set(plan.plan_id, first);
    if (first === owner.party_id) return [];
    const message = `Plan ${plan.code} was made for another party`;
    return [problem(`${wanted.field}.tariffCode`, 'PLAN_NOT_AVAILABLE', message, plan.code)];
  });
}

/** Numbers, references and unique inputs that appear twice, here or among what is stored. */
async function duplicates(
  tx: Tx,
  tenantId: number,
  wanted: readonly WantedSubscription[],
  drafts: readonly (Draft | undefined)[],
): Promise<ErrorDetail[]> {
  const inputs = drafts.flatMap((draft) =>
    (draft?.uniqueInputs ?? []).map((input) => ({
      ...input,
      contextId: draft?.context.row.context_id ?? 0,
    })),
  );
  const numbers = wanted.flatMap(({ field, number }) =>
    number === null ? [] : [{ field: `${field}.connectionNumber`, text: number }],
  );
  const references = wanted.flatMap(({ field, referenceNumber: text }) =>
    text === null ? [] : [{ field: `${field}.connectionRefNo`, text }],
  );
  if (inputs.length + numbers.length + references.length === 0) return [];
  const taken = await findTaken(tx, tenantId, {
    numbers: numbers.map(({ text }) => text),
    references: references.map(({ text }) => text),
    inputs,
  });
  const keyed = inputs.map(({ field, value, ...key }) => ({
    field,
    value,
    text: inputKey({ ...key, value }),
  }));
  return [
    ...repeats(numbers, taken.numbers, 'DUPLICATE'),
    ...repeats(references, taken.references, 'DUPLICATE'),
    ...repeats(keyed, taken.inputs, 'INVALID_INPUT_VALUE'),
  ];
}

function repeats(
  given: readonly { field: string; text: string; value?: string }[],
  taken: ReadonlySet<string>,
  code: ErrorCode,
): ErrorDetail[] {
  const seen = new Set<string>();
  return given.flatMap(({ field, text, value = text }) => {
    const isHere = seen.has(text);
    seen.add(text);
    if (!isHere && !taken.has(text)) return [];
    const message = taken.has(text)
      ? `A subscription has ${value} already`
      : `${value} appears twice in this request`;
    return [problem(field, code, message, value)];
  });
}

async function numbersFor(
  tx: Tx,
  tenantId: number,
  drafts: readonly Draft[],
  today: Temporal.PlainDate,
): Promise<string[]> {
  const numberless = drafts.filter(({ wanted }) => wanted.number === null);
  const given = drafts.flatMap(({ wanted }) => wanted.number ?? []);
  if (numberless.length === 0) return given;
  const { connection_number_format: format } = await findSettings(tx, tenantId);
  const rows = numberless.map(({ context, batch }) => ({
    serviceCode: context.row.code,
    batchCode: batch.code,
  }));
  const options = { format, today, alsoTaken: new Set(given) };
  const made = (await giveNumbers(tx, tenantId, rows, options)).values();
  return drafts.map(({ wanted }) => wanted.number ?? made.next().value ?? '');
}

function factsOf(
  draft: Draft,
  given: {
    id: number;
    number: string;
    accountId: number;
    isMetered: boolean;
    today: Temporal.PlainDate;
    stamp: Stamp;
  },
): SubscriptionDetails {
  const { wanted, context, plan } = draft;
  const status = statusColumns(draft.statusHistory, given.today);
  const createdAt = given.stamp.at.toString();
  return {
    subscription_id: given.id,
    subscription_number: given.number,
    reference_number: wanted.referenceNumber,
    context_id: context.row.context_id,
    plan_id: plan.plan_id,
    batch_id: draft.batch.batch_id,
    account_id: given.accountId,
    party_id: draft.owner.party_id,
    status: status.status,
    next_change_date: status.nextChangeDate,
    connection_date: draft.connectionDate.toString(),
    disconnection_kind: status.disconnectionKind,
    billed_through: draft.billedThrough?.toString() ?? null,
    is_metered: given.isMetered,
    has_quantities: draft.quantities.length > 0,
    description: wanted.description,
    payment_method: wanted.paymentMethod,
    project_name: wanted.projectName,
    address: wanted.address,
    plan_history: [{ planId: plan.plan_id, fromDate: draft.connectionDate.toString() }],
    status_history: draft.statusHistory,
    connection_inputs: draft.inputs,
    quantities: draft.quantities,
    variants: draft.variants.map((variant) =>
      'value' in variant ? { ...variant, createdAt, createdBy: given.stamp.by } : variant,
    ),
    add_ons: draft.addOns,
    users: draft.users,
    transfers: [],
    documents: [...wanted.documents],
  };
}
