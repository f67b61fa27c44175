// Reads the inputs of the bills for a range of billed units: the same few statements
// whatever their number.

import { parseDay, storedDay } from '../../../base/days.ts';
import { withHashJoins } from '../../../base/db/hash-joins.ts';
import type { Tx } from '../../../base/db/pool.ts';
import type { PinnedBook } from '../../pricing/price-books.ts';
import type { CompiledPlan } from '../../rating/compile/compiled-plan.ts';
import { namesRead } from '../../rating/compile/names-read.ts';
import { compiledPlanOn, contextOn } from '../../rating/compile/price-book.ts';
import { isCutByPrices } from '../../rating/periods/segments.ts';
import { RatingError } from '../../rating/rating-error.ts';
import { type EarlierTermRow, listTermsByIds } from '../../terms/list-store.ts';
import type { Term } from '../../terms/store.ts';
import type { MakeScope } from '../generate/make-bill.ts';
import {
  type AccountStatusRow,
  listAccountStatuses,
  listOwnBills,
} from './account-status-store.ts';
import { withQuantities } from './agreed-quantities.ts';
import type { UnitRange } from './billed-units-store.ts';
import { withCatchUp } from './catch-up.ts';
import { frozenTermOf } from './freeze.ts';
import type { Inputs } from './inputs.ts';
import { listInputsBefore } from './inputs-before-store.ts';
import {
  type BilledRow,
  listBilled,
  listFurtherReadings,
  listManualValues,
  listMeters,
  listUploadedUsage,
  listUsageBefore,
  type MeterRow,
  type ReadingRow,
  type UsageRow,
} from './inputs-store.ts';
import { overdueOf } from './overdue.ts';
import { ownerStatuses, returningOf } from './owner-status.ts';
import { listReceipts, type ReceiptRow } from './receipts-store.ts';

export type Collected = {
  scope: MakeScope;
  /** Billed units in the order of their ids, each with its subscriptions in the order of theirs. */
  units: Map<number, Inputs[]>;
};

export async function collect(
  tx: Tx,
  tenant: { tenantId: number; currencyDecimals: number },
  term: Term,
  pinned: PinnedBook,
  range: UnitRange,
): Promise<Collected> {
  const { tenantId } = tenant;
  const billed = await listBilled(tx, tenantId, term, range);
  const ids = billed.map((row) => row.subscription_id);
  const [[accountStatuses, meters], manual, usage] = await Promise.all([
    withHashJoins(tx, () =>
      Promise.all([
        listAccountStatuses(tx, tenantId, term, billed),
        listMeters(tx, tenantId, term, ids),
      ]),
    ),
    listManualValues(tx, tenantId, term.term_id, ids),
    listUploadedUsage(tx, tenantId, term.term_id, ids),
  ]);
  const accountNames = accountNamesOf(pinned);
  const [overdue, earlierTerms, ownBills] = await Promise.all([
    overdueOf(tx, tenantId, term, { billed, accountStatuses, names: accountNames }),
    earlierTermsOf(tx, tenantId, term, accountStatuses),
    listOwnBills(tx, tenantId, term, returningOf(term.end_date, billed)),
  ]);
  const before = billedBefore(earlierTerms, accountStatuses);
  const scope: MakeScope = {
    term,
    frozenTerm: frozenTermOf(term),
    currencyDecimals: tenant.currencyDecimals,
    book: pinned.book,
    planCodes: pinned.planCodes,
    planIds: pinned.planIds,
    earlierTerms,
    isRequired: requirements(term, pinned),
    accountNames,
  };
  const agreed = agreedInputs(scope);
  const taken = await withCatchUp(tx, tenantId, scope, billed, { meters, manual, usage, agreed });
  const rows = withQuantities(billed, taken.quantities, term.end_date);
  const metersOf = Map.groupBy(taken.meters, (row) => row.subscription_id);
  const readings = await furtherReadings(tx, tenantId, scope, rows, metersOf);
  const manualOf = Map.groupBy(taken.manual, (row) => row.subscription_id);
  const [usageBefore, inputsBefore] = await Promise.all([
    usageOfTermsBefore(tx, tenantId, before, taken.usage),
    readsItsBill(term, pinned) ? listInputsBefore(tx, tenantId, before) : nothing,
  ]);
  const inputsBeforeOf = new Map(inputsBefore.map((row) => [row.subscription_id, row]));
  const usageOf = usedOf([...usageBefore, ...taken.usage], agreed);
  const accountStatusOf = ownerStatuses(term.end_date, rows, accountStatuses, ownBills);
  const receiptsOf = await receiptsBySubscription(tx, tenantId, term, rows, accountStatusOf);
  const units = new Map<number, Inputs[]>();
  for (const row of rows) {
    const id = row.subscription_id;
    const inputs: Inputs = {
      row,
      accountStatus: present(accountStatusOf.get(id)),
      meters: metersOf.get(id) ?? nothing,
      readings,
      manual: manualOf.get(id) ?? nothing,
      usage: usageOf.get(id) ?? nothing,
      overdue: overdue.get(id) ?? nothing,
      receipts: receiptsOf.get(id) ?? nothing,
      inputsBefore: inputsBeforeOf.get(id) ?? null,
    };
    addTo(units, row.unit_id, inputs);
  }
  return { scope, units };
}

