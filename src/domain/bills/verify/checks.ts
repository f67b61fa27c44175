// All checks of a workspace, one after the other.

import { isDeepStrictEqual } from 'node:util';
import { counted } from '../../../base/counted.ts';
import type { Tx } from '../../../base/db/pool.ts';
import { checkSeals } from '../../audit/seal.ts';
import type { PriceBook } from '../../rating/compile/price-book.ts';
import type { FrozenBillInputs } from '../../rating/frozen-inputs.ts';
import type { JobTenant } from '../../tenants/tenant.ts';
import { findTerm, type Term } from '../../terms/store.ts';
import type { StoredDocument } from '../bill-forms.ts';
import { bookedCharges, bookedUsage } from '../generate/booking.ts';
import { billHash } from '../generate/made-bill.ts';
import { findRun } from '../generate/runs-store.ts';
import { isRatedAgain } from '../re-rate.ts';
import { bookOfRun } from '../run-prices.ts';
import { areReadingsTaken, hasDatesOf } from './billed-inputs.ts';
import {
  type Counts,
  checkBalances,
  checkDays,
  checkDeliveries,
  checkEntries,
  checkJobs,
  checkJournals,
} from './checks-store.ts';
import {
  type CheckedBill,
  checkContents,
  checkReadings,
  listStoredBills,
  listTakenReadings,
} from './content-checks-store.ts';
import { checkDayTotals, checkSuspense } from './ledger-checks-store.ts';
import { checkNumbers } from './number-checks-store.ts';
import { checkOpenTotals } from './open-checks-store.ts';
import { checkStates } from './state-checks-store.ts';
import { checkHistories, checkSums } from './sum-checks-store.ts';

export type CheckResult = Counts & {
  check: string;
  says: string;
  /** A remark for the operator that is not a fault. */
  note?: string;
};

export type CheckReader = {
  tenant: JobTenant;
  now: Temporal.Instant;
  /** Each question in a transaction of its own: none may be held open for long. */
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
};

type Asked = Counts & { note?: string };
type Question = { check: string; says: string; ask(reader: CheckReader): Promise<Asked> };

const inDatabase = (
  check: string,
  says: string,
  runCheck: (tx: Tx, tenantId: number, now: Temporal.Instant) => Promise<Counts>,
): Question => ({
  check,
  says,
  ask: ({ tenant, now, read }) => read((tx) => runCheck(tx, tenant.tenantId, now)),
});

const questions: readonly Question[] = [
  inDatabase('L1', 'journals balance and agree with entries', checkJournals),
  inDatabase('L2', 'every day is billed once', checkDays),
  inDatabase('L3', 'bill numbers are gapless and agree with ledger', checkNumbers),
  { check: 'L4', says: 'posted bills follow from their frozen inputs', ask: checkBills },
  inDatabase('L5', 'balances are the sums of entries', checkBalances),
  inDatabase('L6', 'posted bills are booked once', checkEntries),
  inDatabase('L8', 'only published bills were sent, each once', checkDeliveries),
  inDatabase('L11', 'running jobs have a live worker', checkJobs),
  inDatabase('L13', 'usage histories agree with posted bills', checkHistories),
  inDatabase('L14', 'totals of runs and ledger agree with bills', checkSums),
  inDatabase('L15', 'states of bills, terms and payments agree', checkStates),
  inDatabase('L16', 'totals of ledger accounts agree with journals', checkDayTotals),
  { check: 'L17', says: 'what was sealed is unchanged', ask: sealsOf },
  inDatabase('L18', 'locked values are those of the readings', checkReadings),
  inDatabase('L19', 'open amounts by due date agree with bills', checkOpenTotals),
  inDatabase('L20', 'Suspense is the sum of bank lines that wait', checkSuspense),
];

export async function* checkWorkspace(reader: CheckReader): AsyncGenerator<CheckResult> {
  for (const { check, says, ask } of questions) yield { check, says, ...(await ask(reader)) };
}

async function sealsOf(reader: CheckReader): Promise<Asked> {
  const { tenantId } = reader.tenant;
  const { unsealed, ...outcome } = await checkSeals(reader, tenantId, examplesMax);
  return unsealed === 0
    ? outcome
    : { ...outcome, note: `${counted(unsealed, 'audit entry', 'audit entries')} not sealed yet` };
}

const chunkRows = 1_000;
const examplesMax = 5;

/**
 * The bytes are those that were hashed, rating them again gives the same lines and sums, and what
 * was booked is what they say. The readings and the dates of the term are still those of the bill.
 */
