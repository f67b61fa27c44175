// The final bill of one subscription: of an owner who leaves, or of a previous owner.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, rowsOf } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf } from '../support/delivery.ts';
import { openHouse } from '../support/house.ts';
import { august, july } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { termOf } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

type House = Awaited<ReturnType<typeof openHouse>>;

const leave = ({ client, connection, number }: House, effectiveDate: string, value: string) =>
  client.disconnectConnection({
    data: { connectionNumber: connection, effectiveDate, readings: [{ number, value }] },
  });

/** Returns the id of the term. */
async function billFinally({ client }: House, connectionNumber: string): Promise<number> {
  const { headers } = await client.billConnection({ data: { connectionNumber } });
  return Number(headers.get('x-term-id'));
}

async function drafts(house: House, termID: number) {
  const bills = await billsOf(house.run, termID);
  return bills.map((bill) => [bill.partyName, bill.billedFrom, bill.billedTo, bill.billAmount]);
}

/** Another customer of the batch, without a meter of his own to read. */
const anotherOf = ({ run }: House) => run.connectOld({ meters: [] });

test('an owner who leaves is billed at once, with a part of the month and the last reading', async () => {
  const house = await openHouse(scene);
  await leave(house, '11/07/2026', '40');
  const final = await billFinally(house, house.connection);
  const { type, label, startDate, endDate, stage } = await termOf(house.client, final);
  assert.deepEqual([type, label], ['Final', 'Final Jul-2026']);
  assert.deepEqual([startDate, endDate, stage], ['01/07/2026', '31/07/2026', 'Generated']);
  // 310 * 10/31 + 40 * 10
  assert.deepEqual(await drafts(house, final), [['Old', '01/07/2026', '10/07/2026', 500]]);
  const [bill] = await billsOf(house.run, final);
  const { data } = await house.client.getBillDocument({
    billID: bill?.billID ?? 0,
    format: 'HTML',
  });
  const html = Buffer.from(data.base64, 'base64').toString();
  assert.match(html, /<h1>[^<]+ final bill<\/h1>/);
  await post(house.run, final);
  const regular = await house.open(july);
  await house.lock(regular);
  await generate(house.run, regular);
  assert.deepEqual(await billsOf(house.run, regular), []);
  const again = house.client.billConnection({ data: { connectionNumber: house.connection } });
  await assert.rejects(again, { code: 'INVALID_STATE', message: /up to 10\/07\/2026 is billed/ });
  await assertChecks(scene, house.run.tenantId);
});

test('owners who leave in the same days share a term until it is posted', async () => {
  const house = await openHouse(scene, {}, { usageData: [] });
  const { client, run, open } = house;
  await open({ ...july, label: 'Jul-2026' });
  const [second, third] = [await anotherOf(house), await anotherOf(house)];
  for (const connectionNumber of [house.connection, second, third]) {
    await client.disconnectConnection({ data: { connectionNumber, effectiveDate: '11/07/2026' } });
  }
  const final = await billFinally(house, house.connection);
  assert.equal((await termOf(client, final)).label, 'Final Jul-2026');
  const sheduleTime = '2027-06-01T00:00:00';
  const { ts } = await termOf(client, final);
  await client.billConnection({ data: { connectionNumber: second, sheduleTime } });
  assert.equal((await billsOf(run, final)).length, 1);
  const added = await termOf(client, final);
  assert.equal(added.stale, true, 'one of its bills is not made yet');
  assert.ok(Number(added.ts) > Number(ts));
  assert.equal(await codeOf(post(run, final)), 'TERM_STALE_GENERATE_AGAIN');
  assert.equal(await billFinally(house, second), final);
  assert.equal((await billsOf(run, final)).length, 2);
  await post(run, final);
  const other = await billFinally(house, third);
  assert.equal((await termOf(client, other)).label, 'Final Jul-2026 (2)');
  assert.deepEqual(await drafts(house, other), [['Old', '01/07/2026', '10/07/2026', 100]]);
  await assertChecks(scene, run.tenantId);
});

test('the owner before is billed up to the day before the transfer', async () => {
  const house = await openHouse(scene);
  await house.moveOut('21/07/2026', '50');
  const final = await billFinally(house, house.connection);
  // 310 * 20/31 + 50 * 10
  assert.deepEqual(await drafts(house, final), [['Old', '01/07/2026', '20/07/2026', 700]]);
});

