// The parts of a subscription that have a history. Billed days never change: an item that is left
// out of a list ends, and a new one begins, on a day that is not billed yet.
import { wireDay } from '../../base/days.ts';

import type { Changing } from './changes.ts';
import {
  checkQuantities,
  type GivenQuantity,
  missingQuantities,
  repeatedVariants,
  variantProblem,
} from './check-inputs.ts';
import { checkAddOns, nameUsers, storedUser, userProblems } from './check-parts.ts';
import { isOwnValue } from './facts.ts';
import { listPlanChoices, lockPartiesInUse } from './lookups-store.ts';
import type { GivenAddOn, GivenUser } from './new-subscription.ts';
import {
  type AddOn,
  problem,
  type Quantity,
  type SubscriptionUser,
  type Variant,
} from './subscription.ts';

/** Whether an item that began earlier and has no end holds on a day. */
function isOpen(item: { toDate?: string }, day: string): boolean {
  return item.toDate === undefined || item.toDate > day;
}

function pushBilled({ problems, row }: Changing, field: string, date: string): void {
  const through = row.billed_through ?? '';
  const message = `${row.subscription_number} is billed up to ${wireDay(through)}`;
  problems.push(problem(field, 'DATE_IN_POSTED_TERM', message, wireDay(date)));
}

function isBilled({ row }: Changing, date: string): boolean {
  return row.billed_through !== null && date <= row.billed_through;
}

/**
 * The sent quantities of an input replace its quantities from the first sent day on. Earlier ones,
 * and inputs that are not sent, stay.
 */
export function changeQuantities(changing: Changing, given: readonly GivenQuantity[]): Quantity[] {
  const { row, definition, beginning, problems } = changing;
  const field = 'data.unmeteredInputs';
  const definitions = definition.unmeteredInputs ?? [];
  const dated = given.map((one) => ({ ...one, fromDate: one.fromDate ?? beginning }));
  const connected = Temporal.PlainDate.from(row.connection_date);
  const checked = checkQuantities(field, definitions, dated, connected);
  problems.push(...checked.problems);
  if (checked.problems.length > 0) return row.quantities;
  const known = (one: Quantity) =>
    row.quantities.some(
      (old) => old.name === one.name && old.fromDate === one.fromDate && old.value === one.value,
    );
  checked.quantities.forEach((one) => {
    if (known(one) || !isBilled(changing, one.fromDate)) return;
    const index = given.findIndex((sent) => sent.name === one.name && sent.value === one.value);
    pushBilled(changing, `${field}[${Math.max(index, 0)}].fromDate`, one.fromDate);
  });
  const firstOf = new Map<string, string>();
  for (const { name, fromDate } of checked.quantities) {
    if (!firstOf.has(name)) firstOf.set(name, fromDate);
  }
  const kept = row.quantities.filter(({ name, fromDate }) => {
    const first = firstOf.get(name);
    return first === undefined || fromDate < first || isBilled(changing, fromDate);
  });
  const added = checked.quantities.filter(
    (one) => !kept.some((old) => old.name === one.name && old.fromDate === one.fromDate),
  );
  const all = [...kept, ...added].sort((a, b) => (a.fromDate < b.fromDate ? -1 : 1));
  problems.push(...missingQuantities(field, definitions, all));
  return all;
}

/** The complete list of the customer's own values from now on. */
export function changeVariants(changing: Changing, given: readonly Variant[]): Variant[] {
  const { row, definition, beginning, stamp, problems } = changing;
  const isSame = (a: Variant, b: Variant) =>
    a.name === b.name &&
    JSON.stringify(a.value) === JSON.stringify(b.value) &&
    a.fromDate === b.fromDate;
  problems.push(...repeatedVariants('data.variants', given));
  const wanted = given.map((variant, index): Variant => {
    const field = `data.variants[${index}]`;
    const wrong = variantProblem(field, definition, variant);
    if (wrong) problems.push(wrong);
    const old = row.variants.find((one) => isSame(one, variant));
    if (!isOwnValue(variant)) return variant;
    if (old) return endedBy(changing, old, variant, field);
    const fromDate = variant.fromDate ?? beginning.toString();
    if (isBilled(changing, fromDate)) pushBilled(changing, `${field}.fromDate`, fromDate);
    return { ...variant, fromDate, createdAt: stamp.at.toString(), createdBy: stamp.by };
  });
  const end = beginning.toString();
  const ended = row.variants
    .filter((old) => isOwnValue(old) && !wanted.some((one) => isSame(one, old)))
    // An item that was to begin later is dropped.
    .filter((old) => (old.fromDate ?? row.connection_date) < end)
    .map((old) => (isOpen(old, end) ? { ...old, toDate: end } : old));
  return [...ended, ...wanted];
}

