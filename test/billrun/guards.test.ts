// Every operation of the bill run from every stage of a term: what may be done there passes its
// guard, and what may not is refused with its code and changes no row of the workspace.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BillingError } from '../../sdk/client.ts';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { foldOpenChanges } from '../../src/domain/ledger/open-totals-store.ts';
import { codeOf, schedule } from '../support/delivery.ts';
import { openMetered } from '../support/metered.ts';
import { smallService } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { insertOpening } from '../support/term-rows.ts';
import { newTerm, termOf } from '../support/terms.ts';
import { hashRows } from '../support/two-workspaces.ts';

/** A point is what passes; a word is the code of the refusal. */
const matrix = `
               upload read unread manual usage generate post  skip  publish distribute unpost cancel label due  end  hold
Created        .      .    .      .      .     UNREAD   STATE STATE STATE   HIDDEN     STATE  .      .     .    .    NONE
Uploaded       .      .    .      .      .     UNREAD   STATE STATE STATE   HIDDEN     STATE  .      .     .    .    NONE
Read           .      .    .      .      .     .        STATE STATE STATE   HIDDEN     STATE  .      .     .    .    NONE
Components     .      .    .      .      .     .        STATE STATE STATE   HIDDEN     STATE  .      .     .    .    NONE
Generating     .      .    .      .      .     .        STATE STATE STATE   HIDDEN     STATE  .      .     .    .    STATE
Generated      .      .    .      .      .     .        .     .     STATE   HIDDEN     STATE  .      .     .    .    .
Stale          .      .    .      .      .     .        STALE STALE STATE   HIDDEN     STATE  .      .     .    .    .
Error          .      .    .      .      .     .        OPEN  .     STATE   HIDDEN     STATE  .      .     .    .    .
Held           .      .    .      .      .     .        OPEN  .     STATE   HIDDEN     STATE  .      .     .    .    .
Posting        STATE  STATE STATE STATE  STATE STATE    .     .     STATE   HIDDEN     STATE  .      STATE STATE STATE STATE
Posted         STATE  STATE STATE STATE  STATE STATE    STATE STATE .       HIDDEN     .      STATE  STATE .    STATE STATE
Paid           STATE  STATE STATE STATE  STATE STATE    STATE STATE .       HIDDEN     STATE  STATE  STATE .    STATE STATE
Credited       STATE  STATE STATE STATE  STATE STATE    STATE STATE .       HIDDEN     STATE  STATE  STATE .    STATE STATE
Followed       STATE  STATE STATE STATE  STATE STATE    STATE STATE .       HIDDEN     STATE  STATE  STATE .    STATE STATE
Publishing     STATE  STATE STATE STATE  STATE STATE    STATE STATE .       HIDDEN     .      STATE  STATE .    STATE STATE
Published      STATE  STATE STATE STATE  STATE STATE    STATE STATE STATE   .          STATE  STATE  STATE STATE STATE STATE
Distributed    STATE  STATE STATE STATE  STATE STATE    STATE STATE STATE   .          STATE  STATE  STATE STATE STATE STATE
Cancelled      STATE  STATE STATE STATE  STATE STATE    STATE STATE STATE   HIDDEN     STATE  STATE  STATE STATE STATE NONE
`;

const codes: Record<string, string> = {
  '.': 'success',
  STATE: 'INVALID_STATE',
  UNREAD: 'READINGS_NOT_POSTED',
  STALE: 'TERM_STALE_GENERATE_AGAIN',
  OPEN: 'TERM_HAS_OPEN_BILLS',
  HIDDEN: 'TERM_NOT_PUBLISHED',
  NONE: 'BILL_NOT_FOUND',
};

const [head = '', ...lines] = matrix.trim().split('\n');
const operationNames = head.trim().split(/\s+/);
const expected = new Map(
  lines.map((line) => {
    const [stage = '', ...cells] = line.trim().split(/\s+/);
    return [stage, cells.map((cell) => codes[cell] ?? assert.fail(cell))];
  }),
);

const scene = await openScene();
scene.runJobs();
const stages = [...expected.keys()];
const { admin, tenantId, serviceCode, hung } = await openMetered(scene, 'guards', {
  components: [
    ...smallService.components,
    { name: 'repairs', label: 'Repairs', type: 'Charge', manual: 'Optional' },
  ],
  unmeteredInputs: [{ name: 'calls', unit: 'call', source: 'Uploaded' }],
  batches: stages.map((stage) => ({ batchCode: stage.toUpperCase(), label: stage })),
});
const [plan] = (await admin.getTariffs({ serviceCode })).data.tariffs;
await admin.updateTariff({
  tariff: {
    serviceCode,
    code: plan?.tariffCode ?? '',
    usageData: [{ input: 'energy', source: 'Metered', required: 1 }],
    effectiveDate: '01/01/2025',
  },
});

