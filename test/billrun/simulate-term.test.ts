// A term priced again with unsaved plans.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestOf } from '../../sdk/client.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import {
  addSubscription,
  addTerm,
  type BillRun,
  billsOf,
  copyOf,
  generate,
  openBillRun,
  post,
  tariffCase,
} from '../support/bill-run.ts';
import { refuses } from '../support/client.ts';
import { codeOf } from '../support/delivery.ts';
import { exchange, requestText } from '../support/http.ts';
import { until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene({ scheduleWaitSeconds: 60 });
scene.runJobs();
const elec = tariffCase('ELEC');

type Tariffs = RequestOf<'simulateTerm'>['tariffs'];

/** RES-A1 with another rent of the meter: 25 as it is saved. */
function withRent(rent: string): Tariffs {
  const saved = elec.tariffs.find((plan) => plan.code === 'RES-A1');
  const value = { name: 'meterRentAmount', fromDate: '01/07/2024', toDate: null, formula: rent };
  const valueFormulas = [...(saved?.valueFormulas ?? []), { ...value, rows: null }];
  return [{ ...saved, valueFormulas }] as unknown as Tariffs;
}

async function billed(count: number): Promise<{ run: BillRun; termID: number }> {
  const run = await openBillRun(scene, elec);
  const termID = await addTerm(run);
  const [scenario] = elec.scenarios;
  const {
    expected: _,
    id: _id,
    title: _title,
    ...facts
  } = scenario as never as FrozenInputs & {
    expected: unknown;
    id: string;
    title: string;
  };
  for (let index = 0; index < count; index += 1) {
    await addSubscription(run, termID, copyOf(facts, index, 100 + index));
  }
  await generate(run, termID);
  return { run, termID };
}

const cents = (amount: number) => Math.round(amount * 100);

test('a higher rent is shown by component, plan and bill, and nothing is stored', async () => {
  const { run, termID } = await billed(3);
  const before = await hashRows(scene.sql);
  const tariffs = withRent('40');
  const { data, message } = await run.client.simulateTerm({ termID, tariffs });
  assert.equal(message, '3 bills simulated, 3 of them change');
  const bills = await billsOf(run, termID);
  const charged = bills.reduce((sum, bill) => sum + cents(bill.currentCharges), 0);
  const taxed = bills.reduce((sum, bill) => sum + cents(bill.taxAmount), 0);
  assert.deepEqual(
    [data.before.bills, cents(data.before.currentCharges), cents(data.before.taxAmount)],
    [3, charged, taxed],
  );
  const change = cents(data.after.currentCharges) - charged;
  assert.ok(change > 0);
  const { after, worseOff, betterOff, unchanged } = data;
  assert.deepEqual([after.bills, worseOff, betterOff, unchanged], [3, 3, 0, 0]);
  assert.ok(after.taxAmount > data.before.taxAmount, 'the rent is taxed');
  const rent = data.components.find(({ component }) => component === 'meterRent');
  // Three meters of 25, then of 40.
  assert.deepEqual([rent?.before, rent?.after, rent?.change], [75, 120, 45]);
  const added = data.components.reduce((sum, one) => sum + cents(one.change), 0);
  assert.equal(added, change, 'components add up');
  assert.deepEqual(
    data.plans.map(({ tariffCode, bills: count }) => [tariffCode, count]),
    [['RES-A1', 3]],
  );
  assert.equal(cents(data.plans[0]?.change ?? 0), change);
  assert.equal(data.largest.length, 3);
  assert.deepEqual(data.bills, []);
  assert.deepEqual([data.failed, data.failures], [0, []]);
  assert.deepEqual(await hashRows(scene.sql), before);
});

test('a simulation equals the bills after the plan is saved', async () => {
  const { run, termID } = await billed(3);
  const page = { pageNumber: 1, size: 2 };
  const tariffs = withRent('30');
  const { data, headers } = await run.client.simulateTerm({ termID, tariffs, page });
  assert.equal(headers.get('x-total-count'), '3');
  assert.equal(data.bills.length, 1);
  const effectiveDate = '01/06/2025';
  await run.client.updateTariff({ tariff: { ...tariffs[0], effectiveDate } as never });
  await generate(run, termID);
  const bills = await billsOf(run, termID);
  const charged = bills.reduce((sum, bill) => sum + cents(bill.currentCharges), 0);
  assert.equal(cents(data.after.currentCharges), charged);
  for (const change of [...data.largest, ...data.bills]) {
    const bill = bills.find(({ billID }) => billID === change.billID);
    assert.equal(bill?.currentCharges, change.after);
    assert.equal(bill?.partyName, change.partyName);
    assert.equal(bill?.connectionNumber, change.connectionNumber);
  }
});

test('the same prices change nothing; a posted term is simulated too', async () => {
  const { run, termID } = await billed(2);
  await post(run, termID);
  const { data, message } = await run.client.simulateTerm({ termID, tariffs: withRent('25') });
  assert.equal(message, '2 bills simulated, 0 of them change');
  assert.deepEqual(data.after, data.before);
  assert.equal(data.unchanged, 2);
  assert.deepEqual(data.largest, []);
});

test('bills that a plan cannot rate are counted and reported', async () => {
  const { run, termID } = await billed(2);
  const tariffs = withRent('10 / (usage.energy - 300)');
  const { data } = await run.client.simulateTerm({ termID, tariffs });
  // The first subscription used 100 units, and 100 that count twice.
  assert.deepEqual([data.failed, data.after.bills], [1, 1]);
  assert.equal(data.failures[0]?.code, 'DIVISION_BY_ZERO');
});

test('a term that is not there or not generated, and a wrong plan, are refused', async () => {
  const run = await openBillRun(scene, elec);
  const termID = await addTerm(run);
  const tariffs = withRent('40');
  await refuses(run.client.simulateTerm({ termID: 99, tariffs }), 'TERM_NOT_FOUND');
  await refuses(run.client.simulateTerm({ termID, tariffs }), 'INVALID_STATE');
  const { run: other, termID: generated } = await billed(1);
  await refuses(
    other.client.simulateTerm({ termID: generated, tariffs: withRent('usage.enrgy') }),
    'FORMULA_UNKNOWN_NAME',
  );
  const [one] = tariffs;
  const twice = [one, one] as Tariffs;
  await refuses(other.client.simulateTerm({ termID: generated, tariffs: twice }), 'DUPLICATE');
});

/** While the runs of terms cannot be read, no simulation comes to its end. */
async function whileStuck(work: () => Promise<void>): Promise<void> {
  await scene.sql.query('begin');
  await scene.sql.query('lock table bill_runs in access exclusive mode');
  try {
    await work();
  } finally {
    await scene.sql.query('rollback');
  }
}

const stuckCalls = async () => {
  const { rows } = await scene.sql.query(
    `select count(*)::integer as count from pg_locks
     where not granted and relation = 'bill_runs'::regclass
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return rows[0].count as number;
};

test('a workspace simulates one term at a time; two calls wait, more are refused', async () => {
  const { run, termID } = await billed(1);
  const simulate = () => codeOf(run.client.simulateTerm({ termID, tariffs: withRent('40') }));
  let codes: Promise<string>[] = [];
  await whileStuck(async () => {
    codes = [simulate(), simulate(), simulate(), simulate()];
    assert.equal(await Promise.race(codes), 'RATE_LIMITED');
    await until(async () => (await stuckCalls()) === 1, 'one is under way');
  });
  const success = ['success', 'success', 'success'];
  assert.deepEqual((await Promise.all(codes)).sort(), ['RATE_LIMITED', ...success]);
  assert.equal(await simulate(), 'success');
});

test('a simulation ends when its caller has gone', async () => {
  const { run, termID } = await billed(1);
  const body = JSON.stringify({
    ...{ apiVersion: 'v2', method: 'Retrieve', action: 'Simulate Term' },
    ...{ termID, tariffs: withRent('40') },
  });
  const headers = {
    'X-Workspace': run.client.workspace,
    Authorization: run.client.token ?? '',
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  const path = '/billing/terms/simulate-term';
  const before = scene.logged.length;
  await whileStuck(async () => {
    await exchange(scene.baseUrl, async (socket) => {
      socket.write(requestText(path, headers, body));
      await until(async () => (await stuckCalls()) === 1, 'it is under way');
      socket.destroy();
    }).catch(() => {});
  });
  const line = await until(
    () => scene.logged.slice(before).find((one) => one.includes(path) && one.includes('"ms"')),
    'it has ended',
  );
  assert.match(line, /"statusCode":503/);
});
