// Steps 3 and 4 of the bill run: readings are uploaded for a term, locked, and given back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { openMetered } from '../support/metered.ts';
import { insertSubscriptions } from '../support/plain-subscription.ts';
import { openScene } from '../support/scene.ts';
import { newTerm, termOf } from '../support/terms.ts';
import { hashRows, leavesJobsOnly } from '../support/two-workspaces.ts';

const scene = await openScene();
scene.runJobs();
const energy = {
  name: 'energy',
  unit: 'kWh',
  estimation: { allowed: 1 as const, maxConsecutive: 2 },
};
const reads = await openMetered(scene, 'reads', {
  meteredInputs: [energy],
  batches: Array.from({ length: 20 }, (_, index) => ({ batchCode: `B${index}`, label: 'x' })),
});
/** What a message goes on with where readings are missing or under review. */
const advice =
  '. Bills that need these readings will be in Error: enter or review them, and post again';

const { admin, tenantId, serviceCode, newMeter, newSubscription, hung } = reads;
await scene.enter(admin);

let batches = 0;

/** A batch for each test, so that it bills no meters of other tests. */
async function inBatch(...connections: string[]): Promise<string> {
  const batchCode = `B${batches}`;
  batches += 1;
  await scene.sql.query(
    `update subscriptions set batch_id = b.batch_id from batches b
     where b.tenant_id = $3 and b.code = $1
       and subscriptions.tenant_id = $3 and subscription_number = any($2)`,
    [batchCode, connections, tenantId],
  );
  return batchCode;
}

const january = { startDate: '01/01/2026', endDate: '31/01/2026' };
const february = { startDate: '01/02/2026', endDate: '28/02/2026' };

const termIn = (batchCode: string, days = january) =>
  newTerm(admin, { serviceCode, batchCode, ...days });

function upload(termID: number, ...readings: unknown[]) {
  const data = JSON.stringify({ termID, readings });
  return admin.uploadMeterReadings({ operation: 'schedule', data: { data, sheduleTime: null } });
}

function post(termID: number, reading: string = 'current') {
  return admin.postMeterReadings({ operation: 'schedule', data: { termID, reading } });
}

/** What the term has locked: meter, start and end of each register. */
async function lockedIn(termID: number) {
  const { rows } = await scene.sql.query(
    `select m.number::integer, to_char(t.previous_date, 'DD/MM') as from_date,
       t.previous_value::float8 as from_value, to_char(t.reading_date, 'DD/MM') as to_date,
       t.value::float8 as to_value, t.reading_type as type, t.estimates, t.is_stand_in
     from term_readings t
     join meter_assignments a using (tenant_id, assignment_id)
     join meters m using (tenant_id, meter_id)
     where t.term_id = $1 order by m.number, t.position`,
    [termID],
  );
  return rows.map((row) => Object.values(row));
}

const changesNothing = (work: () => Promise<unknown>) => leavesJobsOnly(scene.sql, work);

test('uploaded readings are stored, judged, and listed with their meters', async () => {
  const { connection, number } = await hung({ value: '100' });
  const termID = await termIn(await inBatch(connection));
  const done = await upload(termID, [connection, String(number), '250', '31/01/2026']);
  assert.deepEqual(done.data, {});
  assert.equal(done.message, '1 reading stored');
  assert.ok(done.headers.get('x-job-id'));
  const { data } = await admin.getReadings({ number });
  const last = data.readings.at(-1);
  assert.deepEqual([last?.value, last?.status, last?.termID], ['250', 'Accepted', null]);
  assert.equal((await termOf(admin, termID)).stage, 'ReadingsUploaded');
  await upload(termID, [connection, String(number), '260', '01/02/2026', 'Customer', 'by phone']);
  const { data: more } = await admin.getReadings({ number });
  const second = more.readings.at(-1);
  assert.deepEqual([second?.readingType, second?.remark], ['Customer', 'by phone']);
});

