// Step 5 of the bill run, and usage that no meter measures.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { ask } from '../support/http.ts';
import { insertSubscriptions } from '../support/plain-subscription.ts';
import { newTariff, type Service, smallService } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newTerm, termOf } from '../support/terms.ts';
import { hashRows, leavesJobsOnly } from '../support/two-workspaces.ts';

const scene = await openScene();
scene.runJobs();
const admin = await scene.workspace('values');
const tenantId = await scene.enter(admin);
await admin.makeUsers({ userType: 'customer', users: [{ name: 'Asma Khan' }] });
await admin.updateUser({
  user: { partyID: 1, connectionGroups: [{ connectionGroupLabel: 'House 1' }] },
});
const components: Service['components'] = [
  ...smallService.components,
  { name: 'repairs', label: 'Repairs', type: 'Charge', manual: 'Optional' },
  { name: 'goodwill', label: 'Good will', type: 'Discount', manual: 'Optional' },
  { name: 'subsidy', label: 'Subsidy', type: 'Subsidy', manual: 'Required' },
  { name: 'late', label: 'Late', type: 'LateSurcharge', manual: 'Optional' },
  { name: 'hallDay', label: 'Hall', type: 'Charge', manual: 'Optional' },
  { name: 'hallNight', label: 'Hall', type: 'Charge', manual: 'Optional' },
];
const unmeteredInputs: Service['unmeteredInputs'] = [
  { name: 'calls', unit: 'call', source: 'Uploaded' },
  { name: 'taps', unit: 'tap', source: 'Subscription' },
];
await admin.createService({ service: { ...smallService, components, unmeteredInputs } });
await newTariff(admin, 'ELEC');
await admin.updateService({
  service: { code: 'ELEC', batches: [{ batchCode: 'B01', label: 'North' }] },
});
const members = await insertSubscriptions(scene, tenantId, 3);
const [one, two, three] = members.map((member) => member.number) as [string, string, string];
const [outsider] = (await insertSubscriptions(scene, tenantId, 1, { batchId: 2 })).map(
  (o) => o.number,
);
const [billed] = (
  await insertSubscriptions(scene, tenantId, 1, { billedThrough: '2026-12-31' })
).map((o) => o.number);

let months = 0;

/** A month of its own for each test. */
function nextTerm(): Promise<number> {
  months += 1;
  const first = Temporal.PlainDate.from('2026-01-01').add({ months: months - 1 });
  const date = (day: Temporal.PlainDate) => day.toString().split('-').reverse().join('/');
  const endDate = date(first.add({ months: 1 }).subtract({ days: 1 }));
  return newTerm(admin, { serviceCode: 'ELEC', startDate: date(first), endDate });
}

function post(termID: number, ...compsData: unknown[]) {
  const data = JSON.stringify({ termID, compsData });
  return admin.postManualComponentValues({
    operation: 'schedule',
    data: { data, sheduleTime: '' },
  });
}

function upload(termID: number, ...usage: unknown[]) {
  const data = JSON.stringify({ termID, usage });
  return admin.uploadUsage({ operation: 'schedule', data: { data } });
}

async function valuesOf(termID: number) {
  const { rows } = await scene.sql.query(
    `select s.subscription_number, m.component, trim_scale(m.value)::text as value
     from manual_values m join subscriptions s using (tenant_id, subscription_id)
     where m.term_id = $1 order by 1, 2`,
    [termID],
  );
  return rows.map((row) => Object.values(row));
}

async function usageOf(termID: number) {
  const { rows } = await scene.sql.query(
    `select s.subscription_number, u.input, u.usage_date::text, trim_scale(u.quantity)::text
     from term_usage u join subscriptions s using (tenant_id, subscription_id)
     where u.term_id = $1 order by 1, 2, u.usage_date`,
    [termID],
  );
  return rows.map((row) => Object.values(row));
}

const changesNothing = (work: () => Promise<unknown>) => leavesJobsOnly(scene.sql, work);

test('values are stored, replaced and removed, by the name or the label of a component', async () => {
  const termID = await nextTerm();
  const done = await post(
    termID,
    [one, 'repairs', '150.00'],
    [one, 'Good will', '-20'],
    [two, 'repairs', '0'],
  );
  assert.deepEqual(done.data, {});
  assert.equal(done.message, '3 values stored');
  assert.deepEqual(await valuesOf(termID), [
    [one, 'goodwill', '-20'],
    [one, 'repairs', '150'],
    [two, 'repairs', '0'],
  ]);
  assert.equal((await termOf(admin, termID)).stage, 'ComponentsPosted');
  const second = await post(termID, [one, 'repairs', '175.5'], [two, 'repairs', '']);
  assert.equal(second.message, '1 value stored, 1 removed');
  assert.deepEqual(await valuesOf(termID), [
    [one, 'goodwill', '-20'],
    [one, 'repairs', '175.5'],
  ]);
  // It is gone already.
  assert.equal((await post(termID, [two, 'repairs', ''])).message, '0 values stored');
  assert.equal((await post(termID)).message, '0 values stored');
});

