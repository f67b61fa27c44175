// All problems of a new subscription, by itself and with what it refers to.
import { formatCompactDate, formatDate } from '../../base/calendar.ts';
import { type ErrorDetail, errorCodes } from '../../base/errors.ts';
import { LookupError } from '../../base/formula/function-kinds.ts';
import { ArithmeticError } from '../../base/numbers/exact.ts';
import { builtInBatch } from '../pricing/context.ts';
import { RatingError } from '../rating/rating-error.ts';
import {
  checkInputs,
  checkQuantities,
  missingQuantities,
  repeatedVariants,
  variantProblem,
} from './check-inputs.ts';
import {
  checkAddOns,
  type NamedUser,
  nameUsers,
  planProblem,
  storedUser,
  userProblems,
} from './check-parts.ts';
import { depositDemands } from './deposits.ts';
import type { PartyInUse, PlanChoice } from './lookups-store.ts';
import type {
  DepositDemand,
  Draft,
  KnownContext,
  RowReferences,
  WantedSubscription,
} from './new-subscription.ts';
import { type PendingKind, problem, type StatusStep } from './subscription.ts';

export type CreateOptions = { isBulk: boolean; today: Temporal.PlainDate };

/** Further back than this, an ordinary subscription is a slip of the finger. */
const daysBackMax = 366;

/** A row with its problems, or what will be stored of it. */
export function checkRow(
  wanted: WantedSubscription,
  known: RowReferences,
  options: CreateOptions,
  problems: ErrorDetail[],
): Draft | undefined {
  const { field } = wanted;
  const before = problems.length;
  const connectionDate = wanted.connectionDate ?? options.today;
  problems.push(...bulkProblems(wanted, connectionDate, options));
  const owner = checkUsers(wanted, known, { connectionDate, today: options.today }, problems);
  const context = known.contexts.get(wanted.contextCode);
  if (!context) {
    const message = `No pricing context has the code ${wanted.contextCode}`;
    const { contextCode } = wanted;
    problems.push(problem(`${field}.serviceCode`, 'SERVICE_NOT_FOUND', message, contextCode));
    return undefined;
  }
  problems.push(...contextProblems(wanted, context));
  const plan = checkPlan(wanted, known, context, owner?.party, problems);
  const batch = checkBatch(wanted, known, context, problems);
  const parts = checkParts(wanted, known, context, connectionDate, options, problems);
  if (problems.length > before || !plan || !batch || !owner) return undefined;
  const isExisting = isOldCustomer(wanted, connectionDate, options);
  const draft: Draft = {
    wanted,
    context,
    plan,
    batch,
    owner: owner.party,
    accountLabel: owner.accountLabel,
    users: owner.users.map((user) => storedUser(user, connectionDate)),
    connectionDate,
    billedThrough: billedThroughOf(wanted, connectionDate, options),
    statusHistory: [],
    ...parts,
    deposits: [],
  };
  if (!isExisting) draft.deposits = demandsOf(draft, problems);
  draft.statusHistory = firstStatus(draft, isExisting, options.today);
  return draft;
}

/** What only a bulk load may say, and dates that do not go together. */
function bulkProblems(
  wanted: WantedSubscription,
  connectionDate: Temporal.PlainDate,
  { isBulk, today }: CreateOptions,
): ErrorDetail[] {
  const { field } = wanted;
  const problems: ErrorDetail[] = [];
  if (!isBulk) {
    const given = [
      ['connectionNumber', wanted.number],
      ['status', wanted.status],
      ['billedThrough', wanted.billedThrough],
    ] as const;
    for (const [name, value] of given) {
      if (value === null) continue;
      const message = `${name} is for bulk loads: send batchUpload: true`;
      problems.push(problem(`${field}.${name}`, 'BATCH_UPLOAD_REQUIRED', message));
    }
    if (wanted.balances.length > 0) {
      const message = errorCodes.OPENING_BALANCE_NOT_ALLOWED.summary;
      problems.push(problem(`${field}.accounts`, 'OPENING_BALANCE_NOT_ALLOWED', message));
    }
    const earliest = today.subtract({ days: daysBackMax });
    if (Temporal.PlainDate.compare(connectionDate, earliest) < 0) {
      const message = `The connection date is more than ${daysBackMax} days back`;
      problems.push(problem(`${field}.connectionDate`, 'DATE_TOO_FAR_BACK', message));
    }
  }
  const isAhead = Temporal.PlainDate.compare(connectionDate, today) > 0;
  if (isAhead && wanted.status !== null && wanted.status !== 'Pending') {
    const message = `A subscription that begins on ${formatDate(connectionDate)} is Pending`;
    problems.push(problem(`${field}.connectionDate`, 'DATE_IN_FUTURE', message));
  }
  const { billedThrough } = wanted;
  const dayBefore = connectionDate.subtract({ days: 1 });
  if (isBulk && billedThrough && Temporal.PlainDate.compare(billedThrough, dayBefore) < 0) {
    const message = 'Nothing was billed before the connection date';
    const sent = formatCompactDate(billedThrough);
    problems.push(problem(`${field}.billedThrough`, 'INVALID_DATE', message, sent));
  }
  return problems;
}