test('every bad row of an upload is named, and nothing is stored', async () => {
  const { connection, number } = await hung();
  const other = await hung();
  const three = await newMeter({ meterType: 2 });
  const several = await newSubscription();
  await admin
    .assignMeter({
      data: {
        connectionNumber: several,
        number: three,
        installDate: '01/01/2026',
        meteredInput: 'energy',
        initialReadings: [
          { register: 'kWhPeak', value: '0' },
          { register: 'kWhOffPeak', value: '0' },
          { register: 'kW', value: '0' },
        ],
      },
    })
    .catch(() => {});
  const termID = await termIn(await inBatch(connection));
  const meter = String(number);
  const rows: [string[], string][] = [
    [['NONE', meter, '1', '31/01/2026'], 'SUBSCRIPTION_NOT_FOUND'],
    [[connection, '999', '1', '31/01/2026'], 'METER_NOT_FOUND'],
    [[connection, 'x', '1', '31/01/2026'], 'METER_NOT_FOUND'],
    [[other.connection, meter, '1', '31/01/2026'], 'METER_NOT_ASSIGNED'],
    [[connection, meter, '1', '31/12/2025'], 'METER_NOT_ASSIGNED'],
    [[connection, meter, 'x', '31/01/2026'], 'INVALID_NUMBER'],
    [[connection, meter, '-1', '31/01/2026'], 'INVALID_NUMBER'],
    [[connection, meter, '1234567', '31/01/2026'], 'INVALID_NUMBER'],
    [[connection, meter, '1', '31/02/2026'], 'INVALID_DATE'],
    [[connection, meter, '1', '2026-01-31'], 'INVALID_DATE'],
    [[connection, meter, '1', '31/01/0226'], 'INVALID_DATE'],
    [[connection, meter, '1', '01/01/2030'], 'DATE_IN_FUTURE'],
    [[connection, meter, '1', '31/01/2026', 'Guess'], 'INVALID_ENUM'],
    [[connection, meter, '1', '31/01/2026', 'Installation'], 'INVALID_ENUM'],
    [[connection, meter, '1', '31/01/2026', '', '', 'kVA'], 'REGISTER_REQUIRED'],
  ];
  await changesNothing(async () => {
    for (const [row, code] of rows) {
      const refusal = await refuses(upload(termID, row), code as never);
      const statusCode = code.endsWith('NOT_FOUND') ? 404 : 422;
      assert.equal(refusal.statusCode, statusCode, code);
      assert.match(refusal.error.details[0]?.field ?? '', /^data\.data\.readings\[0\]\./);
    }
    const good = [connection, meter, '10', '15/01/2026'];
    const all = await refuses(upload(termID, good, ...rows.map(([row]) => row)), 'ROWS_REJECTED');
    assert.equal(all.error.details.length, rows.length);
    assert.deepEqual(
      all.error.details.map(({ code }) => code),
      rows.map(([, code]) => code),
    );
    assert.match(all.error.details[0]?.field ?? '', /^data\.data\.readings\[1\]\./);
    const twice = await refuses(upload(termID, good, good), 'DUPLICATE_ROW');
    assert.match(twice.error.details[0]?.field ?? '', /^data\.data\.readings\[1\]\./);
  });
});

test('a file that is sent twice changes nothing, and one that has grown adds what is new', async () => {
  const { connection, number } = await hung();
  const termID = await termIn(await inBatch(connection));
  const row = (value: string, date: string) => [connection, String(number), value, date];
  const first = [row('100', '15/01/2026'), row('110', '16/01/2026')];
  assert.equal((await upload(termID, ...first)).message, '2 readings stored');
  const again = await upload(termID, ...first);
  assert.equal(again.message, '0 readings stored, 2 unchanged');
  assert.equal((await admin.getReadings({ number })).data.readings.length, 3);
  // However it is written.
  const grown = [row('+100', '15/01/2026'), row('0110', '16/01/2026'), row('300', '31/01/2026')];
  assert.equal((await upload(termID, ...grown)).message, '1 reading stored, 2 unchanged');
  await admin.postMeterReadings({ operation: 'schedule', data: { termID, reading: 'current' } });
  assert.equal((await upload(termID, ...grown)).message, '0 readings stored, 3 unchanged');
  await changesNothing(async () => {
    const other = await refuses(
      upload(termID, ...first, row('310', '31/01/2026')),
      'DUPLICATE_ROW',
    );
    assert.deepEqual(
      other.error.details.map(({ field }) => field),
      ['data.data.readings[2].readingDate'],
    );
    const [one] = first;
    const twice = await refuses(upload(termID, one, one), 'DUPLICATE_ROW');
    assert.match(twice.error.details[0]?.message ?? '', /has this reading of 15\/01\/2026 already/);
    const late = row('111', '17/01/2026');
    await refuses(upload(termID, one, late), 'READING_LOCKED');
  });
});

