// Numbers that two formats have in common: no bill gets one that was given before.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { generateBillsStep } from '../../src/billrun/generate.ts';
import { postBillsStep } from '../../src/billrun/post.ts';
import { billsOf, generate, post, type Running, unpost } from '../support/bill-run.ts';
import { refuses } from '../support/client.ts';
import { clientOf, makeFullTerm } from '../support/full-term.ts';
import { assertLaws } from '../support/laws.ts';
import { until } from '../support/program.ts';
import { termID } from '../support/residential-rows.ts';
import { prepareStep, runStep, whileCrew } from '../support/run-steps.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, newParty, subscribe } from '../support/subscriptions.ts';
import { newTerm, termOf } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

async function openPlace(workspace: string): Promise<Running> {
  const client = await scene.workspace(workspace);
  const { rows } = await scene.sql.query('select find_workspace($1) as id', [workspace]);
  return { scene, client, tenantId: Number(rows[0]?.id) };
}

/** A service of the workspace with so many subscriptions, each of which is billed 500 a term. */
async function openService({ client }: Running, subscriptions = 1): Promise<string> {
  const offer = await newOffer(
    client,
    { meteredInputs: [], holdRules: [] },
    { componentRules: [{ component: 'energyCharge', scope: 'Term', formula: '500' }] },
  );
  for (let index = 0; index < subscriptions; index += 1) {
    const users = [{ partyNumber: await newParty(client) }];
    await subscribe(client, { ...offer, users, connectionDate: '01012026' }, { batchUpload: true });
  }
  return offer.serviceCode;
}

async function generated(place: Running, serviceCode: string, month = '01'): Promise<number> {
  const days = { startDate: `01/${month}/2026`, endDate: `28/${month}/2026` };
  const termId = await newTerm(place.client, { serviceCode, ...days });
  await generate(place, termId);
  return termId;
}

const setFormat = ({ client }: Pick<Running, 'client'>, billNumberFormat: string) =>
  client.updateSettings({ data: { billNumberFormat } });

const numbersOf = async (place: Running, termId: number) =>
  (await billsOf(place, termId)).map((bill) => bill.billNumber);

async function stageOf({ client }: Running, termId: number) {
  const { status, stage } = await termOf(client, termId);
  return [status, stage];
}

async function refusesNumber(place: Running, termId: number, number: string): Promise<void> {
  const refusal = await refuses(post(place, termId), 'DUPLICATE', { statusCode: 409 });
  assert.equal(
    refusal.error.message,
    `Bill number ${number} was given before: change billNumberFormat in the settings and post again`,
  );
}

test('a number that another format made before is refused before anything is posted', async () => {
  const place = await openPlace('formats-meet');
  const service = await openService(place);
  await setFormat(place, '{number}2');
  const first = await generated(place, service);
  await post(place, first);
  await setFormat(place, '1{number}');
  const second = await generated(place, service, '02');
  // 1 with a 2 behind it was the first; 2 with a 1 before it is the second.
  await refusesNumber(place, second, '12');
  assert.deepEqual(await stageOf(place, second), ['Open', 'Generated']);
  assert.deepEqual(await numbersOf(place, second), [null]);
  await assertLaws(scene, place.tenantId);
  await setFormat(place, '{number:4}');
  await post(place, second);
  assert.deepEqual(await numbersOf(place, first), ['12']);
  assert.deepEqual(await numbersOf(place, second), ['0002']);
  await assertLaws(scene, place.tenantId);
});

test('a number that was retired is not given again', async () => {
  const place = await openPlace('retired');
  const service = await openService(place);
  await setFormat(place, '{number}2');
  const termId = await generated(place, service);
  await post(place, termId);
  await unpost(place, termId);
  await setFormat(place, '1{number}');
  await refusesNumber(place, termId, '12');
  assert.deepEqual(await stageOf(place, termId), ['Open', 'Generated']);
  await setFormat(place, '{number}2');
  await post(place, termId);
  assert.deepEqual(await numbersOf(place, termId), ['22']);
  await unpost(place, termId);
  await assertLaws(scene, place.tenantId);
});