/** One term in a batch of its own, with two customers who have a meter each. */
type Place = { termID: number; batchCode: string; connections: string[]; meters: number[] };

async function openPlace(stage: string): Promise<Place> {
  const batchCode = stage.toUpperCase();
  const there = [await hung(), await hung()];
  const connections = there.map(({ connection }) => connection);
  await scene.sql.query(
    `update subscriptions set batch_id =
       (select batch_id from batches where tenant_id = $1 and code = $2)
     where tenant_id = $1 and subscription_number = any($3)`,
    [tenantId, batchCode, connections],
  );
  const termID = await newTerm(admin, { serviceCode, batchCode });
  return { termID, batchCode, connections, meters: there.map(({ number }) => number) };
}

const rows = (list: string, termID: number, items: unknown[], sheduleTime: string | null) => ({
  operation: 'schedule' as const,
  data: { data: JSON.stringify({ termID, [list]: items }), sheduleTime },
});

function upload(place: Place, at: string | null = null, count = 2, date = '31/01/2026') {
  const { termID, connections, meters } = place;
  const readings = connections
    .slice(0, count)
    .map((connection, index) => [connection, String(meters[index]), '100', date]);
  return admin.uploadMeterReadings(rows('readings', termID, readings, at));
}

function giveByHand({ termID, connections }: Place, at: string | null = null) {
  const item = [connections[0], 'repairs', '5'];
  return admin.postManualComponentValues(rows('compsData', termID, [item], at));
}

const read = ({ termID }: Place, sheduleTime: string | null = null) =>
  admin.postMeterReadings({
    operation: 'schedule',
    data: { termID, reading: 'current', sheduleTime },
  });

async function billOf({ termID }: Place): Promise<number> {
  return (await admin.getBills({ termID })).data.bills[0]?.billID ?? 999_999;
}

async function upTo(place: Place, step: 'generate' | 'post' | 'publish' | 'distribute') {
  await upload(place);
  await read(place);
  await admin.generateBills(schedule(place.termID));
  if (step === 'generate') return;
  await admin.postBills(schedule(place.termID));
  if (step === 'post') return;
  await admin.publishBills(schedule(place.termID));
  if (step === 'distribute') await admin.distributeBills(schedule(place.termID));
}

/** As after a step that was interrupted: nothing else leaves a term there. */
const standAt = (place: Place, stage: string) =>
  scene.sql.query('update terms set stage = $3 where tenant_id = $1 and term_id = $2', [
    tenantId,
    place.termID,
    stage,
  ]);

async function creditBill(place: Place, kind: 'Payment' | 'CreditNote'): Promise<void> {
  const { rows: found } = await scene.sql.query(
    'select subscription_id from bills where tenant_id = $1 and bill_id = $2',
    [tenantId, await billOf(place)],
  );
  const subscriptionId = Number(found[0]?.subscription_id);
  await insertOpening(scene, tenantId, subscriptionId, -100, kind, await billOf(place));
}

/** How a term reaches the state in which the row of the matrix begins. */
const ways: Record<string, (place: Place) => Promise<unknown>> = {
  Created: async () => {},
  Uploaded: (place) => upload(place),
  Read: async (place) => {
    await upload(place);
    await read(place);
  },
  Components: async (place) => {
    await upload(place);
    await read(place);
    await giveByHand(place);
  },
  Generating: async (place) => {
    await upTo(place, 'generate');
    await standAt(place, 'Generating');
  },
  Generated: (place) => upTo(place, 'generate'),
  Stale: async (place) => {
    await upTo(place, 'generate');
    await giveByHand(place);
  },
  Error: async (place) => {
    await upload(place, null, 1);
    await read(place);
    await admin.generateBills(schedule(place.termID));
  },
  Held: async (place) => {
    await upTo(place, 'generate');
    await admin.holdBill({ data: { billID: await billOf(place), hold: true } });
  },
  Posting: async (place) => {
    await upTo(place, 'generate');
    await standAt(place, 'Posting');
  },
  Posted: (place) => upTo(place, 'post'),
  Paid: async (place) => {
    await upTo(place, 'post');
    await creditBill(place, 'Payment');
  },
  Credited: async (place) => {
    await upTo(place, 'post');
    await creditBill(place, 'CreditNote');
  },
  Followed: async (place) => {
    await upTo(place, 'post');
    const february = { startDate: '01/02/2026', endDate: '28/02/2026' };
    const { batchCode } = place;
    const next = {
      ...place,
      termID: await newTerm(admin, { serviceCode, batchCode, ...february }),
    };
    await admin.postMeterReadings({
      operation: 'schedule',
      data: { termID: next.termID, reading: 'previous' },
    });
    await admin.generateBills(schedule(next.termID));
    await admin.postBills(schedule(next.termID));
  },
  Publishing: async (place) => {
    await upTo(place, 'post');
    await standAt(place, 'Publishing');
  },
  Published: (place) => upTo(place, 'publish'),
  Distributed: (place) => upTo(place, 'distribute'),
  Cancelled: async (place) => {
    await upTo(place, 'generate');
    await admin.cancelTerm({ data: { termID: place.termID, reason: 'test' } });
  },
};

