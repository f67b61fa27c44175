// Makes bills out of frozen inputs: rates every subscription, judges the draft, puts the document
// together and takes its hash.
import { isoDay, parseDay } from '../../../base/days.ts';
import { add, type Exact, fraction, zero } from '../../../base/numbers/exact.ts';
import type { Bill } from '../../rating/bill.ts';
import type { CompiledContext } from '../../rating/compile/compiled-context.ts';
import { contextOn, type PriceBook } from '../../rating/compile/price-book.ts';
import type { FrozenInputs } from '../../rating/frozen-inputs.ts';
import { errorBill } from '../../rating/rate/assemble-bill.ts';
import { compileHoldRules, type HoldJudge, type HoldReason } from '../../rating/rate/hold.ts';
import { rateBill } from '../../rating/rate/rate-bill.ts';
import { firstBillDeposits } from '../../rating/rate/security-deposit.ts';
import { isRefusal } from '../../rating/rating-error.ts';
import { billedOnly } from '../../terms/usage-history-store.ts';
import {
  addRating,
  type LineDefaults,
  lineDefaults,
  type StoredDocument,
  type StoredLine,
  storedLine,
} from '../bill-forms.ts';
import { chargedTerms } from '../histories.ts';

import type { AccountStatusRow } from '../inputs/account-status-store.ts';
import { freeze } from '../inputs/freeze.ts';
import type { FreezeScope, Inputs } from '../inputs/inputs.ts';
import type { BilledRow } from '../inputs/inputs-store.ts';
import { listedPayments, shownMonths } from '../receipts.ts';
import { bookedCharges, bookedUsage } from './booking.ts';
import { type Combined, combine } from './combine.ts';
import { billHash, type MadeBill, type Rated } from './made-bill.ts';

export type MakeScope = FreezeScope & {
  readonly book: PriceBook;
  readonly planIds: ReadonlyMap<string, number>;
};

/** The bill of a billed unit; undefined if it has neither a day nor usage to bill. */
export function makeBill(scope: MakeScope, inputs: readonly Inputs[]): MadeBill | undefined {
  const rated: Rated[] = [];
  for (const one of inputs) {
    const frozen = freeze(scope, one);
    const bill = withDeposit(
      scope,
      frozen,
      requireOneOwner(scope, one.row, frozen, rateBill(scope.book, frozen)),
    );
    const { row, accountStatus, receipts } = one;
    if (bill.status === 'Error' || bill.billedTo !== null) {
      rated.push({ row, accountStatus, receipts, frozen, bill });
    }
  }
  const [first, ...others] = rated;
  if (first === undefined) return undefined;
  const draft = others.length === 0 ? single(scope, first) : several(scope, rated);
  return finished(draft);
}

/**
 * A bill has one owner. Days and usage of the previous owner are billed by a Final term of the same
 * days, which ends with the transfer. Until then this bill is in Error.
 */
function requireOneOwner(
  { book }: MakeScope,
  row: BilledRow,
  frozen: FrozenInputs,
  bill: Bill,
): Bill {
  const { billedTo } = bill;
  const first = row.is_use_of_former ? row.billed_through : dayOf(bill.billedFrom);
  if (bill.status === 'Error' || first === null || billedTo === null) return bill;
  const last = isoDay(billedTo);
  const inside = (frozen.connection?.transfers ?? []).find(({ transferDate }) => {
    const day = isoDay(transferDate);
    return day > first && day <= last;
  });
  if (!inside) return bill;
  const message =
    `${bill.connectionNumber} changed hands on ${inside.transferDate}: ` +
    'bill the old owner first, by a Final term of the same days';
  return errorBill(book, frozen, [{ code: 'TRANSFER_NOT_BILLED', message }]);
}

/**
 * Posting a first bill demands the deposit: if it cannot be computed, the bill is in Error here.
 */
function withDeposit({ book }: MakeScope, frozen: FrozenInputs, bill: Bill): Bill {
  if (bill.status === 'Error' || !frozen.connection?.isFirstBill) return bill;
  try {
    firstBillDeposits(book, bill.tariffCode ?? '', frozen);
    return bill;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const message = `The security deposit cannot be computed: ${error.message}`;
    return errorBill(book, frozen, [{ code: error.code, message }]);
  }
}

/** A bill before its document is written. */
type Draft = MadeBill & { isError: boolean; content: StoredDocument; frozen: object };

/** Of a bill whose document is still to be written. */
const unwritten = { usage: null, charges: '{}' };

