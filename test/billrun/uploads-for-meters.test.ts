// Uploaded use in place of meters: it is of the days it was uploaded for, and what a meter shows
// later is billed without it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generate, post, unpost } from '../support/bill-run.ts';
import { termAgain } from '../support/cancelled-bills.ts';
import { assertChecks } from '../support/checks.ts';
import { openScene } from '../support/scene.ts';
import {
  april,
  billOf,
  february,
  hashOf,
  january,
  linesOf,
  march,
  needEnergy,
  openHome,
  readingsOn,
  skipBill,
} from '../support/skipped-bills.ts';
import { billHomes, type Home, type Month, type Months } from '../support/uploaded-homes.ts';

const scene = await openScene();
scene.runJobs();

type Mode = 'current' | 'previous' | 'estimated';

const estimation = { allowed: 1, defaultDaily: '10' };

function openEstimated(): Promise<Home> {
  const energy = { name: 'energy', unit: 'kWh', estimation };
  return openHome(scene, { meteredInputs: [energy] } as never);
}

/** January was read 310 on its last day and billed. */
async function openRead({ required = 1 }: { required?: 0 | 1 } = {}): Promise<Home> {
  const home = await openEstimated();
  await needEnergy(home.client, { required });
  await billed(home, await home.read(january, ['310', '31/01/2026']));
  return home;
}

const uploadUse = ({ client, connection }: Home, termID: number, quantity: string) => {
  const data = JSON.stringify({ termID, usage: [[connection, 'energy', quantity]] });
  return client.uploadUsage({ operation: 'schedule', data: { data } });
};

async function drafted({ run }: Home, term: number) {
  await generate(run, term);
  const bill = await billOf(run, term);
  assert.deepEqual([bill.status, bill.errors], ['Draft', []]);
  return bill;
}

async function billed(home: Home, term: number) {
  const bill = await drafted(home, term);
  await post(home.run, term);
  return bill;
}

/** A term with use uploaded, and what was read. */
async function uploaded(
  home: Home,
  days: { startDate: string; endDate: string },
  { use, read, mode = 'current' }: { use: string; read?: [string, string]; mode?: Mode },
): Promise<number> {
  const term = await home.open(days);
  if (read) await home.upload(term, [read]);
  await uploadUse(home, term, use);
  await home.lock(term, mode);
  return term;
}

const unitsOf = ({ usage }: { usage: { quantity: string }[] }) => Number(usage[0]?.quantity ?? 0);
const energyOf = (bill: Parameters<typeof linesOf>[0]) =>
  linesOf(bill).filter(([component]) => component === 'energyCharge');

const skipped = (month: Month) => ({ ...month, isSkipped: true as const });

/** All had 310 at the end of January. */
const homes = {
  unread: { feb: skipped({ use: '200' }), mar: { read: '720' }, apr: '800' },
  read: { feb: skipped({ use: '200', read: '520' }), mar: { read: '720' }, apr: '800' },
  exceeding: { feb: skipped({ use: '200' }), mar: { read: '480' }, apr: '580' },
  uploadedLater: { feb: skipped({ read: '520' }), mar: { use: '150', read: '720' }, apr: '800' },
  bothUploaded: { feb: skipped({ use: '200' }), mar: { use: '150', read: '720' }, apr: '800' },
  readOnce: { feb: skipped({ use: '200', read: '520' }), mar: { use: '150' }, apr: '1020' },
  readToo: { feb: { use: '150', read: '520' }, mar: { read: '720' }, apr: '800' },
  stopped: { feb: { use: '200', read: '310' }, mar: { read: '400' }, apr: '500' },
  bothUnread: { feb: { use: '200' }, mar: { use: '100' }, apr: '820' },
  readAgain: { feb: { use: '200' }, mar: { use: '100', read: '720' }, apr: '820' },
} satisfies Record<string, Months>;

async function billStreet() {
  const home = await openEstimated();
  return { client: home.client, bills: await billHomes(home, homes) };
}

let street: ReturnType<typeof billStreet> | undefined;

/** The bills of one of them. */
async function billsOfHome(name: keyof typeof homes) {
  street ??= billStreet();
  const { client, bills } = await street;
  return { client, ...bills[name] };
}

