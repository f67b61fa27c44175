// Changing the facts of a subscription, and serving one that was waiting.

import { isDeepStrictEqual } from 'node:util';
import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../../base/stamp.ts';
import { ensureAccounts } from '../parties/accounts.ts';
import { listAccountsByLabels } from '../parties/accounts-store.ts';
import { builtInBatch } from '../pricing/context.ts';
import { activate } from './activate.ts';
import {
  assertState,
  type Changed,
  type ChangeKey,
  type Changing,
  lockForChange,
  lockOwner,
} from './changes.ts';
import { checkInputs, type GivenInput, type GivenQuantity } from './check-inputs.ts';
import { findTaken, inputKey, listBatchChoices } from './lookups-store.ts';
import type { GivenAddOn, GivenUser } from './new-subscription.ts';
import { refusal } from './refusal.ts';
import { contextOf, type Workspace } from './resolve.ts';
import {
  deleteUniqueInputs,
  insertUniqueInputs,
  type SubscriptionRow,
  updateSubscription,
} from './store.ts';
import { problem, type Variant } from './subscription.ts';
import { changeAddOns, changeQuantities, changeUsers, changeVariants } from './update-parts.ts';

/** What is absent stays as it is. */
export type SubscriptionChange = ChangeKey & {
  facts: Partial<
    Pick<
      SubscriptionRow,
      'description' | 'reference_number' | 'payment_method' | 'project_name' | 'address'
    >
  >;
  batchCode: string | null | undefined;
  accountLabel: string | undefined;
  inputs: readonly GivenInput[] | undefined;
  quantities: readonly GivenQuantity[] | undefined;
  users: readonly GivenUser[] | undefined;
  variants: readonly Variant[] | undefined;
  addOns: readonly GivenAddOn[] | undefined;
  documents: readonly string[] | undefined;
  activate: boolean;
  /** Past an unpaid deposit; the caller may do that. */
  isForced: boolean;
  today: Temporal.PlainDate;
};

export async function changeSubscription(
  tx: Tx,
  workspace: Workspace,
  change: SubscriptionChange,
  stamp: Stamp,
): Promise<Changed> {
  const { tenantId } = workspace;
  const { today } = change;
  const before = await lockForChange(tx, tenantId, change);
  assertState(before, today, ['Pending', 'Active', 'Disconnected']);
  const context = await contextOf(tx, workspace, before.context_id);
  const changing: Changing = {
    tx,
    tenantId,
    row: before,
    definition: context.definitionOn(today),
    beginning: firstUnbilled(before, today),
    today,
    stamp,
    problems: [],
  };
  const wanted = await changedFacts(changing, change);
  if (changing.problems.length > 0) throw refusal(changing.problems, false);
  if (change.activate) await lockOwner(tx, tenantId, before, 'data.activate');
  const ready = change.activate
    ? await activate(tx, tenantId, wanted, { ...change, context: context.row })
    : wanted;
  if (isDeepStrictEqual(ready, before)) return { before, after: before };
  const after = await updateSubscription(tx, tenantId, ready, stamp);
  return { before, after };
}

function firstUnbilled(row: SubscriptionRow, today: Temporal.PlainDate): Temporal.PlainDate {
  const days = [today, Temporal.PlainDate.from(row.connection_date)];
  if (row.billed_through !== null) {
    days.push(Temporal.PlainDate.from(row.billed_through).add({ days: 1 }));
  }
  return days.reduce((a, b) => (Temporal.PlainDate.compare(a, b) >= 0 ? a : b));
}

async function changedFacts(
  changing: Changing,
  change: SubscriptionChange,
): Promise<SubscriptionRow> {
  const { row } = changing;
  const users = change.users ? await changeUsers(changing, change.users) : row.users;
  const addOns = change.addOns ? await changeAddOns(changing, change.addOns) : row.add_ons;
  const quantities = change.quantities
    ? changeQuantities(changing, change.quantities)
    : row.quantities;
  return {
    ...row,
    ...change.facts,
    batch_id: await batchOf(changing, change),
    account_id: await accountOf(changing, change),
    users,
    add_ons: addOns,
    quantities,
    has_quantities: quantities.length > 0,
    variants: change.variants ? changeVariants(changing, change.variants) : row.variants,
    connection_inputs: change.inputs
      ? await changeInputs(changing, change.inputs)
      : row.connection_inputs,
    documents: change.documents ? [...change.documents] : row.documents,
  };
}

async function batchOf(
  { tx, tenantId, row, problems }: Changing,
  { batchCode }: SubscriptionChange,
): Promise<number> {
  if (batchCode === undefined) return row.batch_id;
  const code = batchCode ?? builtInBatch;
  const wanted = { contextIds: [row.context_id], codes: [code] };
  const [batch] = await listBatchChoices(tx, tenantId, wanted);
  if (batch && (!batch.archived || batch.batch_id === row.batch_id)) return batch.batch_id;
  const message = `The pricing context has no batch with the code ${code}`;
  problems.push(problem('data.batchCode', 'BATCH_NOT_FOUND', message, code));
  return row.batch_id;
}

async function accountOf(
  { tx, tenantId, row, stamp }: Changing,
  { accountLabel }: SubscriptionChange,
): Promise<number> {
  if (accountLabel === undefined) return row.account_id;
  const wanted = [{ partyId: row.party_id, label: accountLabel }];
  const [known] = await listAccountsByLabels(tx, tenantId, wanted);
  if (known) return known.accountId;
  // Of several that make it at once, the others find it.
  await lockOwner(tx, tenantId, row, 'data.connectionGroupLabel');
  const [accountId] = await ensureAccounts(tx, tenantId, wanted, stamp);
  return accountId ?? row.account_id;
}

async function changeInputs(
  changing: Changing,
  given: readonly GivenInput[],
): Promise<SubscriptionRow['connection_inputs']> {
  const { tx, tenantId, row, definition, problems } = changing;
  const field = 'data.connectionInputs';
  const checked = checkInputs(field, definition.connectionInputs ?? [], given);
  problems.push(...checked.problems);
  if (checked.problems.length > 0) return row.connection_inputs;
  await deleteUniqueInputs(tx, tenantId, row.subscription_id);
  const unique = checked.unique.map(({ name, value, field: place }) => ({
    subscriptionId: row.subscription_id,
    contextId: row.context_id,
    name,
    value,
    place,
  }));
  const { inputs: taken } = await findTaken(tx, tenantId, {
    numbers: [],
    references: [],
    inputs: unique,
  });
  for (const input of unique.filter((one) => taken.has(inputKey(one)))) {
    const message = `A subscription has ${input.value} already`;
    problems.push(problem(input.place, 'INVALID_INPUT_VALUE', message, input.value));
  }
  if (problems.length === 0) await insertUniqueInputs(tx, tenantId, unique);
  return checked.inputs;
}