const nothing: readonly never[] = [];

function addTo(units: Map<number, Inputs[]>, unitId: number, inputs: Inputs): void {
  const known = units.get(unitId);
  if (known === undefined) units.set(unitId, [inputs]);
  else known.push(inputs);
}

/** Of those that have paid since their last bill. */
async function receiptsBySubscription(
  tx: Tx,
  tenantId: number,
  term: Term,
  rows: readonly BilledRow[],
  accountStatusOf: ReadonlyMap<number, AccountStatusRow>,
): Promise<ReadonlyMap<number, readonly ReceiptRow[]>> {
  const payers = rows.filter((row) => accountStatusOf.get(row.subscription_id)?.payments);
  const receipts = await listReceipts(tx, tenantId, term, payers);
  return Map.groupBy(receipts, (row) => row.subscription_id);
}

function present<Found>(found: Found | undefined): Found {
  if (found === undefined) throw new Error('a subscription has no account or no owner');
  return found;
}

/** Account figures that are looked up only where a formula reads them. */
const accountFigures = ['overdue', 'overdueAmountDays', 'wallet', 'deposit'];

function accountNamesOf({ book }: PinnedBook): ReadonlySet<string> {
  const read = namesRead(book).get('account');
  return new Set(accountFigures.filter((name) => read?.has(name)));
}

/** Names that have a value only while their bill is made. */
function readsBillNames({ book }: PinnedBook): boolean {
  const names = namesRead(book);
  return ['account', 'input', 'qty', 'connection'].some((space) => names.has(space));
}

function requirements(term: Term, { book, planCodes }: PinnedBook): MakeScope['isRequired'] {
  const day = storedDay(term.end_date);
  const byPlan = new Map<number, CompiledPlan['requiredInputs']>();
  return (planId, input, looksBack) => {
    let inputs = byPlan.get(planId);
    if (inputs === undefined) {
      const code = planCodes.get(planId) ?? '';
      inputs = safely(() => compiledPlanOn(book, code, day).requiredInputs, []);
      byPlan.set(planId, inputs);
    }
    return inputs.some((one) => one.name === input && (looksBack || !one.isPrevious));
  };
}

/** Quantities that are agreed with a subscription, as opposed to its usage. */
function agreedInputs({ book, frozenTerm }: MakeScope): ReadonlySet<string> {
  const { unmeteredInputs = [] } = contextOn(book, parseDay(frozenTerm.endDate) ?? 0).definition;
  const agreed = unmeteredInputs.filter(({ source }) => source !== 'Uploaded');
  return new Set(agreed.map(({ name }) => name));
}

function usedOf(usage: readonly UsageRow[], agreed: ReadonlySet<string>): Map<number, UsageRow[]> {
  const used = usage.filter((row) => !agreed.has(row.input));
  return Map.groupBy(used, (row) => row.subscription_id);
}

type BilledBefore = { readonly subscriptionId: number; readonly termId: number };

/** Subscriptions with the term before, where bills look back at one. */
function billedBefore(
  earlierTerms: ReadonlyMap<number, EarlierTermRow>,
  accountStatuses: readonly AccountStatusRow[],
): BilledBefore[] {
  return accountStatuses.flatMap(({ subscription_id: subscriptionId, history }) => {
    const termId = history?.[0]?.termId ?? 0;
    return earlierTerms.has(termId) ? [{ subscriptionId, termId }] : [];
  });
}

/** Whether a bill depends on inputs that only the bill itself has kept, such as metered usage. */
function readsItsBill(term: Term, pinned: PinnedBook): boolean {
  const { meteredInputs } = contextOn(pinned.book, storedDay(term.end_date)).definition;
  return (meteredInputs?.length ?? 0) > 0 || readsBillNames(pinned);
}