function single(scope: MakeScope, rated: Rated): Draft {
  const { row, accountStatus, frozen, bill } = rated;
  const isError = bill.status === 'Error';
  const defaults = lineDefaults(bill);
  const lines = bill.lines.map((line) => storedLine(line, defaults));
  const holds = isError ? [] : judge(scope.book, rated);
  const { payments, brought_forward: brought } = accountStatus;
  return {
    unitId: row.unit_id,
    subscriptionId: row.subscription_id,
    accountId: row.account_id,
    partyId: row.party_id,
    planId: planIdOf(scope, row, bill),
    isError,
    holds,
    billedFrom: dayOf(bill.billedFrom),
    billedTo: dayOf(bill.billedTo),
    days: bill.days,
    currentCharges: bill.currentCharges,
    taxAmount: bill.taxAmount,
    roundingAdjustment: bill.roundingAdjustment,
    billAmount: bill.billAmount,
    previousBalance: isError ? 0 : brought,
    paymentsReceived: isError ? 0 : payments,
    adjustments: isError ? 0 : bill.arrears - brought + payments,
    arrears: bill.arrears,
    payable: bill.payableWithinDueDate,
    creditBalance: bill.creditBalance,
    lateSurcharge: bill.latePaymentSurcharge,
    previouslyBilledTo: row.billed_through,
    received: rated.accountStatus.received,
    unitTs: BigInt(row.ts),
    content: singleContent(scope, rated, { lines, holds, defaults }),
    frozen,
    lines,
    usage: bill.usage,
    subscriptions: 1,
    parts: [],
    dueDate: scope.term.due_date,
    status: 'Draft',
    hash: '',
    document: '',
    frozenText: '',
    booking: unwritten,
  };
}

function singleContent(
  scope: MakeScope,
  rated: Rated,
  made: { lines: readonly StoredLine[]; holds: readonly HoldReason[]; defaults: LineDefaults },
): StoredDocument {
  const { frozen, bill, accountStatus } = rated;
  const { lines, holds, defaults } = made;
  const content = partyContent(scope, rated, {
    account: accountStatus.account_label,
    reference: rated.row.reference_number,
  });
  addRating(content, bill, frozen);
  if (bill.errors.length === 0) addPast(content, [rated], { hasUsage: bill.usage.length > 0 });
  if (lines.length > 0) content.lines = lines;
  if (bill.surcharges.length > 0) {
    content.surcharges = bill.surcharges.map((line) => storedLine(line, defaults));
  }
  if (bill.errors.length > 0) content.errors = bill.errors;
  if (holds.length > 0) content.holds = holds;
  return content;
}

/** What was paid since the last bill and, without usage to show, what was charged before. */
function addPast(
  content: StoredDocument,
  rated: readonly Rated[],
  { hasUsage }: { hasUsage: boolean },
): void {
  const payments = listedPayments(rated);
  if (payments.length > 0) content.payments = payments;
  const months = hasUsage ? shownMonths(rated[0]?.accountStatus.history ?? null) : '';
  if (months !== '') content.historyMonths = months;
  if (!hasUsage) Object.assign(content, chargedTerms(rated.map((one) => one.accountStatus)));
}

function several(scope: MakeScope, rated: readonly Rated[]): Draft {
  const { term, book } = scope;
  const [first] = rated as [Rated, ...Rated[]];
  const { row } = first;
  const isParty = term.post_type === 'Post Party';
  const combined: Combined = combine(contextOn(book, lastDayOf(scope)), rated);
  const isError = combined.errors.length > 0;
  const holds = isError ? [] : judgeTogether(book, rated, combined);
  const sum = (pick: (accountStatus: AccountStatusRow) => number) =>
    rated.reduce((total, one) => total + pick(one.accountStatus), 0);
  const brought = isError ? 0 : sum((one) => one.brought_forward);
  const payments = isError ? 0 : sum((one) => one.payments);
  const content: StoredDocument = {
    ...partyContent(scope, first, {
      account: isParty ? null : first.accountStatus.account_label,
      reference: null,
    }),
    ...(combined.lines.length === 0 ? {} : { lines: combined.lines }),
    ...(combined.surcharges.length === 0 ? {} : { surcharges: combined.surcharges }),
    sections: combined.sections,
    ...(isError ? { errors: combined.errors } : {}),
    ...(holds.length === 0 ? {} : { holds }),
  };
  if (!isError) addPast(content, rated, { hasUsage: false });
  return {
    ...combined.amounts,
    unitId: row.unit_id,
    subscriptionId: null,
    accountId: isParty ? null : row.account_id,
    partyId: row.party_id,
    planId: null,
    isError,
    holds,
    previousBalance: brought,
    paymentsReceived: payments,
    adjustments: combined.amounts.arrears - brought + payments,
    previouslyBilledTo: null,
    received: 0,
    unitTs: rated.reduce((total, one) => total + BigInt(one.row.ts), 0n),
    content,
    frozen: { subscriptions: rated.map((one) => one.frozen) },
    lines: combined.lines,
    usage: rated.flatMap((one) => one.bill.usage),
    subscriptions: rated.length,
    parts: combined.parts,
    dueDate: scope.term.due_date,
    status: 'Draft',
    hash: '',
    document: '',
    frozenText: '',
    booking: unwritten,
  };
}