async function checkBills(reader: CheckReader): Promise<Counts> {
  const { tenantId } = reader.tenant;
  const { wrong, examples } = await reader.read((tx) => checkContents(tx, tenantId));
  const outcome: Counts = { checked: 0, wrong, examples };
  const books = new Map<string, BookOfTerm | null>();
  const otherTerms = new Set<number>();
  const name = (what: string) => {
    outcome.wrong += 1;
    if (outcome.examples.length < examplesMax) outcome.examples.push(what);
  };
  let afterId = 0;
  for (;;) {
    const place = { afterId, limit: chunkRows };
    const bills = await reader.read(async (tx) => {
      const found = await listStoredBills(tx, tenantId, place);
      await addBooks(tx, reader, found, books);
      return found;
    });
    const frozenOf = new Map<number, FrozenBillInputs>(
      bills.map((bill) => [bill.bill_id, JSON.parse(bill.frozen)]),
    );
    for (const billId of await billsWithOtherReadings(reader, bills, frozenOf)) {
      name(`bill ${billId} has other readings`);
    }
    for (const bill of bills) {
      outcome.checked += 1;
      const made = books.get(bookKey(bill)) ?? null;
      const frozen = frozenOf.get(bill.bill_id) as FrozenBillInputs;
      if (made === null || !isGenuine(bill, made.book, frozen)) name(`bill ${bill.bill_id}`);
      else if (!hasDatesOf(made.term, frozen) && !otherTerms.has(bill.term_id)) {
        otherTerms.add(bill.term_id);
        name(`term ${bill.term_id} has other dates`);
      }
    }
    const last = bills.at(-1);
    if (last === undefined) return outcome;
    afterId = last.bill_id;
  }
}

/** Most bills have the readings of their own term; only for the others all terms are asked. */
async function billsWithOtherReadings(
  { tenant, read }: CheckReader,
  bills: readonly CheckedBill[],
  frozenOf: ReadonlyMap<number, FrozenBillInputs>,
): Promise<number[]> {
  let left = bills.filter((bill) => !bill.is_cancelled);
  for (const by of ['its own term', 'any term'] as const) {
    const ids = left.map((bill) => bill.bill_id);
    const taken = await read((tx) => listTakenReadings(tx, tenant.tenantId, ids, by));
    left = left.filter(({ bill_id: id }) => !areReadingsTaken(frozenOf.get(id), taken.get(id)));
  }
  return left.map((bill) => bill.bill_id);
}

function bookKey({ term_id, first_run }: CheckedBill): string {
  return `${term_id}/${first_run}`;
}

type BookOfTerm = { book: PriceBook; term: Term };

/** The books of these bills, and no others: bills of one run lie side by side. */
async function addBooks(
  tx: Tx,
  { tenant }: CheckReader,
  bills: readonly CheckedBill[],
  books: Map<string, BookOfTerm | null>,
): Promise<void> {
  const wanted = new Set(bills.map(bookKey));
  for (const key of books.keys()) if (!wanted.has(key)) books.delete(key);
  for (const bill of bills) {
    const key = bookKey(bill);
    if (books.has(key)) continue;
    const { term_id: termId, first_run: runNumber } = bill;
    const term = await findTerm(tx, tenant.tenantId, termId);
    const run = await findRun(tx, tenant.tenantId, { termId, runNumber });
    const book = term && run ? (await bookOfRun(tx, tenant, term, run)).book : null;
    books.set(key, term && book ? { book, term } : null);
  }
}

function isGenuine(bill: CheckedBill, book: PriceBook, frozen: FrozenBillInputs): boolean {
  const hashed = {
    unitId: bill.unit_id,
    subscriptionId: bill.subscription_id,
    accountId: bill.account_id,
    partyId: bill.party_id,
    planId: bill.plan_id,
    dueDate: bill.due_date,
    billedFrom: bill.billed_from,
    billedTo: bill.billed_to,
    days: bill.days,
    currentCharges: bill.current_charges,
    taxAmount: bill.tax_amount,
    roundingAdjustment: bill.rounding_adjustment,
    billAmount: bill.bill_amount,
    previousBalance: bill.previous_balance,
    paymentsReceived: bill.payments_received,
    adjustments: bill.adjustments,
    arrears: bill.arrears,
    payable: bill.payable,
    creditBalance: bill.credit_balance,
    lateSurcharge: bill.late_surcharge,
    previouslyBilledTo: bill.previously_billed_to,
    document: bill.document,
    frozenText: bill.frozen,
  };
  if (billHash(hashed) !== bill.hash) return false;
  const document: StoredDocument = JSON.parse(bill.document);
  return isBookedAsSaid(bill, document) && isRatedAgain(book, frozen, document, hashed);
}

function isBookedAsSaid(bill: CheckedBill, { lines, usage }: StoredDocument): boolean {
  const isOfOne = bill.subscription_id !== null;
  return (
    isSameJson(bill.charges, bookedCharges(lines ?? [])) &&
    isSameJson(bill.usage, isOfOne ? bookedUsage(usage ?? []) : null)
  );
}

/** A copied row may have the same JSON in another notation. */
function isSameJson(stored: string | null, made: string | null): boolean {
  if (stored === made) return true;
  if (stored === null || made === null) return false;
  return isDeepStrictEqual(JSON.parse(stored), JSON.parse(made));
}