// 310 -> 720 are 410 of both months. 200 were uploaded for February: 210 are of March.
const leavings = { 'that was not read': 'unread', 'that was read': 'read' } as const;
for (const [which, name] of Object.entries(leavings)) {
  test(`an upload for a skipped bill replaces the usage of its days only: one ${which}`, async () => {
    const { client, mar, apr } = await billsOfHome(name);
    assert.deepEqual(readingsOn(mar), [['31/01/2026', '310', '31/03/2026', '720', '410']]);
    assert.deepEqual(energyOf(mar), [
      ['energyCharge', '01/02/2026', 200 * 20],
      ['energyCharge', '01/03/2026', 210 * 20],
    ]);
    assert.deepEqual(mar.usage, [{ input: 'energy', unit: 'kWh', quantity: '410' }]);
    const { data } = await client.explainBill({ billID: mar.billID });
    assert.deepEqual(
      data.lines.map((line) => line.amount),
      [4000, 4200, 820],
    );
    assert.equal(unitsOf(apr), 800 - 720);
  });
}

// 310 -> 480 are 170, of which February's upload billed 200: 30 too much, taken off April's 100.
test('an upload for a skipped bill may exceed the usage up to the next bill', async () => {
  const { mar, apr } = await billsOfHome('exceeding');
  assert.deepEqual(energyOf(mar), [['energyCharge', '01/02/2026', 200 * 20]]);
  assert.equal(mar.usage[0]?.carried, '30');
  assert.equal(unitsOf(apr), 100 - 30);
});

// 310 -> 720 are 410. 150 were uploaded for March: 260 are of February, which was left out.
test('an upload for a term does not replace usage on the days of an earlier skipped bill', async () => {
  const { mar } = await billsOfHome('uploadedLater');
  assert.deepEqual(energyOf(mar), [
    ['energyCharge', '01/02/2026', 260 * 20],
    ['energyCharge', '01/03/2026', 150 * 20],
  ]);
});

// 200 and 150 for both months: the meter counts on no day, and April begins from its reading.
test('uploads for a skipped bill and for the next one replace the usage of all days', async () => {
  const { mar, apr } = await billsOfHome('bothUploaded');
  assert.deepEqual(energyOf(mar), [
    ['energyCharge', '01/02/2026', 200 * 20],
    ['energyCharge', '01/03/2026', 150 * 20],
  ]);
  assert.equal(unitsOf(apr), 800 - 720);
});

// As before, but without a reading in March. February's 520 is where April begins: 310 -> 520 are
// 210 of the 350 billed, and 1020 - 520 - 140 = 360, as much as 1020 - 310 - 350.
test('uploads for two terms are billed once if only the skipped one was read', async () => {
  const { mar, apr } = await billsOfHome('readOnce');
  assert.deepEqual([unitsOf(mar), mar.usage[0]?.carried], [350, '140']);
  assert.equal(unitsOf(apr), 360);
});

test('days that nothing was uploaded for still need their reading', async () => {
  const home = await openRead();
  await skipBill(home.run, await uploaded(home, february, { use: '200' }));
  const mar = await home.open(march);
  await home.lock(mar);
  await generate(home.run, mar);
  const bill = await billOf(home.run, mar);
  assert.deepEqual(
    bill.errors.map((error) => error.code),
    ['READING_MISSING'],
  );
});

// 310 -> 720 are 410, of which 200 were uploaded for February: 210 are left for March.
const modes = [
  [0, 'current', '200'],
  [1, 'current', '200'],
  [1, 'previous', '200'],
  // 310 + 28 days of 10: 590 is where March begins, which is 80 too far.
  [1, 'estimated', null],
] as const;
for (const [required, mode, carried] of modes) {
  const name = `${mode}, ${required === 1 ? 'needed' : 'not needed'}`;
  test(`an upload in place of an unread meter is billed once: ${name}`, async () => {
    const home = await openRead({ required });
    const feb = await billed(home, await uploaded(home, february, { use: '200', mode }));
    assert.equal(unitsOf(feb), 200);
    if (carried !== null) assert.equal(feb.usage[0]?.carried, carried);
    const term = await home.read(march, ['720', '31/03/2026']);
    const mar = await billed(home, term);
    assert.deepEqual(energyOf(mar), [['energyCharge', '01/03/2026', 210 * 20]]);
    const apr = await billed(home, await home.read(april, ['800', '30/04/2026']));
    assert.equal(unitsOf(apr), 80);
    await assertChecks(scene, home.run.tenantId);
  });
}

