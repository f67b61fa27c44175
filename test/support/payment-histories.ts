// Customers with random histories: bills, payments, reversals, refunds, credit notes, cancelled
// bills, transfers, write-offs and surcharges, on a clock that moves.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BillingError } from '../../sdk/client.ts';
import { billsOf, generate, post, type ShownBill } from './bill-run.ts';
import { doDailyWork } from './daily-work.ts';
import { schedule } from './delivery.ts';
import { type OfferPlace, openOffer } from './offer-place.ts';
import type { Service } from './pricing.ts';
import type { Scene } from './scene.ts';
import type { Connection } from './subscriptions.ts';

/** Cents. */
const amount = fc.integer({ min: 1, max: 150_000 });
const pick = fc.nat({ max: 1_000 });

const action = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('pay' as const),
      amount,
      by: fc.constantFrom('party', 'subscription', 'bill'),
      pick,
      daysBack: fc.nat({ max: 20 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reverse' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('refund' as const), amount }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('adjust' as const),
      amount,
      as: fc.constantFrom('Debit', 'Credit', 'WriteOff', 'BadDebt'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('credit' as const),
      amount,
      pick,
      full: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('dispute' as const), amount, pick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('resolve' as const),
      pick,
      outcome: fc.constantFrom('Upheld' as const, 'Rejected' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reallocate' as const), amount, pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('movePayment' as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('moveHome' as const),
      balance: fc.constantFrom('MoveToNew', 'StayWithOld'),
    }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer One> ? One : never;

/** What happens in a month: what each home is billed, and what its customer does on three days. */
export type Month = { bills: { fee: number; tax: number }[]; rounds: Action[][] };

const roundDays = ['05', '12', '25'];

export function monthsOf(customers: number, months: number, seed: number): Month[] {
  const bill = fc.record({
    fee: fc.integer({ min: 1_000, max: 100_000 }),
    tax: fc.integer({ min: 0, max: 9_999 }),
  });
  const ofAll = <T>(one: fc.Arbitrary<T>) =>
    fc.array(one, { minLength: customers, maxLength: customers });
  const { length } = roundDays;
  const rounds = fc.array(ofAll(action), { minLength: length, maxLength: length });
  return fc.sample(fc.record({ bills: ofAll(bill), rounds }), { numRuns: months, seed });
}

type Customer = {
  partyNumber: number;
  home: string;
  bills: number[];
  payments: number[];
  disputes: number[];
  /** The home went to the neighbour. */
  hasMoved: boolean;
};

export type Histories = OfferPlace & {
  customers: Customer[];
  /** How often each kind of action was done. */
  done: Map<string, number>;
};

/** Numbers that the reply to make-users names. */
const namedMax = 100;

export async function openHistories(
  scene: Scene,
  workspace: string,
  count: number,
  method: string,
): Promise<Histories> {
  const place = await openOffer(
    scene,
    workspace,
    {
      ...{ autoApplyWallet: 1, minimumDaysToPay: 0, paymentSettlementMethod: method },
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', manual: 'Optional', settlementPriority: 2 },
        { name: 'tax', label: 'Tax', type: 'Tax', manual: 'Optional', settlementPriority: 1 },
        { name: 'late', label: 'Late surcharge', type: 'LateSurcharge' },
      ],
    } as Partial<Service>,
    {
      componentRules: [
        { component: 'fee', formula: '0' },
        { component: 'tax', formula: '0' },
        { component: 'late', scope: 'Term', formula: 'ROUND(bill.current * 0.10, 2)' },
      ],
    },
    undefined,
    { sandbox: true },
  );
  const names = Array.from({ length: count }, (_, index) => ({ name: `Customer ${index + 1}` }));
  const numbers: number[] = [];
  for (let at = 0; at < count; at += namedMax) {
    const users = names.slice(at, at + namedMax);
    const { headers } = await place.client.makeUsers({ userType: 'customer', users });
    numbers.push(...(headers.get('x-party-number') ?? '').split(',').map(Number));
  }
  const days = { connectionDate: '01062026', billedThrough: '30062026' };
  const connection = numbers.map((partyNumber, index): Connection => {
    const users = [{ partyNumber }];
    return { ...place.offer, ...days, connectionNumber: `HOME-${index + 1}`, users };
  });
  await place.client.makeConnections({ batchUpload: true, connection });
  const customers = numbers.map((partyNumber, index) => {
    return {
      partyNumber,
      home: `HOME-${index + 1}`,
      bills: [],
      payments: [],
      disputes: [],
      hasMoved: false,
    };
  });
  return { ...place, customers, done: new Map() };
}

/** Bills, then what customers do on each of the days, then what falls due until the month ends. */
export async function live(place: Histories, month: Month, index: number): Promise<void> {
  const first = Temporal.PlainDate.from({ year: 2027, month: 1, day: 2 }).add({ months: index });
  await goTo(place, first);
  await bill(place, month, index, first.with({ day: 10 }));
  for (const [round, actions] of month.rounds.entries()) {
    const today = first.with({ day: Number(roundDays[round]) });
    await goTo(place, today);
    await act(place, actions, { today, tag: `${index}-${round}` });
  }
}

async function goTo(place: Histories, date: Temporal.PlainDate): Promise<void> {
  await place.client.moveClock({ data: { to: `${date}T12:00:00` } });
  await doDailyWork(place.scene, place.tenantId);
}

async function bill(
  place: Histories,
  { bills }: Month,
  index: number,
  due: Temporal.PlainDate,
): Promise<void> {
  const { client, customers } = place;
  const start = Temporal.PlainDate.from('2026-07-01').add({ months: index });
  const end = start.add({ months: 1 }).subtract({ days: 1 });
  const termID = await place.open({
    startDate: wire(start),
    endDate: wire(end),
    dueDate: wire(due),
  });
  const compsData = customers.flatMap(({ home }, number) => [
    [home, 'fee', cents(bills[number]?.fee ?? 0)],
    [home, 'tax', cents(bills[number]?.tax ?? 0)],
  ]);
  await client.postManualComponentValues({
    operation: 'schedule',
    data: { data: JSON.stringify({ termID, compsData }) },
  });
  await generate(place, termID);
  await post(place, termID);
  await client.publishBills(schedule(termID));
  const byParty = Map.groupBy(await billsOf(place, termID), (one) => one.partyNumber ?? 0);
  for (const customer of customers) {
    const made = byParty.get(customer.partyNumber) ?? [];
    const inOrder = made.toSorted((a, b) => (homeOf(a) < homeOf(b) ? -1 : 1));
    customer.bills.push(...inOrder.map((one) => one.billID ?? 0));
  }
}

const homeOf = (bill: ShownBill) => bill.connectionNumber ?? '';

type Moment = { today: Temporal.PlainDate; tag: string };

const lanes = 5;

/**
 * Customers act at the same time. What concerns two of them comes after that, in order: so does all
 * that a customer does whose home another one has. Bills are cancelled then too, which is one job of
 * a term at a time.
 */
async function act(place: Histories, actions: readonly Action[], moment: Moment): Promise<void> {
  const isOfTwo = ({ kind }: Action) => ['movePayment', 'moveHome', 'cancel'].includes(kind);
  const isAlone = (index: number, one: Action) =>
    !isOfTwo(one) && place.customers[index]?.hasMoved === false;
  const alone = [...actions.entries()].filter(([index, one]) => isAlone(index, one));
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (const [index, one] of alone.filter((_, number) => number % lanes === lane)) {
        await attempt(place, index, one, moment);
      }
    }),
  );
  for (const [index, one] of actions.entries()) {
    if (!isAlone(index, one)) await attempt(place, index, one, moment);
  }
}

