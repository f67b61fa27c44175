// Looks through the bills of a term, page by page, and keeps only what the register shows.
import type { DataOf } from '../../../sdk/client.ts';
import { api, totalIn } from '../../api/client.ts';
import { pageOf } from '../../api/queries/base.ts';
import { currentSession } from '../../api/session.ts';
import { sumOf } from '../../parts/totals.ts';

type Bill = DataOf<'getBills'>['bills'][number];

export type ScannedBill = {
  billID: number;
  number: string;
  customer: string;
  amount: number;
  /** null where the subscription has no earlier bill. */
  change: number | null;
};
export type PlanSum = {
  plan: string;
  bills: number;
  amount: number;
  /** Of the bill before, of each subscription that has one; null if none has. */
  before: number | null;
};
export type Scan = {
  done: number;
  total: number;
  plans: Map<string, PlanSum>;
  up: ScannedBill[];
  down: ScannedBill[];
  zero: ScannedBill[];
  negative: ScannedBill[];
  first: ScannedBill[];
  sample: ScannedBill[];
};

const topMax = 20;
const oddMax = 100;
const sampleMax = 10;
const billsAtOnce = 500;

/** Ends early when the page is left. */
export async function scanBills(
  termID: number,
  onProgress: (scan: Scan) => void,
  signal: AbortSignal,
): Promise<void> {
  const scan: Scan = {
    done: 0,
    total: 0,
    plans: new Map(),
    ...{ up: [], down: [], zero: [], negative: [], first: [], sample: [] },
  };
  for (let number = 0; !signal.aborted; number += 1) {
    const { data, headers } = await api.getBills({ termID, page: pageOf(number, billsAtOnce) });
    scan.total = totalIn(headers);
    for (const bill of data.bills) add(scan, bill);
    scan.done += data.bills.length;
    onProgress({ ...scan });
    if (data.bills.length < billsAtOnce) return;
  }
}

function add(scan: Scan, bill: Bill): void {
  if (bill.status === 'Cancelled' || bill.status === 'Error') return;
  const [before] = bill.history;
  const amount = bill.currentCharges;
  const one: ScannedBill = {
    billID: bill.billID,
    number: bill.connectionNumber ?? bill.connectionGroupLabel ?? bill.billRefNo,
    customer: bill.partyName,
    amount,
    change: before?.amount == null ? null : inMoney(amount, -before.amount),
  };
  const plan = bill.tariffCode ?? '–';
  const sum = scan.plans.get(plan) ?? { plan, bills: 0, amount: 0, before: null };
  scan.plans.set(plan, {
    plan,
    bills: sum.bills + 1,
    amount: inMoney(sum.amount, amount),
    before: before?.amount == null ? sum.before : inMoney(sum.before ?? 0, before.amount),
  });
  const change = one.change ?? 0;
  if (change > 0) scan.up = topOf(scan.up, one, (a, b) => changeOf(b) - changeOf(a));
  if (change < 0) scan.down = topOf(scan.down, one, (a, b) => changeOf(a) - changeOf(b));
  if (amount === 0 && scan.zero.length < oddMax) scan.zero.push(one);
  if (amount < 0 && scan.negative.length < oddMax) scan.negative.push(one);
  if (before === undefined && scan.first.length < oddMax) scan.first.push(one);
  draw(
    scan.sample,
    one,
    [...scan.plans.values()].reduce((count, { bills }) => count + bills, 0),
  );
}

/** Added as minor units: a term has many bills. */
function inMoney(...amounts: readonly number[]): number {
  return sumOf(amounts, currentSession()?.currencyDecimals ?? 2);
}

function changeOf({ change }: ScannedBill): number {
  return change ?? 0;
}

function topOf(
  list: readonly ScannedBill[],
  one: ScannedBill,
  order: (a: ScannedBill, b: ScannedBill) => number,
): ScannedBill[] {
  return [...list, one].sort(order).slice(0, topMax);
}

/** Every bill that was seen has the same chance to be in the sample. */
function draw(sample: ScannedBill[], one: ScannedBill, seen: number): void {
  if (sample.length < sampleMax) {
    sample.push(one);
    return;
  }
  const place = Math.floor(Math.random() * seen);
  if (place < sampleMax) sample[place] = one;
}