test('an upload whose text is no upload is refused before anything is asked for', async () => {
  const termID = await termIn(await inBatch());
  const send = (data: string) =>
    admin.uploadMeterReadings({ operation: 'schedule', data: { data, sheduleTime: null } });
  const before = await hashRows(scene.sql);
  await refuses(send('{"termID": 1'), 'MALFORMED_INNER_JSON', { statusCode: 400 });
  await refuses(send('[]'), 'MALFORMED_INNER_JSON');
  await refuses(send('{"readings": []}'), 'REQUIRED_FIELD', { field: 'data.data.termID' });
  await refuses(send('{"termID": "1", "readings": []}'), 'INVALID_TYPE');
  await refuses(send(`{"termID": ${termID}}`), 'REQUIRED_FIELD');
  await refuses(send(`{"termID": ${termID}, "readings": {}}`), 'INVALID_TYPE');
  await refuses(upload(termID, ['A', '1', '1']), 'INVALID_TYPE', {
    field: 'data.data.readings[0]',
  });
  await refuses(upload(termID, ['A', 1, '1', '31/01/2026']), 'INVALID_TYPE');
  await refuses(upload(termID, Array(8).fill('x')), 'INVALID_TYPE');
  await refuses(upload(termID, ['A\0', '1', '1', '31/01/2026']), 'INVALID_CHARACTER');
  await refuses(upload(termID, ['A', '1', '1'.repeat(501), '31/01/2026']), 'FIELD_TOO_LONG');
  const bad = [['A'], ['A\0', '1', '1', '31/01/2026']];
  const both = await refuses(upload(termID, ...bad), 'ROWS_REJECTED', { statusCode: 422 });
  assert.deepEqual(
    both.error.details.map(({ field, code }) => [field, code]),
    [
      ['data.data.readings[0]', 'INVALID_TYPE'],
      ['data.data.readings[1]', 'INVALID_CHARACTER'],
    ],
  );
  const row = ['A', '1', '1', '31/01/2026'];
  await refuses(upload(termID, ...Array(100_001).fill(row)), 'TOO_MANY_ITEMS');
  await refuses(upload(999_999, row), 'TERM_NOT_FOUND', {
    field: 'data.data.termID',
    statusCode: 404,
  });
  assert.deepEqual(await hashRows(scene.sql), before);
});

test('the term and the rows of a text are refused with the codes that they have elsewhere', async () => {
  const operation = 'schedule' as const;
  const cases = [
    [{}, 'REQUIRED_FIELD'],
    [{ termID: null }, 'REQUIRED_FIELD'],
    [{ termID: 0 }, 'INVALID_NUMBER'],
    [{ termID: -1 }, 'INVALID_NUMBER'],
    [{ termID: 1.5 }, 'INVALID_TYPE'],
    [{ termID: '1' }, 'INVALID_TYPE'],
    [{ termID: [] }, 'INVALID_TYPE'],
  ] as const;
  for (const [named, code] of cases) {
    const outer = { reading: 'current', sheduleTime: null, ...named } as never;
    await refuses(admin.postMeterReadings({ operation, data: outer }), code, {
      field: 'data.termID',
    });
    const inner = { data: JSON.stringify({ ...named, readings: [] }), sheduleTime: null };
    await refuses(admin.uploadMeterReadings({ operation, data: inner }), code, {
      field: 'data.data.termID',
    });
  }
  const none = { data: '{"termID": 1, "readings": null}', sheduleTime: null };
  const refusal = await refuses(
    admin.uploadMeterReadings({ operation, data: none }),
    'REQUIRED_FIELD',
  );
  assert.equal(refusal.error.message, 'data.data.readings is required');
});

test('the last reading of a removed meter is locked, although no meter is installed now', async () => {
  const { connection, number } = await hung({ value: '100' });
  const termID = await termIn(await inBatch(connection));
  await admin.disconnectConnection({
    data: {
      connectionNumber: connection,
      effectiveDate: '21/01/2026',
      kind: 'Permanent',
      readings: [{ number, value: '160' }],
    },
  });
  assert.equal((await post(termID)).message, '1 reading locked');
  assert.deepEqual(await lockedIn(termID), [
    [number, '01/01', 100, '21/01', 160, 'Final', 0, false],
  ]);
});