/** The call of a column, for now or for a time far ahead: its guard is looked at either way. */
async function ask(name: string, place: Place, at: string | null): Promise<unknown> {
  const { termID, connections } = place;
  const step = schedule(termID, at);
  switch (name) {
    case 'upload':
      return upload(place, at, 2, '01/02/2026');
    case 'read':
      return read(place, at);
    case 'unread':
      return admin.unpostMeterReadings({ data: { termID, sheduleTime: at } });
    case 'manual':
      return giveByHand(place, at);
    case 'usage':
      return admin.uploadUsage(rows('usage', termID, [[connections[0], 'calls', '7']], at));
    case 'generate':
      return admin.generateBills({ ...step, billId: null });
    case 'post':
      return admin.postBills(step);
    case 'skip':
      return admin.postBills({ ...step, data: { ...step.data, skipErrors: true } });
    case 'publish':
      return admin.publishBills(step);
    case 'distribute':
      return admin.distributeBills(step);
    case 'unpost':
      return admin.unpostBills({ ...step, data: { ...step.data, reason: 'wrong' } });
    case 'cancel':
      return admin.cancelTerm({ data: { termID, reason: 'wrong' } });
    case 'label':
      return admin.updateTerm({ data: { termID, label: `Other ${termID}` } });
    case 'due':
      return admin.updateTerm({ data: { termID, dueDate: '20/03/2026' } });
    case 'end':
      return admin.updateTerm({ data: { termID, endDate: '30/01/2026' } });
    case 'hold':
      return admin.holdBill({ data: { billID: await billOf(place), hold: true } });
    default:
      return assert.fail(name);
  }
}

/** The code; a state that is not the right one is named, with those that are. */
async function refusalOf(call: Promise<unknown>): Promise<string> {
  const refusal = await call.then(
    () => undefined,
    (error: BillingError) => error,
  );
  if (refusal?.code === 'INVALID_STATE') {
    assert.ok(refusal.error.current && refusal.error.allowed?.length, refusal.message);
    assert.equal(refusal.statusCode, 409);
  }
  return refusal?.code ?? 'success';
}

/** A step that was let pass is not to happen: the next column begins where this one did. */
async function takeBack({ termID }: Place): Promise<void> {
  const { jobs } = (await admin.getJobs({ termID, status: 'Scheduled' })).data;
  for (const { jobID = 0 } of jobs) await admin.cancelJob({ data: { jobID } });
}

/** What the worker would do as soon as it has nothing else to do. */
const addUp = () =>
  foldOpenChanges(tenantId, (fold) => tenantTransact(scene.worker, tenantId, fold));

const far = scene.clock.now().add({ hours: 100 * 24 });
const later = far.toZonedDateTimeISO('Asia/Karachi').toPlainDateTime().toString().slice(0, 19);
/** These take no time, and what they do is asked for last. */
const atOnce = new Set(['hold', 'label', 'due', 'end', 'cancel']);

for (const stage of stages) {
  test(`${stage}: what may not be done is refused and changes nothing`, async () => {
    const place = await openPlace(stage);
    await ways[stage]?.(place);
    const wanted = expected.get(stage) ?? [];
    await addUp();
    const before = await hashRows(scene.sql, tenantId);
    const term = await termOf(admin, place.termID);
    const found: string[] = [];
    for (const [column, name] of operationNames.entries()) {
      if (wanted[column] === 'success') found[column] = 'success';
      else found[column] = await refusalOf(ask(name, place, null));
    }
    assert.deepEqual(found, wanted);
    assert.deepEqual(await hashRows(scene.sql, tenantId), before);
    assert.deepEqual(await termOf(admin, place.termID), term);

    const passing = operationNames.filter((_, column) => wanted[column] === 'success');
    for (const name of passing.filter((one) => !atOnce.has(one))) {
      assert.equal(await codeOf(ask(name, place, later)), 'success', name);
      await takeBack(place);
    }
    for (const name of passing.filter((one) => atOnce.has(one)).toReversed()) {
      if (name === 'cancel') continue;
      assert.equal(await codeOf(ask(name, place, null)), 'success', name);
    }
    if (!passing.includes('cancel')) return;
    assert.equal(await codeOf(ask('cancel', place, null)), 'success');
    const { status } = await termOf(admin, place.termID);
    assert.equal(status, 'Cancelled');
  });
}