test('every bad row of values is named, and nothing is stored', async () => {
  const termID = await nextTerm();
  const rows: [unknown[], string][] = [
    [['NONE', 'repairs', '1'], 'SUBSCRIPTION_NOT_FOUND'],
    [[outsider, 'repairs', '1'], 'SUBSCRIPTION_NOT_IN_TERM'],
    [[billed, 'repairs', '1'], 'SUBSCRIPTION_NOT_IN_TERM'],
    [[one, 'none', '1'], 'COMPONENT_NOT_FOUND'],
    [[one, 'constructor', '1'], 'COMPONENT_NOT_FOUND'],
    [[one, 'Hall', '1'], 'COMPONENT_NOT_FOUND'],
    [[one, 'energyCharge', '1'], 'COMPONENT_NOT_MANUAL'],
    [[one, 'late', '1'], 'COMPONENT_NOT_MANUAL'],
    [[one, 'repairs', '1,000'], 'INVALID_NUMBER'],
    [[one, 'repairs', '1e3'], 'INVALID_NUMBER'],
    [[one, 'repairs', '-1'], 'INVALID_NUMBER'],
    [[one, 'repairs', 'NaN'], 'INVALID_NUMBER'],
    [[one, 'repairs', '٣'], 'INVALID_NUMBER'],
  ];
  await changesNothing(async () => {
    for (const [row, code] of rows) {
      const refusal = await refuses(post(termID, row), code as never);
      const statusCode = code.endsWith('NOT_FOUND') ? 404 : 422;
      assert.equal(refusal.statusCode, statusCode, code);
      assert.match(refusal.error.details[0]?.field ?? '', /^data\.data\.compsData\[0\]\[[012]\]$/);
    }
    const good = [one, 'repairs', '5'];
    const all = await refuses(post(termID, good, ...rows.map(([row]) => row)), 'ROWS_REJECTED');
    assert.equal(all.error.details.length, rows.length);
    await refuses(post(termID, good, [one, 'Repairs', '6']), 'DUPLICATE_ROW', { statusCode: 422 });
    // More than an answer names: it tells how many there are.
    const many = Array.from({ length: 700 }, (_, index) => [`NONE-${index}`, 'repairs', '1']);
    const unknown = await refuses(post(termID, ...many), 'SUBSCRIPTION_NOT_FOUND');
    assert.equal(unknown.error.details.length, 500);
    const told = '700 problems in the rows, the first: No subscription has the number NONE-0';
    assert.equal(unknown.error.message, told);
    await refuses(post(termID, [one, 'repairs']), 'INVALID_TYPE', { statusCode: 400 });
    await refuses(post(termID, [one, 'repairs', 5]), 'INVALID_TYPE');
    await refuses(
      admin.postManualComponentValues({ operation: 'schedule', data: { data: 'x' } }),
      'MALFORMED_INNER_JSON',
    );
    await refuses(post(999, good), 'TERM_NOT_FOUND', { field: 'data.data.termID' });
  });
  assert.equal((await termOf(admin, termID)).stage, 'Created');
});

test('unknown keys next to the rows of an upload are named, also if it is refused', async () => {
  const termID = await nextTerm();
  const headers = { 'X-Workspace': 'values', Authorization: admin.token ?? '' };
  const named = async (path: string, action: string, inner: object) => {
    const data = { data: JSON.stringify({ termID, ...inner }), colour: 1 };
    const words = { method: 'Update', action, apiVersion: 'v2', operation: 'schedule' };
    const body = JSON.stringify({ ...words, data });
    const answered = await ask(scene.baseUrl, `/billing/terms/${path}`, { headers, body });
    const code = answered.envelope.error?.code ?? null;
    return [code, answered.headers.get('x-ignored-fields')];
  };
  const path = 'post-manual-component-values';
  const unknown = { 'due date': 1, usage: [] };
  assert.deepEqual(await named(path, 'Upload Manual Comps', { compsData: [], ...unknown }), [
    null,
    'data.colour,data.data.due%20date,data.data.usage',
  ]);
  assert.deepEqual(await named('upload-usage', 'Upload Usage', { usage: [], extra: {} }), [
    null,
    'data.colour,data.data.extra',
  ]);
  const readings = { Readings: [] };
  assert.deepEqual(await named('upload-meter-readings', 'Upload Meter Readings', readings), [
    'REQUIRED_FIELD',
    'data.colour,data.data.Readings',
  ]);
});