/** If usage of a day was uploaded again for this term, the new row counts. */
async function usageOfTermsBefore(
  tx: Tx,
  tenantId: number,
  before: readonly BilledBefore[],
  now: readonly UsageRow[],
): Promise<UsageRow[]> {
  const found = await listUsageBefore(tx, tenantId, before);
  if (found.length === 0) return found;
  const keyOf = (row: UsageRow) => `${row.subscription_id} ${row.input} ${row.usage_date}`;
  const known = new Set(now.map(keyOf));
  return found.filter((row) => !known.has(keyOf(row)));
}

/** Only bills made in advance look back at a term. */
async function earlierTermsOf(
  tx: Tx,
  tenantId: number,
  term: Term,
  accountStatuses: readonly AccountStatusRow[],
): Promise<Map<number, EarlierTermRow>> {
  if (term.bills_after_period) return new Map();
  const ids = new Set(accountStatuses.flatMap((row) => row.history?.[0]?.termId ?? []));
  const terms = await listTermsByIds(tx, tenantId, [...ids]);
  return new Map(terms.map((one) => [one.term_id, one]));
}

const graceDaysUsual = 5;

/**
 * Readings besides those locked for the term: where the term is cut, of registers that show use and
 * not a count or turned over, and where one is missing because it waits for review.
 */
async function furtherReadings(
  tx: Tx,
  tenantId: number,
  scope: MakeScope,
  rows: readonly BilledRow[],
  metersOf: ReadonlyMap<number, readonly MeterRow[]>,
): Promise<Inputs['readings']> {
  const isCut = cutFinder(scope);
  const until = Temporal.PlainDate.from(scope.term.end_date).add({ days: graceDays(scope) });
  const wanted = rows.flatMap((row) => {
    const meters = metersOf.get(row.subscription_id);
    if (meters === undefined) return [];
    const cut = isCut(row);
    return meters.flatMap((meter) => {
      const isMissing = meter.reading_date === null;
      const isPlain = meter.kind === 'Cumulative' && !meter.rollover;
      if (!cut && !isMissing && isPlain) return [];
      return [
        {
          assignmentId: meter.assignment_id,
          position: meter.position,
          from: meter.previous_date ?? meter.install_date,
          to: meter.reading_date ?? until.toString(),
        },
      ];
    });
  });
  if (wanted.length === 0) return null;
  const found = await listFurtherReadings(tx, tenantId, wanted);
  const key = (row: ReadingRow) => `${row.assignment_id}/${row.position}`;
  return Map.groupBy(found, key);
}

function graceDays({ book, frozenTerm }: MakeScope): number {
  const { definition } = contextOn(book, parseDay(frozenTerm.endDate) ?? 0);
  return (definition as { readingGraceDays?: number }).readingGraceDays ?? graceDaysUsual;
}

/** Whether the days of a subscription may fall into several segments. */
function cutFinder({ term, book, planCodes }: MakeScope): (row: BilledRow) => boolean {
  const from = storedDay(term.start_date);
  const to = storedDay(term.end_date);
  const dayBefore = Temporal.PlainDate.from(term.start_date).subtract({ days: 1 }).toString();
  const byPlan = new Map<number, boolean>();
  const isCutForAll = (planId: number) => {
    const known = byPlan.get(planId);
    if (known !== undefined) return known;
    const code = planCodes.get(planId) ?? '';
    const cut = safely(() => isCutByPrices(book, code, from, to), false);
    byPlan.set(planId, cut);
    return cut;
  };
  return (row) => {
    const first = row.billed_through ?? dayBefore;
    const isInside = (date: string | undefined) =>
      date !== undefined && date > first && date <= term.end_date;
    return (
      // A bill made in advance may divide what was used in the term before.
      !term.bills_after_period ||
      first < dayBefore ||
      row.plan_history.some(({ planId }) => isCutForAll(planId)) ||
      row.variants !== null ||
      row.add_ons !== null ||
      row.plan_history.some((one) => isInside(one.fromDate) && one !== row.plan_history[0]) ||
      (row.status_history?.some((one) => isInside(one.fromDate)) ?? false) ||
      (row.quantities?.some((one) => isInside(one.fromDate)) ?? false) ||
      (row.transfers?.some((one) => isInside(one.transferDate)) ?? false)
    );
  };
}

/** If a plan cannot be priced, each of its bills reports the error. */
function safely<Result>(ask: () => Result, otherwise: Result): Result {
  try {
    return ask();
  } catch (error) {
    if (error instanceof RatingError) return otherwise;
    throw error;
  }
}