/** An action may be refused, for a reason that the caller understands. */
async function attempt(
  place: Histories,
  index: number,
  one: Action,
  moment: Moment,
): Promise<void> {
  try {
    await perform(place, index, one, moment);
    place.done.set(one.kind, (place.done.get(one.kind) ?? 0) + 1);
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    const what = `${JSON.stringify(one)}: ${error.message}`;
    assert.ok([400, 404, 409, 422].includes(error.statusCode), what);
  }
}

async function perform(
  place: Histories,
  index: number,
  one: Action,
  { today, tag }: Moment,
): Promise<unknown> {
  const { client, customers } = place;
  const customer = customers[index];
  const next = customers[(index + 1) % customers.length];
  if (!customer || !next) throw new Error('a customer has a neighbour');
  const reference = `${tag}-${index}`;
  const reason = `For ${reference}`;
  const partyID = index + 2;
  switch (one.kind) {
    case 'pay':
      return pay(place, customer, one, { today, reference });
    case 'reverse':
      return client.reversePayment({ data: { paymentID: picked(customer.payments, one), reason } });
    case 'refund': {
      const back = { partyID, amount: cents(one.amount), reference: `R-${reference}` };
      return client.refundPayment({ data: { ...back, paymentMethod: 'Bank' } });
    }
    case 'settle':
      return client.settleWallet({ data: { partyID } });
    case 'adjust': {
      const sign = one.as === 'Debit' ? '' : '-';
      const what = { component: 'fee', kind: one.as, amount: `${sign}${cents(one.amount)}` };
      const adjustment = { reference, connectionNumber: customer.home, ...what, reason };
      return client.makeAdjustments({ adjustments: [adjustment as never] });
    }
    case 'credit': {
      const lines = [{ component: 'fee', amount: cents(one.amount) }];
      const what = one.full ? { fullBill: true } : { lines };
      const note = { billID: picked(customer.bills, one), ...what, reason, reference };
      return client.makeCreditNotes({ creditNotes: [note as never] });
    }
    case 'cancel':
      return client.cancelBill({ data: { billID: picked(customer.bills, one), reason } });
    case 'dispute': {
      const part = cents(Math.ceil(one.amount / 20));
      const dispute = { billID: picked(customer.bills, one), amount: part, reason };
      const { headers } = await client.makeDisputes({ disputes: [dispute] });
      return customer.disputes.push(Number(headers.get('x-resource-id')));
    }
    case 'resolve': {
      const disputeID = picked(customer.disputes, one);
      return client.resolveDispute({ data: { disputeID, outcome: one.outcome, remark: reason } });
    }
    case 'reallocate': {
      const part = cents(Math.ceil(one.amount / 20));
      const allocations = [{ billID: picked(customer.bills, one), amount: part }];
      const paymentID = picked(customer.payments, one);
      return client.reallocatePayment({ data: { paymentID, allocations, reason } });
    }
    case 'movePayment': {
      const paymentID = picked(customer.payments, one);
      const toPartyNumber = next.partyNumber;
      const moved = await client.transferPayment({ data: { paymentID, toPartyNumber, reason } });
      return next.payments.push(Number(moved.headers.get('x-resource-id')));
    }
    case 'moveHome': {
      const home = { connectionNumber: customer.home, toPartyNumber: next.partyNumber };
      const data = { ...home, balanceHandling: one.balance, transferDate: wire(today), reason };
      await client.transferConnection({ data: data as never });
      customer.hasMoved = true;
      return;
    }
  }
}

