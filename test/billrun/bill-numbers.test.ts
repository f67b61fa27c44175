// Numbers of bills: gapless in each series, and none is given twice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { generateBillsStep } from '../../src/billrun/generate.ts';
import { postBillsStep } from '../../src/billrun/post.ts';
import { billsOf, generate, post, type Running, unpost } from '../support/bill-run.ts';
import { assertChecks, resultsOf } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { clientOf, makeFullTerm } from '../support/full-term.ts';
import { termID } from '../support/residential-rows.ts';
import { finishStep, prepareStep, runStep, whileCrew } from '../support/run-steps.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, newParty, subscribe } from '../support/subscriptions.ts';
import { tamper } from '../support/tampering.ts';
import { newTerm, termOf } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

async function openPlace(workspace: string): Promise<Running> {
  const client = await scene.workspace(workspace);
  const { rows } = await scene.sql.query('select find_workspace($1) as id', [workspace]);
  return { scene, client, tenantId: Number(rows[0]?.id) };
}

/** A service of the workspace with so many subscriptions, each of which is billed 500 a term. */
async function openService({ client }: Running, subscriptions = 1, code?: string): Promise<string> {
  const offer = await newOffer(
    client,
    { meteredInputs: [], holdRules: [], ...(code === undefined ? {} : { code }) },
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

/** Every format names service and year; here they come first, and tests tell of what follows. */
const setFormat = ({ client }: Pick<Running, 'client'>, rest: string) =>
  client.updateSettings({ data: { billNumberFormat: `{serviceCode}{year}${rest}` } });

const thisYear = () => scene.clock.now().toZonedDateTimeISO('Asia/Karachi').year;

/** A number without its service and year. */
const restOf = (number: string | null) =>
  number?.replace(new RegExp(`^.*?${thisYear()}-?`), '') ?? null;

const numbersOf = async (place: Running, termId: number) =>
  (await billsOf(place, termId)).map((bill) => restOf(bill.billNumber));

async function stageOf({ client }: Running, termId: number) {
  const { status, stage } = await termOf(client, termId);
  return [status, stage];
}

async function refusesNumber(place: Running, termId: number, number: string): Promise<void> {
  const { serviceCode } = await termOf(place.client, termId);
  const refusal = await refuses(post(place, termId), 'DUPLICATE', { statusCode: 409 });
  assert.equal(
    refusal.error.message,
    `Bill number ${serviceCode}${thisYear()}${number} is already used. \
Change billNumberFormat in the settings, then post again`,
  );
}

test('every service numbers its bills from 1 without gaps', async () => {
  const place = await openPlace('per-service');
  const [power, gas] = [await openService(place, 2), await openService(place)];
  const january = [await generated(place, power), await generated(place, gas)] as const;
  for (const termId of january) await post(place, termId);
  const february = [
    await generated(place, power, '02'),
    await generated(place, gas, '02'),
  ] as const;
  for (const termId of february) await post(place, termId);
  assert.deepEqual(await numbersOf(place, january[0]), ['000001', '000002']);
  assert.deepEqual(await numbersOf(place, january[1]), ['000001']);
  assert.deepEqual(await numbersOf(place, february[0]), ['000003', '000004']);
  assert.deepEqual(await numbersOf(place, february[1]), ['000002']);
  await assertChecks(scene, place.tenantId);
});

test('a format of more digits continues the series, and one with another text begins its own', async () => {
  const place = await openPlace('continued');
  const service = await openService(place);
  await post(place, await generated(place, service));
  const format = (billNumberFormat: string) =>
    place.client.updateSettings({ data: { billNumberFormat } });
  await format('{serviceCode}-{year}-{number:8}');
  const second = await generated(place, service, '02');
  await post(place, second);
  assert.deepEqual(await numbersOf(place, second), ['00000002']);
  await format('{serviceCode}-{year}-E{number:3}');
  const third = await generated(place, service, '03');
  await post(place, third);
  assert.deepEqual(await numbersOf(place, third), ['E001']);
  await format('{serviceCode}-{year}-{number:6}');
  const fourth = await generated(place, service, '04');
  await post(place, fourth);
  assert.deepEqual(await numbersOf(place, fourth), ['000003']);
  await assertChecks(scene, place.tenantId);
});

test('an unposted number is retired, and the series goes on after it', async () => {
  const place = await openPlace('unposted-series');
  const [power, gas] = [await openService(place), await openService(place)];
  const termId = await generated(place, power);
  await post(place, termId);
  await unpost(place, termId);
  await post(place, await generated(place, gas));
  await post(place, termId);
  assert.deepEqual(await numbersOf(place, termId), ['000002']);
  const { summary } = (await place.client.getBillTerm({ billTermID: termId })).data;
  assert.deepEqual(
    summary.retiredNumbers.map(({ first, count }) => [restOf(first), count]),
    [['000001', 1]],
  );
  await assertChecks(scene, place.tenantId);
});

test('verify names a series with a gap, and one with a number that was given twice', async () => {
  const place = await openPlace('gap');
  const { tenantId } = place;
  const service = await openService(place, 3);
  await post(place, await generated(place, service));
  await post(place, await generated(place, await openService(place)));
  const wrong = async () =>
    (await resultsOf(scene, tenantId)).flatMap((one) => (one.wrong > 0 ? one.examples : []));
  assert.deepEqual(await wrong(), []);
  const set = (number: number, of: number) =>
    tamper(
      scene,
      `update bill_numbers n set series_number = ${number}
       from number_series s
       where n.tenant_id = ${tenantId} and s.tenant_id = ${tenantId} and s.series_id = n.series_id
         and s.series_key like '${service}-%' and n.series_number = ${of}`,
    );
  const series = `series ${service}-${thisYear()}-`;
  await set(4, 2);
  assert.deepEqual(await wrong(), [`${series}: taken 3, given 3, retired 0, waiting 0, twice 0`]);
  await set(3, 4);
  assert.deepEqual(await wrong(), [`${series}: taken 3, given 3, retired 0, waiting 0, twice 1`]);
});

test('the year of a number is that of the posting date, and every year begins with 1', async () => {
  const place = await openPlace('years');
  const service = await openService(place);
  const first = await generated(place, service);
  const second = await generated(place, service, '02');
  const year = thisYear();
  await post(place, first);
  await generate(place, second);
  await whileCrew(scene, place.client.workspace, (crew) =>
    runStep(crew, postBillsStep, {
      termId: second,
      now: scene.clock.now().add({ hours: 24 * 366 }),
    }),
  );
  const posted = (await billsOf(place, second))[0]?.billNumber;
  assert.equal(posted, `${service}-${year + 1}-000001`);
  await assertChecks(scene, place.tenantId);
});

test('a number that another format made before is refused before anything is posted', async () => {
  const place = await openPlace('formats-meet');
  const service = await openService(place);
  await setFormat(place, '{number}2');
  const first = await generated(place, service);
  await post(place, first);
  await setFormat(place, '1{number}');
  await post(place, await generated(place, service, '02'));
  const third = await generated(place, service, '03');
  // 1 with a 2 behind it was the first; 2 with a 1 before it is the third.
  await refusesNumber(place, third, '12');
  assert.deepEqual(await stageOf(place, third), ['Open', 'Generated']);
  assert.deepEqual(await numbersOf(place, third), [null]);
  await assertChecks(scene, place.tenantId);
  await setFormat(place, '-{number:4}');
  await post(place, third);
  assert.deepEqual(await numbersOf(place, first), ['12']);
  assert.deepEqual(await numbersOf(place, third), ['0001']);
  await assertChecks(scene, place.tenantId);
});

test('a number that was retired is not given again', async () => {
  const place = await openPlace('retired');
  const service = await openService(place);
  await setFormat(place, '{number}2');
  const termId = await generated(place, service);
  await post(place, termId);
  await unpost(place, termId);
  await setFormat(place, '1{number}');
  await post(place, termId);
  await unpost(place, termId);
  await refusesNumber(place, termId, '12');
  assert.deepEqual(await stageOf(place, termId), ['Open', 'Generated']);
  await setFormat(place, '{number}2');
  await post(place, termId);
  assert.deepEqual(await numbersOf(place, termId), ['22']);
  await unpost(place, termId);
  await assertChecks(scene, place.tenantId);
});

test('numbers of another form that lie between are no reason to refuse', async () => {
  const place = await openPlace('between');
  const service = await openService(place, 3);
  await setFormat(place, '2-{number}');
  await post(place, await generated(place, service));
  await setFormat(place, '{number}-B');
  const second = await generated(place, service, '02');
  await post(place, second);
  assert.deepEqual(await numbersOf(place, second), ['1-B', '2-B', '3-B']);
  await assertChecks(scene, place.tenantId);
});

test('a number is met where those of the term differ in length', async () => {
  const place = await openPlace('lengths');
  const service = await openService(place, 4);
  await setFormat(place, '1{number}');
  const first = await generated(place, service);
  await post(place, first);
  assert.deepEqual(await numbersOf(place, first), ['11', '12', '13', '14']);
  await setFormat(place, '{number}');
  await post(place, await generated(place, service, '02'));
  const third = await generated(place, service, '03');
  await post(place, third);
  assert.deepEqual(await numbersOf(place, third), ['5', '6', '7', '8']);
  // 9 to 12.
  const fourth = await generated(place, service, '04');
  await refusesNumber(place, fourth, '11');
  assert.deepEqual(await stageOf(place, fourth), ['Open', 'Generated']);
  await assertChecks(scene, place.tenantId);
});

test('posting that was begun goes on with the format it began with', async () => {
  // One more than goes into a part.
  const full = await makeFullTerm(scene, scene.baseUrl, 'number-parts', 1_001);
  const { workspace, tenantId } = full;
  const place = { scene, client: clientOf(scene.baseUrl, full) as Running['client'], tenantId };
  const given = async () => {
    const { rows } = await scene.sql.query(
      'select bill_number from bills where tenant_id = $1 order by bill_id',
      [tenantId],
    );
    return rows.map((row) => restOf(row.bill_number));
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
  await assertChecks(scene, tenantId);
  await setFormat(place, 'N{number}');
  await post(place, termID);
  assert.deepEqual(await stageOf(place, termID), ['Posted', 'Posted']);
  assert.deepEqual(await given(), [...before, '10011']);
  await assertChecks(scene, tenantId);
});

test('a number that is set aside for another posting is refused', async () => {
  const place = await openPlace('at-once');
  const { client } = place;
  const first = await generated(place, await openService(place, 1, 'A'));
  const second = await generated(place, await openService(place, 2, 'A1'));
  const format = (billNumberFormat: string) =>
    client.updateSettings({ data: { billNumberFormat } });
  await format('{year}-{serviceCode}{number}2');
  await whileCrew(scene, client.workspace, async (crew) => {
    const begun = await prepareStep(crew, postBillsStep, { termId: first });
    await format('{year}-{serviceCode}{number}');
    const refusal = await refuses(post(place, second), 'DUPLICATE', { statusCode: 409 });
    assert.match(refusal.error.message, /^Bill number 20\d\d-A12 is already used/);
    assert.deepEqual(await stageOf(place, second), ['Open', 'Generated']);
    await finishStep(crew, postBillsStep, begun);
  });
  await format('{year}-{serviceCode}-{number}');
  await post(place, second);
  assert.deepEqual(await numbersOf(place, first), ['A12']);
  assert.deepEqual(await numbersOf(place, second), ['A1-1', 'A1-2']);
  await assertChecks(scene, place.tenantId);
});