test('usage is stored for the term or a day, replaced and removed', async () => {
  const termID = await nextTerm();
  const month = `0${months}/2026`;
  assert.equal(
    (await upload(termID, [one, 'calls', '120'], [one, 'calls', '7', `05/${month}`])).message,
    '2 rows stored',
  );
  await upload(termID, [two, 'energy', '10.25', `05/${month}`], [three, 'taps', '3']);
  const day = `2026-0${months}-05`;
  assert.deepEqual(await usageOf(termID), [
    [one, 'calls', day, '7'],
    [one, 'calls', 'infinity', '120'],
    [two, 'energy', day, '10.25'],
    [three, 'taps', 'infinity', '3'],
  ]);
  const back = [one, 'calls', ''];
  assert.equal(
    (await upload(termID, back, [one, 'calls', '8', `05/${month}`])).message,
    '1 row stored, 1 removed',
  );
  assert.equal((await upload(termID, back)).message, '0 rows stored');
  assert.deepEqual((await usageOf(termID))[0], [one, 'calls', day, '8']);
  assert.equal((await usageOf(termID)).length, 3);
  assert.equal((await termOf(admin, termID)).stage, 'Created');
});

test('every bad row of usage is named, and nothing is stored', async () => {
  const termID = await nextTerm();
  const rows: [unknown[], string][] = [
    [['NONE', 'calls', '1'], 'SUBSCRIPTION_NOT_FOUND'],
    [[outsider, 'calls', '1'], 'SUBSCRIPTION_NOT_IN_TERM'],
    [[one, 'repairs', '1'], 'UNKNOWN_INPUT'],
    [[one, 'calls', '-1'], 'INVALID_NUMBER'],
    [[one, 'calls', 'x'], 'INVALID_NUMBER'],
    [[one, 'calls', '1', '31/02/2026'], 'INVALID_DATE'],
    [[one, 'calls', '1', '01/01/2030'], 'INVALID_DATE'],
    [[one, 'calls', '1', '01/01/2020'], 'INVALID_DATE'],
  ];
  await changesNothing(async () => {
    for (const [row, code] of rows) {
      const refusal = await refuses(upload(termID, row), code as never);
      assert.equal(refusal.statusCode, code.endsWith('NOT_FOUND') ? 404 : 422, code);
    }
    const good = [one, 'calls', '5'];
    const all = await refuses(upload(termID, good, ...rows.map(([row]) => row)), 'ROWS_REJECTED');
    assert.equal(all.error.details.length, rows.length);
    await refuses(upload(termID, good, good), 'DUPLICATE_ROW');
    await refuses(upload(termID, [one, 'calls']), 'INVALID_TYPE');
  });
});

test('values and usage are refused in every state but Open', async () => {
  const termID = await nextTerm();
  for (const [status, stage] of [
    ['Open', 'Posting'],
    ['Posted', 'Posted'],
    ['Published', 'Distributing'],
    ['Cancelled', 'Cancelled'],
  ]) {
    await scene.sql.query('update terms set status = $1, stage = $2 where term_id = $3', [
      status,
      stage,
      termID,
    ]);
    const before = await hashRows(scene.sql);
    await refuses(post(termID, [one, 'repairs', '1']), 'INVALID_STATE', { statusCode: 409 });
    await refuses(upload(termID, [one, 'calls', '1']), 'INVALID_STATE');
    assert.deepEqual(await hashRows(scene.sql), before);
  }
});

test('after bills were generated, a change makes the term stale and repeating it does not', async () => {
  const termID = await nextTerm();
  const generate = () =>
    scene.sql.query(
      `update terms set stage = 'Generated', run_number = 1, is_stale = false where term_id = $1`,
      [termID],
    );
  const stale = async () => (await termOf(admin, termID)).stale;
  await generate();
  await post(termID, [one, 'repairs', '5']);
  assert.equal(await stale(), true);
  await generate();
  await post(termID, [one, 'repairs', '5.00']);
  assert.equal(await stale(), false);
  await upload(termID, [one, 'calls', '5']);
  assert.equal(await stale(), true);
  await generate();
  await upload(termID, [one, 'calls', '']);
  assert.equal(await stale(), true);
  assert.equal((await termOf(admin, termID)).stage, 'Generated');
});

test('a cancelled term loses its values and usage', async () => {
  const termID = await nextTerm();
  await post(termID, [one, 'repairs', '5']);
  await upload(termID, [one, 'calls', '5']);
  await admin.cancelTerm({ data: { termID, reason: 'again' } });
  assert.deepEqual([await valuesOf(termID), await usageOf(termID)], [[], []]);
});

test('twenty thousand rows are one upload', async () => {
  const many = await insertSubscriptions(scene, tenantId, 10_000);
  const termID = await nextTerm();
  const rows = many.flatMap(({ number }) => [
    [number, 'repairs', '12.34'],
    [number, 'goodwill', '1'],
  ]);
  assert.equal((await post(termID, ...rows)).message, '20000 values stored');
  const { rows: counted } = await scene.sql.query(
    'select count(*)::integer as count from manual_values where term_id = $1',
    [termID],
  );
  assert.deepEqual(counted, [{ count: 20_000 }]);
});