async function pay(
  { client }: Histories,
  customer: Customer,
  one: Extract<Action, { kind: 'pay' }>,
  { today, reference }: { today: Temporal.PlainDate; reference: string },
): Promise<void> {
  const { partyNumber, home } = customer;
  const payer = one.by === 'subscription' ? { connectionNumber: home } : { partyNumber };
  const half = cents(Math.max(1, Math.floor(one.amount / 2)));
  const allocations =
    one.by === 'bill' ? [{ billID: picked(customer.bills, one), amount: half }] : [];
  const { headers } = await client.makePayments({
    payments: [
      {
        ...{ ...payer, reference, amount: cents(one.amount), allocations },
        paymentDate: wire(today.subtract({ days: one.daysBack })),
        paymentMethod: 'Bank',
      },
    ],
  });
  customer.payments.push(Number(headers.get('x-resource-id')));
}

/** No id if the customer has none. */
function picked(ids: readonly number[], { pick }: { pick: number }): number {
  return ids[pick % Math.max(1, ids.length)] ?? 999_999_999;
}

function cents(minor: number): string {
  return (minor / 100).toFixed(2);
}

function wire(date: Temporal.PlainDate): string {
  return date.toString().split('-').reverse().join('/');
}

/** What every customer owes and has, by all the ways in which the API shows it. */
export async function standing(place: Histories): Promise<object[]> {
  const all: object[] = [];
  for (const { partyNumber } of place.customers) {
    const { user } = (await place.client.getUsers({ partyNumber, includeBills: true } as never))
      .data;
    const { data: statement } = await place.client.getStatement({ partyNumber });
    const owed = user.outstandingAccount?.balance ?? 0;
    const wallet = user.walletAccount?.balance ?? 0;
    assert.equal(statement.closingBalance, owed, `statement of ${partyNumber}`);
    assert.ok(wallet >= 0, `wallet of ${partyNumber}`);
    // Two bills of one day may be paid in either order, so that lines differ and sums do not.
    const sum = (side: 'debit' | 'credit') =>
      statement.entries.reduce((total, one) => total + Math.round(one[side] * 100), 0);
    assert.equal(sum('debit') - sum('credit'), Math.round(owed * 100));
    all.push({ owed, wallet, aging: statement.aging });
  }
  return all;
}
