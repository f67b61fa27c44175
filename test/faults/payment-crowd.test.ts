// A crowd that pays the bills of a few customers, while bills are posted and cancelled and bank
// files are imported: each payment is taken once, and no transactions wait in a circle.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { BillingError } from '../../sdk/client.ts';
import { type Bank, openBank } from '../support/bank.ts';
import { billsOf, generate, post } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { deadlocksOf, watchLocks } from '../support/lock-waits.ts';
import { openScene } from '../support/scene.ts';
import type { Connection } from '../support/subscriptions.ts';

/** CROWD_SECONDS is set by the nightly run, which also limits how long a lock is waited for. */
const seconds = Number(process.env.CROWD_SECONDS ?? 2);
const isNightly = process.env.CROWD_SECONDS !== undefined;
const seed = Number(process.env.CROWD_SEED ?? Date.now() % 1_000_000);
const clients = 50;
const parties = 20;
const waitMsMax = 1_000;

const scene = await openScene({ apiConnections: 24 });
scene.runJobs({ lanes: 2 });

type Customer = { partyNumber: number; home: string };
type Payment = Parameters<Bank['client']['makePayments']>[0]['payments'][number];

type Crowd = Bank & {
  customers: Customer[];
  random: (below: number) => number;
  isOver: () => boolean;
  /** Cents of each payment that a call accepted, by reference. */
  accepted: Map<string, number>;
  answers: Map<string, number>;
  /** Bills that may be cancelled. */
  bills: number[];
  slowestMs: number;
};