type Owner = { party: PartyInUse; accountLabel: string | null; users: NamedUser[] };

function checkUsers(
  wanted: WantedSubscription,
  known: RowReferences,
  days: { connectionDate: Temporal.PlainDate; today: Temporal.PlainDate },
  problems: ErrorDetail[],
): Owner | undefined {
  const field = `${wanted.field}.users`;
  const isNamed =
    wanted.users.some((user) => user.role === 'Owner') || wanted.users[0]?.role === null;
  // connection.partyID is another way to name the owner.
  const alone = { partyNumber: null, role: 'Owner', accountLabel: null, fromDate: null } as const;
  const given =
    wanted.partyId !== null && !isNamed
      ? [...wanted.users, { partyId: wanted.partyId, ...alone, place: wanted.field }]
      : wanted.users;
  const named = nameUsers(field, given, known.parties);
  problems.push(...named.problems, ...userProblems(named.users));
  if (named.problems.length > 0) return undefined;
  const owners = named.users.filter((user) => user.role === 'Owner');
  const [owner] = owners;
  if (!owner || owners.length > 1) {
    const message = owner ? 'Only one of the users can be the owner' : 'Name the owner in users';
    problems.push(problem(field, 'OWNER_REQUIRED', message));
    return undefined;
  }
  if (wanted.partyId !== null && owner.party.party_id !== wanted.partyId) {
    const message = 'partyID and the owner in users are different parties';
    problems.push(problem(`${wanted.field}.partyID`, 'PARTY_KEY_MISMATCH', message));
  }
  // Until then the subscription would have no owner, and could not be transferred.
  const latest = later(days.connectionDate, days.today);
  if (owner.fromDate && Temporal.PlainDate.compare(owner.fromDate, latest) > 0) {
    const message = `The owner must have it from ${formatDate(latest)} on or earlier`;
    const sent = formatDate(owner.fromDate);
    problems.push(problem(`${owner.place}.fromDate`, 'INVALID_DATE', message, sent));
  }
  return { party: owner.party, accountLabel: owner.accountLabel, users: named.users };
}

function later(a: Temporal.PlainDate, b: Temporal.PlainDate): Temporal.PlainDate {
  return Temporal.PlainDate.compare(a, b) > 0 ? a : b;
}

function contextProblems(wanted: WantedSubscription, { row }: KnownContext): ErrorDetail[] {
  const { field, postType } = wanted;
  const problems: ErrorDetail[] = [];
  if (row.archived) {
    const message = `Pricing context ${row.code} is archived`;
    problems.push(problem(`${field}.serviceCode`, 'SERVICE_ARCHIVED', message, row.code));
  }
  if (postType !== row.post_type) {
    const message = `postType must be '${row.post_type}' for service ${row.code}`;
    const wrong = problem(`${field}.postType`, 'POST_TYPE_MISMATCH', message, postType);
    problems.push({ ...wrong, allowed: [row.post_type] });
  }
  return problems;
}

function checkPlan(
  wanted: WantedSubscription,
  known: RowReferences,
  { row }: KnownContext,
  owner: PartyInUse | undefined,
  problems: ErrorDetail[],
): PlanChoice | undefined {
  const field = `${wanted.field}.tariffCode`;
  const plan = known.plans.find(
    (one) => one.context_id === row.context_id && one.code === wanted.planCode,
  );
  if (!plan) {
    const message = `${row.code} has no plan with the code ${wanted.planCode}`;
    problems.push(problem(field, 'PLAN_NOT_FOUND', message, wanted.planCode));
    return undefined;
  }
  const wrong = planProblem(field, plan, owner?.party_id);
  if (wrong) problems.push(wrong);
  return plan;
}

function checkBatch(
  wanted: WantedSubscription,
  known: RowReferences,
  { row }: KnownContext,
  problems: ErrorDetail[],
) {
  const code = wanted.batchCode ?? builtInBatch;
  const batch = known.batches.find(
    (one) => one.context_id === row.context_id && one.code === code && !one.archived,
  );
  if (batch) return batch;
  const message = `${row.code} has no batch with the code ${code} that takes subscriptions`;
  problems.push(problem(`${wanted.field}.batchCode`, 'BATCH_NOT_FOUND', message, code));
  return undefined;
}