test('current locks the newest accepted reading up to the grace days after the end', async () => {
  const [a, b, c] = [await hung({ value: '100' }), await hung(), await hung()];
  const termID = await termIn(await inBatch(a.connection, b.connection, c.connection));
  await upload(
    termID,
    [a.connection, String(a.number), '200', '20/01/2026'],
    [a.connection, String(a.number), '320', '05/02/2026'],
    [a.connection, String(a.number), '330', '06/02/2026'],
    [b.connection, String(b.number), '90', '06/02/2026'],
  );
  const done = await post(termID);
  assert.equal(done.message, `1 reading locked, 2 missing${advice}`);
  assert.deepEqual(await lockedIn(termID), [
    [a.number, '01/01', 100, '05/02', 320, 'Actual', 0, false],
  ]);
  const term = await termOf(admin, termID);
  assert.deepEqual([term.stage, term.status, term.stale], ['ReadingsPosted', 'Open', false]);
  const { data } = await admin.getReadings({ number: a.number, status: 'Locked' });
  assert.deepEqual(
    data.readings.map((reading) => [reading.value, reading.termID]),
    [['320', termID]],
  );
  // What arrives later is locked by the next call, and nothing is locked twice.
  await upload(termID, [c.connection, String(c.number), '33', '31/01/2026']);
  assert.equal((await post(termID)).message, `1 reading locked, 1 missing${advice}`);
  assert.equal((await post(termID)).message, `0 readings locked, 1 missing${advice}`);
  await refuses(
    upload(termID, [a.connection, String(a.number), '300', '04/02/2026']),
    'READING_LOCKED',
    { statusCode: 422 },
  );
});

test('the next term begins where the last one ended', async () => {
  const { connection, number } = await hung({ value: '10' });
  const batch = await inBatch(connection);
  const [first, second] = [await termIn(batch), await termIn(batch, february)];
  await upload(first, [connection, String(number), '40', '01/02/2026']);
  await post(first);
  await upload(second, [connection, String(number), '70', '27/02/2026']);
  await post(second);
  assert.deepEqual(await lockedIn(second), [
    [number, '01/02', 40, '27/02', 70, 'Actual', 0, false],
  ]);
});

test('a reading under review is not locked, and neither is an older one in its place', async () => {
  const { connection, number } = await hung({ value: '500' });
  const termID = await termIn(await inBatch(connection));
  await upload(
    termID,
    [connection, String(number), '600', '20/01/2026'],
    [connection, String(number), '550', '31/01/2026'],
  );
  assert.equal((await post(termID)).message, `0 readings locked, 1 under review${advice}`);
  const estimated = await post(termID, 'estimated');
  assert.equal(estimated.message, `0 readings locked, 1 under review${advice}`);
  const { data } = await admin.getReadings({ number, status: 'Review' });
  const readingID = data.readings[0]?.readingID ?? 0;
  await admin.reviewReading({ data: { readingID, decision: 'Accept', value: '650' } });
  assert.equal((await post(termID)).message, '1 reading locked');
  assert.deepEqual((await lockedIn(termID))[0]?.slice(3, 5), ['31/01', 650]);
  await refuses(admin.reviewReading({ data: { readingID, decision: 'Reject' } }), 'READING_LOCKED');
});

test('a meter that was exchanged is billed up to its last reading, and the new one too', async () => {
  const { connection, number } = await hung({ value: '100' });
  const next = await newMeter();
  await admin.replaceMeter({
    data: {
      connectionNumber: connection,
      oldNumber: number,
      newNumber: next,
      replaceDate: '15/01/2026',
      finalReadings: [{ value: '160' }],
      initialReadings: [{ value: '5' }],
      reason: 'broken',
    },
  });
  const batch = await inBatch(connection);
  const termID = await termIn(batch);
  await upload(termID, [connection, String(next), '45', '31/01/2026']);
  assert.equal((await post(termID)).message, '2 readings locked');
  assert.deepEqual(await lockedIn(termID), [
    [number, '01/01', 100, '15/01', 160, 'Removal', 0, false],
    [next, '15/01', 5, '31/01', 45, 'Actual', 0, false],
  ]);
  // The old one asks for nothing any more.
  const second = await termIn(batch, february);
  assert.equal((await post(second)).message, `0 readings locked, 1 missing${advice}`);
});