/** Fills in what follows from the rest. The draft itself becomes the bill: a copy costs as much. */
function finished(draft: Draft): MadeBill {
  const { content, lines } = draft;
  draft.document = JSON.stringify(content);
  draft.frozenText = JSON.stringify(draft.frozen);
  draft.status = draft.isError ? 'Error' : draft.holds.length > 0 ? 'Hold' : 'Draft';
  draft.booking = {
    usage: draft.subscriptionId === null ? null : bookedUsage(content.usage ?? []),
    charges: bookedCharges(lines),
  };
  draft.hash = billHash(draft);
  return draft;
}

function dayOf(wireDate: string | null): string | null {
  return wireDate === null ? null : isoDay(wireDate);
}

function lastDayOf({ frozenTerm }: MakeScope): number {
  return parseDay(frozenTerm.endDate) ?? 0;
}

/** Of the plan in force on the last billed day. */
function planIdOf(scope: MakeScope, row: BilledRow, bill: Bill): number {
  return scope.planIds.get(bill.tariffCode ?? '') ?? row.plan_id;
}

/** A bill of a party goes to where the party is, any other to the premises. */
function partyContent(
  { term }: MakeScope,
  { row, accountStatus }: Rated,
  names: { account: string | null; reference: string | null },
): StoredDocument {
  const content: StoredDocument = {
    partyNumber: accountStatus.party_number,
    partyName: accountStatus.party_name,
  };
  const { party_address: own } = accountStatus;
  const address = term.post_type === 'Post Party' ? (own ?? row.address) : (row.address ?? own);
  if (address !== null) content.address = address;
  if (names.reference !== null) content.connectionRefNo = names.reference;
  if (names.account !== null) content.connectionGroupLabel = names.account;
  return content;
}

const judges = new WeakMap<CompiledContext, HoldJudge>();
/** Bills of which the usual amount is the mean. */
const averagedBills = 3;

/** By what each subscription is billed, and by what all of them are together: each rule once. */
function judgeTogether(
  book: PriceBook,
  rated: readonly Rated[],
  { amounts }: Combined,
): HoldReason[] {
  const { currentCharges, taxAmount, arrears, payable: payableWithinDueDate } = amounts;
  const sums = { currentCharges, taxAmount, arrears, payableWithinDueDate };
  const usual = rated.map(usualAmount).reduce((sum, one) => add(sum ?? zero, one ?? zero));
  const reasons = new Map<string, HoldReason>();
  for (const one of rated) {
    const whole = { ...one, bill: { ...one.bill, ...sums } };
    for (const hold of [...judge(book, one), ...judge(book, whole, usual)]) {
      reasons.set(hold.name, hold);
    }
  }
  return [...reasons.values()];
}

/** The rules of the context that hold a draft back. */
function judge(book: PriceBook, rated: Rated, usual = usualAmount(rated)): HoldReason[] {
  const { bill, frozen } = rated;
  const context = contextOn(book, parseDay(bill.billedTo ?? bill.endDate) ?? 0);
  let rules = judges.get(context);
  if (rules === undefined) {
    rules = compileHoldRules(context);
    judges.set(context, rules);
  }
  return rules(bill, frozen, usual);
}

/** Exact: what is three times as much is not more than that. */
function usualAmount({ accountStatus, bill }: Rated): Exact | null {
  const { history: known } = accountStatus;
  const { currencyScale } = bill;
  if (known === null) return null;
  const history = billedOnly(known);
  let sum = 0;
  let bills = 0;
  for (let index = 0; index < history.length && index < averagedBills; index += 1) {
    const amount = history[index]?.amount;
    if (amount === undefined) continue;
    sum += amount;
    bills += 1;
  }
  return bills === 0 ? null : fraction(sum, bills * 10 ** currencyScale);
}