/** A value that stays, with another last day. */
function endedBy(changing: Changing, old: Variant, wanted: Variant, field: string): Variant {
  if (old.toDate === wanted.toDate) return old;
  const days = [old.toDate, wanted.toDate].filter((day) => day !== undefined);
  const earliest = days.sort()[0] ?? '';
  // The first day without it may be the one after the last billed one.
  const lastDay = earliest === '' ? '' : previousDay(earliest);
  const { billed_through: billed } = changing.row;
  if (billed !== null && lastDay !== '' && lastDay < billed) {
    pushBilled(changing, `${field}.toDate`, lastDay);
  }
  const { toDate: _, ...rest } = old;
  return wanted.toDate === undefined ? rest : { ...rest, toDate: wanted.toDate };
}

function previousDay(isoDate: string): string {
  return Temporal.PlainDate.from(isoDate).subtract({ days: 1 }).toString();
}

/** The complete list of add-ons from now on: those left out end, others begin. */
export async function changeAddOns(
  changing: Changing,
  given: readonly GivenAddOn[],
): Promise<AddOn[]> {
  const { tx, tenantId, row, beginning, problems } = changing;
  const field = 'data.addonTariffLabels';
  const plans = await listPlanChoices(tx, tenantId, {
    contextIds: [row.context_id],
    codes: [],
    labels: given.map((one) => one.label),
  });
  const end = beginning.toString();
  const held = row.add_ons.filter((one) => isOpen(one, end));
  const past = row.add_ons.filter((one) => !isOpen(one, end));
  const planOf = (label: string) => plans.find((plan) => plan.unique_label === label)?.plan_id;
  const isKept = (addOn: AddOn) =>
    given.some(
      ({ label, quantity, fromDate }) =>
        planOf(label) === addOn.planId &&
        quantity === addOn.quantity &&
        (fromDate === null || fromDate.toString() === addOn.fromDate),
    );
  const fresh = given.filter(
    (one) => !held.some((addOn) => planOf(one.label) === addOn.planId && isKept(addOn)),
  );
  const checked = checkAddOns(field, fresh, plans, Temporal.PlainDate.from(row.connection_date));
  problems.push(...checked.problems);
  const added = checked.addOns.map((addOn, index) => {
    const fromDate = fresh[index]?.fromDate?.toString() ?? end;
    const place = given.indexOf(fresh[index] as GivenAddOn);
    if (isBilled(changing, fromDate)) {
      pushBilled(changing, `${field}[${place}].fromDate`, fromDate);
    }
    return { ...addOn, fromDate };
  });
  const ended = held
    .filter((addOn) => !isKept(addOn))
    .map((addOn) => ({ addOn, last: endOf(addOn, added, end) }))
    .filter(({ addOn, last }) => addOn.fromDate < last)
    .map(({ addOn, last }) => ({ ...addOn, toDate: last }));
  return [...past, ...ended, ...held.filter(isKept), ...added];
}

/** Where another quantity of the same add-on follows, the day on which that begins. */
function endOf(addOn: AddOn, added: readonly AddOn[], otherwise: string): string {
  return added.find((one) => one.planId === addOn.planId)?.fromDate ?? otherwise;
}

/** The complete list of users from today on. The owner changes by a transfer only. */
export async function changeUsers(
  changing: Changing,
  given: readonly GivenUser[],
): Promise<SubscriptionUser[]> {
  const { tx, tenantId, row, today, problems } = changing;
  const field = 'data.users';
  const parties = await lockPartiesInUse(tx, tenantId, {
    ids: given.flatMap((user) => user.partyId ?? []),
    numbers: given.flatMap((user) => user.partyNumber ?? []),
  });
  const owner = row.users.findLast((user) => user.role === 'Owner');
  const named = nameUsers(field, given, parties, { hasOwner: true });
  problems.push(...named.problems, ...userProblems(named.users));
  for (const { role, party, place } of named.users) {
    if (role !== 'Owner' || party.party_id === row.party_id) continue;
    const message = 'The owner can be changed only with transfer-connection';
    problems.push(problem(`${place}.role`, 'OWNER_IMMUTABLE', message));
  }
  const end = today.toString();
  const held = row.users.filter((user) => isOpen(user, end));
  const past = row.users.filter((user) => !isOpen(user, end));
  const isNamed = (user: SubscriptionUser) =>
    user === owner ||
    named.users.some((one) => one.party.party_id === user.partyId && one.role === user.role);
  const added = named.users
    .filter((one) => one.role !== 'Owner')
    .filter(
      (one) => !held.some((user) => user.partyId === one.party.party_id && user.role === one.role),
    )
    .map((one) => storedUser(one, today));
  // A user that was to begin today or later never had the subscription.
  const ended = held
    .filter((user) => !isNamed(user) && user.fromDate < end)
    .map((user) => ({ ...user, toDate: end }));
  return [...past, ...ended, ...held.filter(isNamed), ...added];
}