test('previous takes the reading before again, until one comes in', async () => {
  const { connection, number } = await hung({ value: '70' });
  const termID = await termIn(await inBatch(connection));
  assert.equal((await post(termID, 'previous')).message, '0 readings locked, 1 taken again');
  assert.deepEqual(await lockedIn(termID), [
    [number, '01/01', 70, '01/01', 70, 'Installation', 0, true],
  ]);
  assert.equal((await post(termID, 'previous')).message, '0 readings locked');
  await upload(termID, [connection, String(number), '90', '31/01/2026']);
  assert.equal((await post(termID)).message, '1 reading locked');
  assert.deepEqual(await lockedIn(termID), [
    [number, '01/01', 70, '31/01', 90, 'Actual', 0, false],
  ]);
});

test('estimated makes readings from earlier terms, as often in a row as allowed', async () => {
  const { connection, number } = await hung({ value: '0' });
  const batch = await inBatch(connection);
  const months = [january, february].concat(
    ['03', '04', '05'].map((month) => ({
      startDate: `01/${month}/2026`,
      endDate: `${month === '04' ? 30 : 31}/${month}/2026`,
    })),
  );
  const [jan, feb, mar, apr, may] = (await Promise.all(
    months.map((days) => termIn(batch, days)),
  )) as [number, number, number, number, number];
  assert.equal((await post(jan, 'estimated')).message, `0 readings locked, 1 missing${advice}`);
  await upload(jan, [connection, String(number), '62', '31/01/2026']);
  await post(jan);
  // 62 in 31 days; February has 28 days: 62 + 2 * 28.
  assert.equal((await post(feb, 'estimated')).message, '0 readings locked, 1 estimated');
  assert.deepEqual(await lockedIn(feb), [
    [number, '31/01', 62, '28/02', 118, 'Estimated', 1, true],
  ]);
  assert.equal((await post(mar, 'estimated')).message, '0 readings locked, 1 estimated');
  // 118 + 2 * 31: the estimate itself says nothing, January does.
  assert.deepEqual((await lockedIn(mar))[0]?.slice(4, 7), [180, 'Estimated', 2]);
  assert.equal((await post(apr, 'estimated')).message, `0 readings locked, 1 missing${advice}`);
  await upload(apr, [connection, String(number), '200', '30/04/2026']);
  await post(apr);
  assert.deepEqual((await lockedIn(apr))[0]?.slice(1, 7), [
    '31/03',
    180,
    '30/04',
    200,
    'Actual',
    0,
  ]);
  assert.equal((await post(may, 'estimated')).message, '0 readings locked, 1 estimated');
  const { data } = await admin.getReadings({ number, termID: feb });
  assert.deepEqual(
    data.readings.map(({ value, readingType, source, status }) => [
      value,
      readingType,
      source,
      status,
    ]),
    [['118', 'Estimated', `term ${feb}`, 'Locked']],
  );
});

test('a reading that comes in takes the place of the estimate, which is rejected', async () => {
  const { connection, number } = await hung({ value: '0' });
  const batch = await inBatch(connection);
  const [jan, feb] = [await termIn(batch), await termIn(batch, february)];
  await upload(jan, [connection, String(number), '62', '31/01/2026']);
  await post(jan);
  await post(feb, 'estimated');
  await upload(feb, [connection, String(number), '99', '27/02/2026']);
  assert.equal((await post(feb, 'estimated')).message, '1 reading locked');
  assert.deepEqual(await lockedIn(feb), [[number, '31/01', 62, '27/02', 99, 'Actual', 0, false]]);
  const { data } = await admin.getReadings({ number, status: 'Rejected' });
  assert.deepEqual(
    data.readings.map((reading) => reading.value),
    ['118'],
  );
});