test('an upload is billed although there is a reading, and the next term begins from the reading', async () => {
  const { feb, mar } = await billsOfHome('readToo');
  assert.deepEqual(feb.usage, [{ input: 'energy', unit: 'kWh', quantity: '150' }]);
  assert.equal(unitsOf(mar), 200);
});

// It had stopped at 310, and counts again in March: 90.
test('an upload together with the reading of a stopped meter is not deducted later', async () => {
  const { feb, mar } = await billsOfHome('stopped');
  assert.deepEqual(feb.usage, [{ input: 'energy', unit: 'kWh', quantity: '200' }]);
  assert.equal(unitsOf(mar), 90);
});

// 200 for February and 100 for March, both unread; 310 -> 820 are 510, so 210 are left.
test('uploads for two unread terms are both deducted from the next reading', async () => {
  const { mar, apr } = await billsOfHome('bothUnread');
  assert.deepEqual([unitsOf(mar), mar.usage[0]?.carried], [100, '300']);
  assert.equal(unitsOf(apr), 210);
});

// 200 for February, unread; 100 for March, read 720: the uploads replace 310 -> 720.
test('an upload with a reading ends the deduction of earlier uploads', async () => {
  const { mar, apr } = await billsOfHome('readAgain');
  assert.deepEqual(mar.usage, [{ input: 'energy', unit: 'kWh', quantity: '100' }]);
  assert.equal(unitsOf(apr), 100);
});

// Unposted, and made again with the reading that came late: March begins from 520.
test('a bill with an upload that is unposted and made again with a reading carries nothing', async () => {
  const home = await openRead();
  const feb = await uploaded(home, february, { use: '200' });
  const before = await billed(home, feb);
  assert.equal(before.usage[0]?.carried, '200');
  await unpost(home.run, feb);
  await generate(home.run, feb);
  const { billID } = await billOf(home.run, feb);
  const hash = await hashOf(home.run, billID);
  await home.upload(feb, [['520', '28/02/2026']]);
  await home.lock(feb);
  assert.equal((await billed(home, feb)).usage[0]?.carried, undefined);
  assert.notEqual(await hashOf(home.run, billID), hash);
  const mar = await billed(home, await home.read(march, ['720', '31/03/2026']));
  assert.equal(unitsOf(mar), 200);
});

// The days of a bill that is cancelled are not billed again, and neither are the 200 of them.
test('what was uploaded for a bill that was cancelled is not billed by the next reading', async () => {
  const home = await openRead();
  const { billID } = await billed(home, await uploaded(home, february, { use: '200' }));
  await home.client.cancelBill({ data: { billID, reason: 'a mistake', rebill: false } });
  const mar = await billed(home, await home.read(march, ['720', '31/03/2026']));
  assert.equal(unitsOf(mar), 210);
});

// The rebill term has the upload too, and no new reading: 200, and then 210.
test('a bill with an upload that is cancelled and billed again is taken off once', async () => {
  const home = await openRead();
  const { billID } = await billed(home, await uploaded(home, february, { use: '200' }));
  await home.client.cancelBill({ data: { billID, reason: 'a mistake', rebill: true } });
  const again = await termAgain(home.run, billID);
  await home.lock(again);
  const second = await billed(home, again);
  assert.deepEqual([unitsOf(second), second.usage[0]?.carried], [200, '200']);
  const mar = await billed(home, await home.read(march, ['720', '31/03/2026']));
  assert.equal(unitsOf(mar), 210);
});

// 310 -> 600 with the old meter and 0 -> 150 with the new one are 440, of which 200 are billed.
test('an upload in place of an unread meter is deducted from the readings that follow', async () => {
  const home = await openRead();
  await billed(home, await uploaded(home, february, { use: '200' }));
  const { client, connection, number } = home;
  const fresh = await home.newMeter();
  await client.replaceMeter({
    data: {
      connectionNumber: connection,
      oldNumber: number,
      newNumber: fresh,
      replaceDate: '10/03/2026',
      finalReadings: [{ value: '600' }],
      initialReadings: [{ value: '0' }],
      reason: 'old',
    },
  });
  const term = await home.open(march);
  await home.upload(term, [['150', '31/03/2026', '', fresh]]);
  await home.lock(term);
  assert.equal(unitsOf(await billed(home, term)), 240);
});
