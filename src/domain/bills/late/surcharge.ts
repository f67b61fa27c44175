// The daily job of late payment: a bill that is not paid by its deadline is surcharged, once.

import type { Tx } from '../../../base/db/pool.ts';
import { eventsOf, insertEvents } from '../../events/events-store.ts';
import { isOwedByWorkspace, ledgerAccounts } from '../../ledger/accounts.ts';
import { type Booking, book, opening } from '../../ledger/book.ts';
import { lockBills, lockWallets } from '../../ledger/items-store.ts';
import { type FrozenBillInputs, frozenOf } from '../../rating/frozen-inputs.ts';
import { type LatePart, rateBill } from '../../rating/rate/rate-bill.ts';
import type { ChunkDone, RowKey } from '../../tenants/daily-store.ts';
import { deadlineOf, type LateRules, loadLateRules, runKey } from './late-rules.ts';
import {
  billsAtOnce,
  type LateShare,
  listFrozen,
  listLateBills,
  listLateShares,
  listSurchargeable,
  markSurcharged,
  type SurchargeableBill,
} from './surcharge-store.ts';

type Day = { localDate: Temporal.PlainDate; now: Temporal.Instant };

/** One chunk of late bills. */
export async function surchargeLate(
  tx: Tx,
  tenantId: number,
  { localDate, now }: Day,
  after: RowKey | null,
): Promise<ChunkDone> {
  const late = await listLateBills(tx, tenantId, localDate, after);
  const last = late.at(-1);
  const isLast = late.length < billsAtOnce || !last;
  const next = isLast ? null : { dueDate: last.due_date, billId: last.bill_id };
  const rules = await loadLateRules(tx, tenantId, late, localDate);
  const due = late.filter((bill) => {
    const { term, graceDays } = rulesOf(rules, bill);
    const isPassed = deadlineOf(bill, graceDays) < localDate.toString();
    return isPassed && !isOwedByWorkspace(term.context_type);
  });
  if (due.length === 0) return { next, outcome: { surcharged: 0 } };
  const ids = due.map((bill) => bill.bill_id);
  const partyIds = due.map((bill) => bill.party_id);
  await lockWallets(tx, tenantId, partyIds);
  await lockBills(tx, tenantId, ids);
  const bills = await listSurchargeable(tx, tenantId, ids);
  const amounts = await amountsOf(tx, tenantId, bills, rules);
  const surcharged = bills.filter((bill) => (amounts.get(bill.bill_id) ?? []).length > 0);
  const stamp = { at: now, by: 'daily job' };
  const bookings = surcharged.map((bill) =>
    bookingOf(bill, amounts.get(bill.bill_id) ?? [], rulesOf(rules, bill), localDate),
  );
  await book(tx, tenantId, bookings, stamp);
  const marked = surcharged.map((bill) => bill.bill_id);
  await markSurcharged(tx, tenantId, marked, { localDate, stamp });
  await insertEvents(tx, tenantId, eventsOf('bill.surcharged', 'billID', marked), now);
  return { next, outcome: { surcharged: surcharged.length } };
}

function rulesOf(
  rules: ReadonlyMap<string, LateRules>,
  bill: { term_id: number; first_run: number },
): LateRules {
  const found = rules.get(runKey(bill));
  if (!found) throw new Error(`no rules were loaded for term ${bill.term_id}`);
  return found;
}

/** Above zero, in minor units. */
type Amount = { subscriptionId: number; component: string; amount: number };

/** By bill. With `BillAmount` it is as printed, unless part of the bill was credited or moved. */
async function amountsOf(
  tx: Tx,
  tenantId: number,
  bills: readonly SurchargeableBill[],
  rules: ReadonlyMap<string, LateRules>,
): Promise<Map<number, Amount[]>> {
  const isPrinted = (bill: SurchargeableBill) =>
    !rulesOf(rules, bill).isOfUnpaid && bill.open + bill.paid === bill.amount;
  const rated = bills.filter((bill) => !isPrinted(bill));
  const frozen = await listFrozen(tx, tenantId, idsOf(rated));
  const several = rated.filter((bill) => bill.subscription_id === null);
  const shares = await listLateShares(tx, tenantId, idsOf(several));
  const sharesOf = Map.groupBy(shares, (share) => share.bill_id);
  return new Map(
    bills.map((bill) => {
      const inputs = frozen.get(bill.bill_id);
      const all = inputs
        ? ratedAmounts(bill, JSON.parse(inputs), rulesOf(rules, bill), sharesOf)
        : printedAmounts(bill);
      return [bill.bill_id, all.filter(({ amount }) => amount > 0)];
    }),
  );
}

function idsOf(bills: readonly SurchargeableBill[]): number[] {
  return bills.map((bill) => bill.bill_id);
}

function printedAmounts(bill: SurchargeableBill): Amount[] {
  return (bill.surcharges ?? []).map(({ component, amount, connectionNumber = '' }) => ({
    subscriptionId: subscriptionOf(bill, connectionNumber),
    component,
    amount,
  }));
}

function subscriptionOf(bill: SurchargeableBill, connectionNumber: string): number {
  const section = bill.sections?.find((one) => one.connectionNumber === connectionNumber);
  const id = bill.subscription_id ?? section?.connectionID;
  if (id === undefined) throw new Error(`bill ${bill.bill_id} has no ${connectionNumber}`);
  return id;
}

/** The formula of the component on what is open, or on what was not taken back. */
function ratedAmounts(
  bill: SurchargeableBill,
  frozen: FrozenBillInputs,
  { pinned, isOfUnpaid }: LateRules,
  sharesOf: ReadonlyMap<number, LateShare[]>,
): Amount[] {
  const shares = sharesOf.get(bill.bill_id) ?? [];
  return frozenOf(frozen).flatMap((inputs) => {
    const { connectionNumber = '' } = inputs.connection ?? {};
    const subscriptionId = subscriptionOf(bill, connectionNumber ?? '');
    const share = shares.find((one) => one.subscription_id === subscriptionId) ?? bill;
    const part: LatePart = {
      open: isOfUnpaid ? share.open : share.open + share.paid,
      of: share.amount,
      withArrears: !isOfUnpaid,
    };
    if (part.open <= 0) return [];
    const { surcharges } = rateBill(pinned.book, inputs, { latePart: part });
    return surcharges.map(({ component, amount }) => ({ subscriptionId, component, amount }));
  });
}

/** Debit Receivable, an open item for each subscription; credit the accounts of the components. */
function bookingOf(
  bill: SurchargeableBill,
  amounts: readonly Amount[],
  { term, accountOf }: LateRules,
  localDate: Temporal.PlainDate,
): Booking {
  const { bill_id: billId, bill_number: reference, party_id: partyId } = bill;
  const bySubscription = Map.groupBy(amounts, (one) => one.subscriptionId);
  const { receivable: accountId } = ledgerAccounts;
  const date = localDate.toString();
  const entries = [...bySubscription].map(([subscriptionId, own]) => {
    const amount = own.reduce((sum, one) => sum + one.amount, 0);
    const component = own[0]?.component ?? null;
    return opening(
      { billId, partyId, subscriptionId, accountId },
      { kind: 'Surcharge', amount },
      { kind: 'Surcharge', dueDate: date, component },
      { reference, description: 'Late payment surcharge' },
    );
  });
  return {
    source: 'Surcharge',
    sourceId: billId,
    businessUnitId: term.business_unit_id,
    postingDate: localDate,
    description: `Late payment surcharge on bill ${reference}`,
    entries,
    against: amounts.map(({ component, amount }) => ({
      accountId: accountOf(component),
      component,
      amount: -amount,
    })),
  };
}