function checkParts(
  wanted: WantedSubscription,
  known: RowReferences,
  context: KnownContext,
  connectionDate: Temporal.PlainDate,
  { today }: CreateOptions,
  problems: ErrorDetail[],
) {
  const { field } = wanted;
  const isAhead = Temporal.PlainDate.compare(connectionDate, today) > 0;
  const definition = context.definitionOn(isAhead ? connectionDate : today);
  const fields = checkInputs(
    `${field}.connectionInputs`,
    definition.connectionInputs ?? [],
    wanted.inputs,
  );
  const agreed = definition.unmeteredInputs ?? [];
  const place = `${field}.unmeteredInputs`;
  const { quantities, ...wrong } = checkQuantities(
    place,
    agreed,
    wanted.quantities,
    connectionDate,
  );
  const plans = known.plans.filter((plan) => plan.context_id === context.row.context_id);
  const addOns = checkAddOns(`${field}.addonTariffLabels`, wanted.addOns, plans, connectionDate);
  const variants = wanted.variants.flatMap((variant, index) => {
    return variantProblem(`${field}.variants[${index}]`, definition, variant) ?? [];
  });
  problems.push(...fields.problems, ...wrong.problems, ...addOns.problems, ...variants);
  problems.push(...repeatedVariants(`${field}.variants`, wanted.variants));
  if (wrong.problems.length === 0) {
    problems.push(...missingQuantities(place, agreed, quantities));
  }
  return {
    inputs: fields.inputs,
    uniqueInputs: fields.unique,
    quantities,
    addOns: addOns.addOns,
    variants: [...wanted.variants],
  };
}

/** Customers who are migrated from another system need no papers and no deposit. */
function isOldCustomer(
  wanted: WantedSubscription,
  connectionDate: Temporal.PlainDate,
  { isBulk, today }: CreateOptions,
): boolean {
  if (!isBulk) return false;
  const isPast = Temporal.PlainDate.compare(connectionDate, today) < 0;
  return isPast || wanted.balances.some(({ title }) => title === 'Security Deposit');
}

/** The day before it begins; after a bulk load the first term says. */
function billedThroughOf(
  wanted: WantedSubscription,
  connectionDate: Temporal.PlainDate,
  { isBulk }: CreateOptions,
): Temporal.PlainDate | null {
  if (isBulk) return wanted.billedThrough;
  return connectionDate.subtract({ days: 1 });
}

function demandsOf(draft: Draft, problems: ErrorDetail[]): DepositDemand[] {
  try {
    return depositDemands(draft);
  } catch (error) {
    const isRating =
      error instanceof RatingError ||
      error instanceof ArithmeticError ||
      error instanceof LookupError;
    if (!isRating) throw error;
    const field = `${draft.wanted.field}.tariffCode`;
    const message = `The security deposit cannot be computed: ${error.message}`;
    problems.push(problem(field, 'DEFINITION_INVALID', message));
    return [];
  }
}

function firstStatus(draft: Draft, isExisting: boolean, today: Temporal.PlainDate): StatusStep[] {
  const { wanted, connectionDate } = draft;
  const fromDate = connectionDate.toString();
  const isAhead = Temporal.PlainDate.compare(connectionDate, today) > 0;
  const waitsFor = isExisting || wanted.status === 'Active' ? undefined : obstacleOf(draft);
  if (waitsFor) return [{ status: 'Pending', fromDate: today.toString(), kind: waitsFor }];
  if (isAhead) {
    const pending: StatusStep = { status: 'Pending', fromDate: today.toString(), kind: 'Date' };
    return [pending, { status: 'Active', fromDate }];
  }
  switch (wanted.status) {
    case 'Disconnected':
      return [{ status: 'Disconnected', fromDate, kind: 'Temporary' }];
    case 'Pending':
      return [{ status: 'Pending', fromDate, kind: 'Request' }];
    case 'Closed':
      return [{ status: 'Closed', fromDate }];
    default:
      return [{ status: 'Active', fromDate }];
  }
}

/** What the context requires before a subscription is active. */
function obstacleOf({ wanted, context, deposits, connectionDate }: Draft): PendingKind | undefined {
  const needed = context.row.required_documents ?? [];
  if (needed.some((name) => !wanted.documents.includes(name))) return 'Documents';
  const definition = context.definitionOn(connectionDate) as { requireDeposit?: number };
  return definition.requireDeposit === 1 && deposits.length > 0 ? 'Deposit' : undefined;
}