test('a month that is billed already is not opened again: the days after it are', async () => {
  const house = await openHouse(scene, {}, { usageData: [] });
  const regular = await house.open(july);
  await house.lock(regular);
  await generate(house.run, regular);
  await post(house.run, regular);
  await house.open({ startDate: '21/08/2026', endDate: '20/09/2026' });
  const off = { connectionNumber: house.connection, effectiveDate: '16/08/2026' };
  await house.client.disconnectConnection({ data: off });
  const final = await billFinally(house, house.connection);
  const { label, startDate, endDate } = await termOf(house.client, final);
  assert.equal(label, 'Final 01/08/2026 to 20/08/2026');
  assert.deepEqual([startDate, endDate], [august.startDate, '20/08/2026']);
  // 310 * 15/20
  assert.deepEqual(await drafts(house, final), [['Old', '01/08/2026', '15/08/2026', 232.5]]);
});

test('a period longer than a term may be is cut around the last day', async () => {
  const house = await openHouse(scene, {}, { usageData: [] });
  const { headers } = await house.client.makePeriods({
    periods: [{ name: 'Two years', unit: 'Year', count: 2, months: '24' }],
  });
  const billingCycle = Number(headers.get('x-resource-id'));
  await house.client.updateService({ service: { code: house.offer.serviceCode, billingCycle } });
  const off = { connectionNumber: house.connection, effectiveDate: '11/07/2026' };
  await house.client.disconnectConnection({ data: off });
  const final = await billFinally(house, house.connection);
  const { startDate, endDate } = await termOf(house.client, final);
  assert.deepEqual([startDate, endDate], ['01/07/2026', '01/07/2027']);
  const [[, , billedTo] = []] = await drafts(house, final);
  assert.equal(billedTo, '10/07/2026');
});

test('two owners who leave at the same moment share one term', async () => {
  const house = await openHouse(scene, {}, { usageData: [] });
  const numbers = [house.connection, await anotherOf(house), await anotherOf(house)];
  for (const connectionNumber of numbers) {
    await house.client.disconnectConnection({
      data: { connectionNumber, effectiveDate: '11/07/2026' },
    });
  }
  const sheduleTime = '2027-06-01T00:00:00';
  const asked = numbers.map((connectionNumber) =>
    house.client.billConnection({ data: { connectionNumber, sheduleTime } }),
  );
  const terms = (await Promise.all(asked)).map(({ headers }) => headers.get('x-term-id'));
  assert.equal(new Set(terms).size, 1);
});

test('bill-connection is refused for an owner who stays and for an unknown number, and stores nothing', async () => {
  const house = await openHouse(scene);
  const count = `select (select count(*) from terms where tenant_id = $1)
    + (select count(*) from jobs where tenant_id = $1) as found`;
  const before = await rowsOf(house.run, count);
  const bill = (connectionNumber: string) =>
    house.client.billConnection({ data: { connectionNumber } });
  await assert.rejects(bill(house.connection), {
    code: 'INVALID_STATE',
    message: /is Active, and its owner stays/,
  });
  assert.equal(await codeOf(bill('NOBODY-1')), 'SUBSCRIPTION_NOT_FOUND');
  await leave(house, '11/07/2026', '40');
  await house.client.updateService({
    service: { code: house.offer.serviceCode, archiveStatus: 1 },
  });
  assert.equal(await codeOf(bill(house.connection)), 'SERVICE_ARCHIVED');
  assert.deepEqual(await rowsOf(house.run, count), before);
});

test('a customer billed late has as many days to pay as any other', async () => {
  scene.clock.begin(Temporal.Instant.from('2027-03-10T07:00:00Z'));
  const house = await openHouse(scene, { dueDateOffset: 14 }, { usageData: [] });
  const { client } = house;
  const second = await anotherOf(house);
  for (const connectionNumber of [house.connection, second]) {
    await client.disconnectConnection({ data: { connectionNumber, effectiveDate: '11/07/2026' } });
  }
  const final = await billFinally(house, house.connection);
  const { endDate, dueDate } = await termOf(client, final);
  assert.deepEqual([endDate, dueDate], ['31/07/2026', '24/03/2027']);
  // Nor is anybody taken into a term that is due already.
  await client.updateTerm({ data: { termID: final, dueDate: '09/03/2027' } });
  const other = await billFinally(house, second);
  assert.notEqual(other, final);
  assert.equal((await termOf(client, other)).dueDate, '24/03/2027');
});
