// The parts of a subscription that create and change share: its plan, add-ons and users.
import { formatDate } from '../../base/calendar.ts';
import type { ErrorDetail } from '../../base/errors.ts';
import { exactFrom } from '../../base/numbers/decimal-text.ts';
import { compare, zero } from '../../base/numbers/exact.ts';
import type { PartyInUse, PlanChoice } from './lookups-store.ts';
import type { GivenAddOn, GivenUser } from './new-subscription.ts';
import { type AddOn, problem, type SubscriptionUser, type UserRole } from './subscription.ts';

/** Why a party cannot take a plan. */
export function planProblem(
  field: string,
  plan: PlanChoice,
  ownerId: number | undefined,
): ErrorDetail | undefined {
  const { code } = plan;
  if (plan.abstract) {
    return problem(field, 'PLAN_ABSTRACT', `Plan ${code} is a template for others`, code);
  }
  if (plan.plan_type === 'ADDON_PLAN') {
    return problem(field, 'PLAN_NOT_BASE', `Plan ${code} is an add-on`, code);
  }
  if (plan.visibility === 'Hidden' || plan.archived) {
    const word = plan.archived ? 'archived' : 'hidden';
    return problem(field, 'PLAN_NOT_AVAILABLE', `Plan ${code} is ${word}`, code);
  }
  if (plan.made_for !== null && ownerId !== undefined && plan.made_for !== ownerId) {
    const message = `Plan ${code} was made for another party`;
    return problem(field, 'PLAN_NOT_AVAILABLE', message, code);
  }
  return undefined;
}

/** The add-ons that were named, each from its day on. */
export function checkAddOns(
  field: string,
  given: readonly GivenAddOn[],
  plans: readonly PlanChoice[],
  beginning: Temporal.PlainDate,
): { addOns: AddOn[]; problems: ErrorDetail[] } {
  const addOns: AddOn[] = [];
  const problems: ErrorDetail[] = [];
  for (const [index, { label, quantity, fromDate }] of given.entries()) {
    const place = `${field}[${index}]`;
    const plan = plans.find((one) => one.unique_label === label);
    const isOffered =
      plan?.plan_type === 'ADDON_PLAN' &&
      !plan.abstract &&
      !plan.archived &&
      plan.visibility !== 'Hidden';
    if (!plan || !isOffered) {
      const message = `The pricing context offers no add-on with the label ${label}`;
      problems.push(problem(place, 'ADDON_NOT_FOUND', message, label));
    } else if (addOns.some((one) => one.planId === plan.plan_id)) {
      problems.push(problem(place, 'DUPLICATE', `The add-on ${label} appears twice`, label));
    } else if (fromDate && Temporal.PlainDate.compare(fromDate, beginning) < 0) {
      const message = `${formatDate(fromDate)} is before ${formatDate(beginning)}`;
      problems.push(problem(`${place}.fromDate`, 'INVALID_DATE', message, formatDate(fromDate)));
    } else if (!isCount(quantity)) {
      const message = `${label} needs a quantity that is a number and not below zero`;
      problems.push(problem(`${place}.quantity`, 'INVALID_NUMBER', message, quantity));
    } else {
      const from = fromDate ?? beginning;
      addOns.push({ planId: plan.plan_id, quantity, fromDate: from.toString() });
    }
  }
  return { addOns, problems };
}

/** Whether a text is a usable count of an add-on; bills cannot use one such as 1e-7. */
function isCount(quantity: string): boolean {
  const number = exactFrom(quantity);
  return number !== undefined && compare(number, zero) >= 0;
}

export type NamedUser = GivenUser & { party: PartyInUse; role: UserRole; place: string };

/** Finds the named parties and gives each a role; the first is the owner. */
export function nameUsers(
  field: string,
  given: readonly GivenUser[],
  parties: readonly PartyInUse[],
  known: { hasOwner: boolean } = { hasOwner: false },
): { users: NamedUser[]; problems: ErrorDetail[] } {
  const users: NamedUser[] = [];
  const problems: ErrorDetail[] = [];
  const hasOwner = known.hasOwner || given.some((user) => user.role === 'Owner');
  for (const [index, user] of given.entries()) {
    const place = user.place ?? `${field}[${index}]`;
    const found = findParty(place, user, parties);
    if ('code' in found) problems.push(found);
    else {
      const isFirst = index === 0 && !hasOwner;
      const role = user.role ?? (isFirst ? 'Owner' : 'Contact');
      users.push({ ...user, party: found, role, place });
    }
  }
  return { users, problems };
}

function findParty(
  place: string,
  { partyId, partyNumber }: GivenUser,
  parties: readonly PartyInUse[],
): PartyInUse | ErrorDetail {
  const byId = parties.find((party) => party.party_id === partyId);
  const byNumber = parties.find((party) => party.party_number === partyNumber);
  if (partyId === null && partyNumber === null) {
    return problem(place, 'REQUIRED_FIELD', 'Send partyID or partyNumber');
  }
  if (partyId !== null && !byId) {
    return problem(
      `${place}.partyID`,
      'PARTY_NOT_FOUND',
      `No party has the id ${partyId}`,
      partyId,
    );
  }
  if (partyNumber !== null && !byNumber) {
    const message = `No party has the number ${partyNumber}`;
    return problem(`${place}.partyNumber`, 'PARTY_NOT_FOUND', message, partyNumber);
  }
  if (byId && byNumber && byId !== byNumber) {
    const message = 'partyID and partyNumber name different parties';
    return problem(`${place}.partyNumber`, 'PARTY_KEY_MISMATCH', message, partyNumber);
  }
  const party = (byId ?? byNumber) as PartyInUse;
  if (!party.archived) return party;
  const key = partyId === null ? 'partyNumber' : 'partyID';
  const message = `Party ${party.party_number} is archived`;
  return problem(`${place}.${key}`, 'PARTY_ARCHIVED', message);
}

/** A party is named once for each role. */
export function userProblems(users: readonly NamedUser[]): ErrorDetail[] {
  const seen = new Set<string>();
  return users.flatMap(({ party, role, place }) => {
    const key = `${party.party_id} ${role}`;
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [problem(place, 'DUPLICATE', `Party ${party.party_number} is ${role} twice`)];
  });
}

export function storedUser(user: NamedUser, beginning: Temporal.PlainDate): SubscriptionUser {
  const fromDate = (user.fromDate ?? beginning).toString();
  return { partyId: user.party.party_id, role: user.role, fromDate };
}