test('readings are given back: of one subscription, or all, with the drafts made of them', async () => {
  const [a, b] = [await hung(), await hung()];
  const termID = await termIn(await inBatch(a.connection, b.connection));
  for (const { connection, number } of [a, b]) {
    await upload(termID, [connection, String(number), '50', '31/01/2026']);
  }
  await post(termID);
  const unpost = (connectionNumber?: string) =>
    admin.unpostMeterReadings({ data: { termID, ...(connectionNumber && { connectionNumber }) } });
  await refuses(unpost('NONE'), 'SUBSCRIPTION_NOT_FOUND', { statusCode: 404 });
  assert.equal((await unpost(a.connection)).message, '1 reading unlocked');
  assert.deepEqual(
    (await lockedIn(termID)).map(([number]) => number),
    [b.number],
  );
  const { data } = await admin.getReadings({ number: a.number, status: 'Locked' });
  assert.deepEqual(data.readings, []);
  assert.equal((await termOf(admin, termID)).stage, 'ReadingsPosted');
  assert.equal((await unpost()).message, '1 reading unlocked');
  assert.deepEqual(await lockedIn(termID), []);
  assert.equal((await termOf(admin, termID)).stage, 'ReadingsUploaded');
  assert.equal((await unpost()).message, '0 readings unlocked');
  assert.equal((await post(termID)).message, '2 readings locked');
  assert.equal((await termOf(admin, termID)).stage, 'ReadingsPosted');
});

test('a term without meters has nothing to lock', async () => {
  const [plain] = await insertSubscriptions(scene, tenantId, 1);
  const termID = await termIn(await inBatch(plain?.number ?? ''));
  assert.equal((await post(termID)).message, 'No subscription of the term is metered');
  assert.equal((await termOf(admin, termID)).stage, 'Created');
});

test('a cancelled term gives its readings back', async () => {
  const { connection, number } = await hung();
  const batch = await inBatch(connection);
  const termID = await termIn(batch);
  await upload(termID, [connection, String(number), '50', '31/01/2026']);
  await post(termID);
  await admin.cancelTerm({ data: { termID, reason: 'again' } });
  assert.deepEqual(await lockedIn(termID), []);
  const again = await termIn(batch);
  assert.equal((await post(again)).message, '1 reading locked');
});

test('the reading word and the state of the term are looked at first', async () => {
  const { connection, number } = await hung();
  const termID = await termIn(await inBatch(connection));
  const row = [connection, String(number), '1', '31/01/2026'];
  const refusal = await refuses(post(termID, 'guessed'), 'INVALID_READING_MODE', {
    statusCode: 422,
  });
  assert.deepEqual(refusal.error.allowed, ['current', 'estimated', 'previous']);
  for (const [status, stage] of [
    ['Open', 'Posting'],
    ['Posted', 'Posted'],
    ['Published', 'Published'],
    ['Published', 'Distributed'],
    ['Cancelled', 'Cancelled'],
  ]) {
    await scene.sql.query('update terms set status = $1, stage = $2 where term_id = $3', [
      status,
      stage,
      termID,
    ]);
    const before = await hashRows(scene.sql);
    await refuses(post(termID), 'INVALID_STATE', { statusCode: 409 });
    await refuses(upload(termID, row), 'INVALID_STATE');
    await refuses(admin.unpostMeterReadings({ data: { termID } }), 'INVALID_STATE');
    assert.deepEqual(await hashRows(scene.sql), before);
  }
});

test('after bills were generated a step leaves the stage and makes the term stale', async () => {
  const { connection, number } = await hung();
  const termID = await termIn(await inBatch(connection));
  await upload(termID, [connection, String(number), '50', '20/01/2026']);
  const generate = () =>
    scene.sql.query(
      `update terms set stage = 'Generated', run_number = 1, is_stale = false where term_id = $1`,
      [termID],
    );
  const stood = async () => {
    const { stage, stale } = await termOf(admin, termID);
    return [stage, stale];
  };
  await generate();
  await post(termID);
  assert.deepEqual(await stood(), ['Generated', true]);
  await generate();
  await post(termID);
  assert.deepEqual(await stood(), ['Generated', false], 'nothing was locked');
  await upload(termID, [connection, String(number), '60', '31/01/2026']);
  assert.deepEqual(await stood(), ['Generated', true]);
  await generate();
  await admin.unpostMeterReadings({ data: { termID } });
  assert.deepEqual(await stood(), ['Generated', true]);
});