function randomFrom(start: number): (below: number) => number {
  let state = start >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

async function openCrowd(): Promise<Crowd> {
  const bank = await openBank(scene, 'payment-crowd');
  const names = Array.from({ length: parties }, (_, index) => ({ name: `Customer ${index}` }));
  const { headers } = await bank.client.makeUsers({ userType: 'customer', users: names });
  const numbers = (headers.get('x-party-number') ?? '').split(',').map(Number);
  const customers = numbers.map((partyNumber, index) => {
    return { partyNumber, home: `CROWD-${index}` };
  });
  const days = { connectionDate: '01062026', billedThrough: '30062026' };
  const connection = customers.map(({ partyNumber, home }): Connection => {
    return { ...bank.offer, ...days, connectionNumber: home, users: [{ partyNumber }] };
  });
  await bank.client.makeConnections({ batchUpload: true, connection });
  // Terms of three years can be billed.
  await bank.goTo('2029-07-01');
  return {
    ...bank,
    customers,
    random: randomFrom(seed),
    isOver: () => true,
    accepted: new Map(),
    answers: new Map(),
    bills: [],
    slowestMs: 0,
  };
}

function oneOf<T>(crowd: Crowd, all: readonly T[]): T {
  return all[crowd.random(all.length)] as T;
}

/** Any answer but success, or a refusal that the caller understands, fails the test. */
async function attempt(crowd: Crowd, what: string, call: () => Promise<unknown>): Promise<boolean> {
  const begun = performance.now();
  const count = (answer: string) => {
    const name = `${what} ${answer}`;
    crowd.answers.set(name, (crowd.answers.get(name) ?? 0) + 1);
  };
  try {
    await call();
    count('success');
    return true;
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    assert.ok([409, 422].includes(error.statusCode), `${what}: ${error.code} ${error.message}`);
    count(error.code);
    return false;
  } finally {
    crowd.slowestMs = Math.max(crowd.slowestMs, performance.now() - begun);
  }
}

async function billMonth(crowd: Crowd): Promise<void> {
  const amounts = crowd.customers.map(({ home }) => [home, 100 + crowd.random(100)] as const);
  const termID = await crowd.openMonth(Object.fromEntries(amounts));
  // A bill that is cancelled in between changes the arrears of the next: generated again.
  for (let isPosted = false; !isPosted; ) {
    await attempt(crowd, 'generate', () => generate(crowd, termID));
    isPosted = await attempt(crowd, 'post', () => post(crowd, termID));
  }
  const made = await billsOf(crowd, termID);
  crowd.bills.push(...made.map(({ billID }) => billID ?? 0));
}

/** The amount in cents follows from the reference, so that a repeated one is the same payment. */
function paymentOf(crowd: Crowd, round: number): Payment & { cents: number } {
  const { partyNumber, home } = oneOf(crowd, crowd.customers);
  const number = round * 4 + crowd.random(8);
  const cents = 1_000 + ((number * 37) % 5_000);
  const payer = crowd.random(2) ? { partyNumber } : { connectionNumber: home };
  const reference = `${home}-${number}`;
  return { ...payer, reference, amount: cents / 100, paymentMethod: 'Cash', cents };
}

async function payAsClient(crowd: Crowd): Promise<void> {
  for (let round = 0; !crowd.isOver(); round += 1) {
    const count = crowd.random(4) === 0 ? 3 : 1;
    const wanted = Array.from({ length: count }, () => paymentOf(crowd, round));
    // One in twenty sends a reference with another amount.
    const extra = crowd.random(20) === 0 ? 1 : 0;
    const payments = wanted.map(({ cents, ...payment }) => {
      return { ...payment, amount: (cents + extra) / 100 };
    });
    const isTaken = await attempt(crowd, 'pay', () => crowd.client.makePayments({ payments }));
    if (!isTaken) continue;
    for (const { reference, cents } of wanted) {
      const before = crowd.accepted.get(reference);
      assert.ok(before === undefined || before === cents + extra, `${reference}: two amounts`);
      crowd.accepted.set(reference, cents + extra);
    }
  }
}

async function billAll(crowd: Crowd): Promise<void> {
  while (!crowd.isOver()) await billMonth(crowd);
}

async function cancelSome(crowd: Crowd): Promise<void> {
  while (!crowd.isOver()) {
    const billID = oneOf(crowd, crowd.bills);
    const data = { billID, reason: 'Wrong price' };
    await attempt(crowd, 'cancel', () => crowd.client.cancelBill({ data }));
    await sleep(50);
  }
}

/** Each file has ten lines of the file before, and twenty new ones. Returns the cents of all. */
async function importFiles(crowd: Crowd): Promise<number[]> {
  const lines: number[] = [];
  for (let file = 0; !crowd.isOver(); file += 1) {
    const first = Math.max(0, file * 20 - 10);
    const rows = Array.from({ length: file * 20 + 20 - first }, (_, index) => {
      const number = first + index;
      const home = crowd.customers[(number * 7) % parties]?.home ?? '';
      return { id: `TX-${number}`, amount: 10 + (number % 30), reference: home };
    });
    const isTaken = await attempt(crowd, 'import', () => crowd.send(rows));
    assert.ok(isTaken, `file ${file} is imported`);
    for (const { amount } of rows.slice(file * 20 - first)) lines.push(amount * 100);
  }
  return lines;
}

const sum = (cents: Iterable<number>) => [...cents].reduce((total, one) => total + one, 0);
const centsOf = (amount: number | undefined) => Math.round((amount ?? 0) * 100);

type Paid = { party_number: number; payments: number; cents: number };

/** Each payment once, and all of the money in the cash account. */
async function assertPayments(crowd: Crowd, lines: readonly number[]): Promise<Map<number, Paid>> {
  const { rows } = await scene.sql.query<Paid & { unique_references: number }>(
    `select p.party_number::integer, count(*)::integer as payments, sum(y.amount)::integer as cents,
       count(distinct y.reference)::integer as unique_references
     from payments y join parties p on p.tenant_id = y.tenant_id and p.party_id = y.party_id
     where y.tenant_id = $1 group by p.party_number`,
    [crowd.tenantId],
  );
  const totals = [sum(rows.map((row) => row.payments)), sum(rows.map((row) => row.cents))];
  const wanted = [...crowd.accepted.values(), ...lines];
  assert.deepEqual(totals, [wanted.length, sum(wanted)], 'payments and their sum');
  assert.equal(sum(rows.map((row) => row.unique_references)), wanted.length);
  const { data } = await crowd.client.getTrialBalance({});
  const cash = data.accounts.find((one) => one.accountCode === 'CASH');
  assert.deepEqual([centsOf(cash?.debit), cash?.credit], [sum(wanted), 0], 'cash');
  assert.equal(await crowd.balance('SUSPENSE'), 0);
  assert.equal(data.totals.difference, 0);
  return new Map(rows.map((row) => [row.party_number, row]));
}

/** For each customer: what is billed and not cancelled = owed + paid - in the wallet. */
async function assertCustomers(crowd: Crowd, paid: ReadonlyMap<number, Paid>): Promise<void> {
  for (const { partyNumber, home } of crowd.customers) {
    const { data } = await crowd.client.getBills({ connectionNumber: home });
    // A bill on hold changed while it was posted: the next term bills its days.
    const posted = data.bills.filter((bill) => bill.status === 'Posted');
    const billed = sum(posted.map((bill) => centsOf(bill.currentCharges)));
    const owed = centsOf(await crowd.owed(partyNumber));
    const wallet = centsOf(await crowd.wallet(partyNumber));
    const { cents = 0 } = paid.get(partyNumber) ?? {};
    assert.equal(billed, owed + cents - wallet, `the sums of ${partyNumber}, seed ${seed}`);
    assert.equal(sum(posted.map((bill) => centsOf(bill.outstandingAmount))), owed);
  }
}

test(`${clients} clients that pay ${parties} customers for ${seconds} s pay each once, without a deadlock`, async (t) => {
  const crowd = await openCrowd();
  await billMonth(crowd);
  await billMonth(crowd);
  const sql = new pg.Client({ ...scene.cluster.superuser, database: scene.databaseName });
  await sql.connect();
  t.after(() => sql.end());
  const before = await deadlocksOf(sql);
  const stop = watchLocks(sql);
  const ends = performance.now() + seconds * 1_000;
  crowd.isOver = () => performance.now() > ends;
  const all = Promise.all([
    importFiles(crowd),
    billAll(crowd),
    cancelSome(crowd),
    ...Array.from({ length: clients }, () => payAsClient(crowd)),
  ]);
  await all.catch(() => {});
  const { longestMs } = await stop();
  const [lines] = await all;
  t.diagnostic(`CROWD_SEED=${seed}; ${crowd.accepted.size} payments, ${lines.length} bank lines`);
  t.diagnostic([...crowd.answers].map((pair) => pair.join(' ')).join(', '));
  t.diagnostic(`longest wait for a lock ${Math.round(longestMs)} ms`);
  t.diagnostic(`slowest call ${Math.round(crowd.slowestMs)} ms`);
  // A connection reports its deadlocks with the first transaction after a second.
  await sleep(1_100);
  await assertCustomers(crowd, await assertPayments(crowd, lines));
  await assertChecks(scene, crowd.tenantId);
  assert.equal(await deadlocksOf(sql), before, `deadlocks, seed ${seed}`);
  if (isNightly) assert.ok(longestMs <= waitMsMax, `${longestMs} ms for a lock, seed ${seed}`);
});