test('numbers of another form that lie between are no reason to refuse', async () => {
  const place = await openPlace('between');
  const service = await openService(place, 3);
  await setFormat(place, '5-{number}');
  await post(place, await generated(place, service));
  await setFormat(place, '{number}-B');
  const second = await generated(place, service, '02');
  await post(place, second);
  assert.deepEqual(await numbersOf(place, second), ['4-B', '5-B', '6-B']);
  await assertLaws(scene, place.tenantId);
});

test('a number is met where those of the term differ in length', async () => {
  const place = await openPlace('lengths');
  const service = await openService(place, 4);
  await setFormat(place, '1{number}');
  const first = await generated(place, service);
  await post(place, first);
  assert.deepEqual(await numbersOf(place, first), ['11', '12', '13', '14']);
  await setFormat(place, '{number}');
  const second = await generated(place, service, '02');
  await post(place, second);
  assert.deepEqual(await numbersOf(place, second), ['5', '6', '7', '8']);
  // 9 to 12.
  const third = await generated(place, service, '03');
  await refusesNumber(place, third, '11');
  assert.deepEqual(await stageOf(place, third), ['Open', 'Generated']);
  await assertLaws(scene, place.tenantId);
});

test('posting that was begun goes on with a new format where the old one meets a number', async () => {
  // One more than goes into a part.
  const full = await makeFullTerm(scene, scene.baseUrl, 'number-parts', 1_001);
  const { workspace, tenantId } = full;
  const place = { scene, client: clientOf(scene.baseUrl, full) as Running['client'], tenantId };
  const given = async () => {
    const { rows } = await scene.sql.query(
      'select bill_number from bills where tenant_id = $1 order by bill_id',
      [tenantId],
    );
    return rows.map((row) => row.bill_number);
  };
  await setFormat(place, '{number}1');
  await whileCrew(scene, workspace, async (crew) => {
    await runStep(crew, generateBillsStep, { termId: termID });
    // The first part is posted by a job that goes no further.
    const { job, chunks } = await prepareStep(crew, postBillsStep, { termId: termID });
    await tenantTransact(crew.database, tenantId, (tx) =>
      postBillsStep.work(tx, job, chunks[0] ?? assert.fail(), crew.tools),
    );
  });
  const before = Array.from({ length: 1_000 }, (_, index) => `${index + 1}1`);
  assert.deepEqual(await given(), [...before, null]);
  await setFormat(place, '{number}');
  // The last bill would be 1001, and so is the hundredth: 100 with a 1 behind it.
  await refusesNumber(place, termID, '1001');
  assert.deepEqual(await stageOf(place, termID), ['Open', 'Posting']);
  assert.deepEqual(await given(), [...before, null]);
  await assertLaws(scene, tenantId);
  await setFormat(place, 'N{number}');
  await post(place, termID);
  assert.deepEqual(await stageOf(place, termID), ['Posted', 'Posted']);
  assert.deepEqual(await given(), [...before, 'N1001']);
  await assertLaws(scene, tenantId);
});

test('of two terms that are posted at once with the same number, the later one is refused', async () => {
  const place = await openPlace('at-once');
  const { client, tenantId } = place;
  const first = await generated(place, await openService(place));
  const second = await generated(place, await openService(place));
  await setFormat(place, '{number}2');
  const { later } = await whileCrew(scene, client.workspace, async (crew) => {
    const { job, chunks } = await prepareStep(crew, postBillsStep, { termId: first });
    return tenantTransact(crew.database, tenantId, async (tx) => {
      await postBillsStep.work(tx, job, chunks[0] ?? assert.fail(), crew.tools);
      await setFormat(place, '1{number}');
      const refused = refusesNumber(place, second, '12');
      // It waits for the number to be given or not.
      await until(async () => {
        const { rows } = await scene.sql.query(
          `select from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      }, 'the later posting waits');
      return { later: refused };
    });
  });
  await later;
  assert.deepEqual(await stageOf(place, second), ['Open', 'Posting']);
  await setFormat(place, 'N{number}');
  await post(place, second);
  await post(place, first);
  assert.deepEqual(await numbersOf(place, first), ['12']);
  assert.deepEqual(await numbersOf(place, second), ['N2']);
  await assertLaws(scene, tenantId);
});
