// Generating again, by calls alone: nothing changed gives the same hashes, and one corrected
// reading gives one other bill, with its cause.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schedule } from '../support/delivery.ts';
import { openMetered } from '../support/metered.ts';
import { openScene } from '../support/scene.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();
const { admin, tenantId, hung } = await openMetered(scene, 'again');

async function hashes(termID: number): Promise<Map<number, string>> {
  const { rows } = await scene.sql.query(
    `select bill_id, encode(hash, 'hex') as hash from bills
     where tenant_id = $1 and term_id = $2`,
    [tenantId, termID],
  );
  return new Map(rows.map((row) => [Number(row.bill_id), row.hash]));
}

function upload(termID: number, rows: string[][]) {
  const data = JSON.stringify({ termID, readings: rows });
  return admin.uploadMeterReadings({ operation: 'schedule', data: { data, sheduleTime: null } });
}

const read = (termID: number) =>
  admin.postMeterReadings({ operation: 'schedule', data: { termID, reading: 'current' } });

test('a corrected reading makes one other bill, which compare-runs names with its cause', async () => {
  const homes = [];
  for (let index = 0; index < 12; index += 1) homes.push(await hung());
  const termID = await newTerm(admin, { serviceCode: 'S1' });
  await upload(
    termID,
    homes.map(({ connection, number }, index) => [
      connection,
      String(number),
      String(100 + index),
      '31/01/2026',
    ]),
  );
  await read(termID);
  await admin.generateBills(schedule(termID));
  const first = await hashes(termID);
  assert.equal(first.size, 12);
  await admin.generateBills(schedule(termID));
  assert.deepEqual(await hashes(termID), first);
  const same = (await admin.compareRuns({ termID })).data;
  assert.deepEqual([same.run.runID, same.against.runID, same.differences], [2, 1, []]);

  // The fifth is read again on the next day, and shows 20 more.
  const { connection = '', number = 0 } = homes[4] ?? {};
  await admin.unpostMeterReadings({ data: { termID, connectionNumber: connection } });
  await upload(termID, [[connection, String(number), '124', '01/02/2026']]);
  await read(termID);
  await admin.generateBills(schedule(termID));
  const after = await hashes(termID);
  const { data } = await admin.compareRuns({ termID, runID: 3, againstRunID: 2 });
  assert.equal(data.differences.length, 1);
  const [difference] = data.differences;
  assert.deepEqual(
    [difference?.connectionNumber, difference?.before, difference?.after],
    // 104 * 20 + 10 %, then 124 * 20 + 10 %.
    [connection, 2_288, 2_728],
  );
  assert.deepEqual(difference?.lines, [
    { component: 'energyCharge', before: 2_080, after: 2_480 },
    { component: 'gst', before: 208, after: 248 },
  ]);
  assert.deepEqual(difference?.causes, [
    {
      kind: 'Reading',
      name: `${number} kWh`,
      before: '104 on 31/01/2026',
      after: '124 on 01/02/2026',
    },
  ]);
  const changed = [...after].filter(([billId, hash]) => first.get(billId) !== hash);
  assert.deepEqual(
    changed.map(([billId]) => billId),
    [difference?.billID],
  );
});
