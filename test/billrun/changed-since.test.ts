// What changes between generating and posting: nothing is posted that is no longer so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postBillsStep } from '../../src/billrun/post.ts';
import { billsOf, generate, post, unpost } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf, schedule } from '../support/delivery.ts';
import { fee, openPlace, type Place, subscribed, termFor } from '../support/fee-by-days.ts';
import { forms } from '../support/forms.ts';
import { closeGate } from '../support/gate.ts';
import { august, july } from '../support/offer-place.ts';
import { until } from '../support/program.ts';
import { finishStep, prepareStep, whileCrew } from '../support/run-steps.ts';
import { openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';
import { termOf } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs({ lanes: 2 });
scene.clock.advance(scene.clock.now().until(Temporal.Instant.from('2027-01-01T00:00:00Z')));

async function changePrice({ client, offer }: Place): Promise<void> {
  const { serviceCode, tariffCode: code } = offer;
  const tariff = { serviceCode, code, componentRules: fee('620'), effectiveDate: '01/01/2026' };
  await client.updateTariff({ tariff: tariff as never });
}

test('one bill made by new prices does not make the others fresh', async () => {
  const place = await openPlace(scene);
  const party = await newParty(place.client);
  for (const label of ['a', 'b']) await subscribed(place, party, label);
  const termId = await termFor(place, july);
  await generate(place, termId);
  await changePrice(place);
  const [bill] = await billsOf(place, termId);
  await generate(place, termId, bill?.billID);
  assert.equal(await codeOf(post(place, termId)), 'TERM_STALE_GENERATE_AGAIN');
  await generate(place, termId);
  await post(place, termId);
  const charges = (await billsOf(place, termId)).map(({ currentCharges }) => currentCharges);
  assert.deepEqual(charges, [620, 620]);
});

const changes: Record<string, (place: Place, connection: string) => Promise<unknown>> = {
  'a price': changePrice,
  'a subscription': ({ client }, connectionNumber) =>
    client.disconnectConnection({ data: { connectionNumber, effectiveDate: '20/07/2026' } }),
};
for (const [what, change] of Object.entries(changes)) {
  test(`guards are asked again when a step begins that was put off by moments: ${what}`, async () => {
    const place = await openPlace(scene);
    const connection = await subscribed(place, await newParty(place.client));
    const termId = await termFor(place, july);
    await generate(place, termId);
    const local = scene.clock.now().add({ seconds: 3 }).toZonedDateTimeISO('Asia/Karachi');
    const at = local.toPlainDateTime().toString({ smallestUnit: 'second' });
    const { headers } = await place.client.postBills(schedule(termId, at));
    const jobID = Number(headers.get('x-job-id'));
    await change(place, connection);
    const job = await until(async () => {
      const { data } = await place.client.getJobs({ jobID });
      return data.jobs[0]?.finishedAt ? data.jobs[0] : undefined;
    }, 'the job ends');
    assert.equal(job.status, 'Failed');
    assert.equal(job.error?.code, 'TERM_STALE_GENERATE_AGAIN');
    assert.equal((await termOf(place.client, termId)).status, 'Open');
  });
}

test('generating one bill does not end a failed run of all bills', async () => {
  const place = await openPlace(scene, {
    components: [{ name: 'fee', label: 'Fee', type: 'Charge', manual: 'Optional' }],
  });
  const party = await newParty(place.client);
  const connections = [await subscribed(place, party, 'a'), await subscribed(place, party, 'b')];
  const termId = await termFor(place, july);
  await generate(place, termId);
  const compsData = connections.map((number) => [number, 'fee', '77']);
  const data = { data: JSON.stringify({ termID: termId, compsData }) };
  await place.client.postManualComponentValues({ operation: 'schedule', data });
  await scene.sql.query(`create function fail() returns trigger language plpgsql
    as $$ begin raise 'failed on purpose'; end $$`);
  await scene.sql.query(`create trigger fail before insert on superseded_bills
    for each row execute function fail()`);
  await assert.rejects(generate(place, termId));
  await scene.sql.query('drop function fail cascade');
  const [bill] = await billsOf(place, termId);
  await generate(place, termId, bill?.billID);
  assert.equal((await termOf(place.client, termId)).stage, 'Generating');
  assert.equal(await codeOf(post(place, termId)), 'INVALID_STATE');
  await generate(place, termId);
  await post(place, termId);
  const amounts = (await billsOf(place, termId)).map(({ currentCharges }) => currentCharges);
  assert.deepEqual(amounts, [77, 77]);
  await assertChecks(scene, place.tenantId);
});

test('a term whose bills all fell out of posting is not posted, and generated again', async () => {
  const place = await openPlace(scene);
  const party = await newParty(place.client);
  for (const label of ['a', 'b']) await subscribed(place, party, label);
  const [first, second] = [await termFor(place, july), await termFor(place, august)];
  for (const termId of [first, second]) await generate(place, termId);
  const { rows } = await scene.sql.query(
    'select max(job_id) + 1 as next from jobs where tenant_id = $1',
    [place.tenantId],
  );
  // The later term has begun, and is about to post its part.
  const when = `new.tenant_id = ${place.tenantId} and new.job_id = ${rows[0].next} and new.chunk = 1`;
  const gate = await closeGate(scene, 'chunk_attempts', when);
  const late = codeOf(post(place, second));
  await gate.reached();
  assert.equal((await post(place, first)).message, '2 bills posted');
  await gate.open();
  assert.equal(await late, 'TERM_STALE_GENERATE_AGAIN');
  const { status, stage } = await termOf(place.client, second);
  assert.deepEqual([status, stage], ['Open', 'Generated']);
  assert.equal(await codeOf(post(place, second)), 'TERM_STALE_GENERATE_AGAIN');
  await generate(place, second);
  assert.match((await post(place, second)).message, /^2 bills posted/);
  await assertChecks(scene, place.tenantId);
});

for (const postType of forms(['Post Subscription', 'Post Account'])) {
  test(`a bill that posting put on hold is ready again after it is generated: ${postType}`, async () => {
    const place = await openPlace(scene, { postType });
    const party = await newParty(place.client);
    const connectionNumber = await subscribed(place, party, 'a');
    await subscribed(place, party, 'b');
    const termId = await termFor(place, july);
    await generate(place, termId);
    await whileCrew(scene, place.client.workspace, async (crew) => {
      const begun = await prepareStep(crew, postBillsStep, { termId });
      // Nothing that the bill shows.
      await place.client.updateConnection({ data: { connectionNumber, description: 'a note' } });
      await finishStep(crew, postBillsStep, begun);
    });
    const statuses = async () => (await billsOf(place, termId)).map(({ status }) => status);
    assert.deepEqual(await statuses(), ['Hold', 'Posted']);
    await unpost(place, termId);
    const { message } = await generate(place, termId);
    assert.match(message, /^2 bills generated, 0 in error, 0 on hold/);
    assert.deepEqual(await statuses(), ['Draft', 'Draft']);
    assert.match((await post(place, termId)).message, /^2 bills posted/);
    await assertChecks(scene, place.tenantId);
  });
}

test('a change between request and start of posting puts its bill on hold, and later refuses posting', async () => {
  const place = await openPlace(scene);
  const party = await newParty(place.client);
  const connectionNumber = await subscribed(place, party, 'a');
  await subscribed(place, party, 'b');
  const termId = await termFor(place, july);
  await generate(place, termId);
  const now = scene.clock.now();
  await place.client.updateConnection({ data: { connectionNumber, description: 'a note' } });
  await whileCrew(scene, place.client.workspace, async (crew) => {
    const askedAt = (seconds: number) => ({ termId, now, askedAt: now.subtract({ seconds }) });
    const late = prepareStep(crew, postBillsStep, askedAt(5));
    await assert.rejects(late, { code: 'TERM_STALE_GENERATE_AGAIN' });
    const begun = await prepareStep(crew, postBillsStep, askedAt(4));
    await finishStep(crew, postBillsStep, begun);
  });
  const statuses = (await billsOf(place, termId)).map(({ status }) => status);
  assert.deepEqual(statuses, ['Hold', 'Posted']);
  await assertChecks(scene, place.tenantId);
});

test('a bill of two subscriptions that fell out of posting leaves both to be billed', async () => {
  const place = await openPlace(scene, { postType: 'Post Account' });
  const party = await newParty(place.client);
  const connectionNumber = await subscribed(place, party, 'a');
  for (const label of ['a', 'b']) await subscribed(place, party, label);
  const termId = await termFor(place, july);
  await generate(place, termId);
  await whileCrew(scene, place.client.workspace, async (crew) => {
    const begun = await prepareStep(crew, postBillsStep, { termId });
    await place.client.updateConnection({ data: { connectionNumber, description: 'a note' } });
    await finishStep(crew, postBillsStep, begun);
  });
  const next = await termFor(place, august);
  await generate(place, next);
  const charged = (await billsOf(place, next)).map((bill) => bill.currentCharges);
  assert.deepEqual(charged, [4 * 310, 310]);
  await assertChecks(scene, place.tenantId);
});

test('what is unposted makes stale what was generated after it', async () => {
  const place = await openPlace(scene);
  await subscribed(place, await newParty(place.client));
  const [first, second] = [await termFor(place, july), await termFor(place, august)];
  await generate(place, first);
  await post(place, first);
  await generate(place, second);
  assert.equal((await billsOf(place, second))[0]?.previousBalance, 310);
  await unpost(place, first);
  await changePrice(place);
  await generate(place, first);
  await post(place, first);
  assert.equal((await termOf(place.client, second)).stale, true);
  assert.equal(await codeOf(post(place, second)), 'TERM_STALE_GENERATE_AGAIN');
  await generate(place, second);
  await post(place, second);
  const [bill] = await billsOf(place, second);
  assert.equal(bill?.previousBalance, 620);
  assert.equal(bill?.arrears, 620);
  await assertChecks(scene, place.tenantId);
});

test('what changed in a term before while bills were posted makes them stale when unposted', async () => {
  const overdue = [{ component: 'fee', scope: 'Term', formula: '310 + account.overdue * 10%' }];
  const place = await openPlace(scene, {}, { componentRules: overdue });
  await subscribed(place, await newParty(place.client));
  const first = await termFor(place, { ...july, dueDate: '15/08/2026' });
  const second = await termFor(place, august);
  const charged = async () => (await billsOf(place, second))[0]?.currentCharges;
  for (const termId of [first, second]) {
    await generate(place, termId);
    await post(place, termId);
  }
  assert.equal(await charged(), 341);
  // Nothing changed: it is as it was.
  await unpost(place, second);
  await post(place, second);
  await place.client.updateTerm({ data: { termID: first, dueDate: '15/09/2026' } });
  await unpost(place, second);
  assert.equal((await termOf(place.client, second)).stale, true);
  assert.equal(await codeOf(post(place, second)), 'TERM_STALE_GENERATE_AGAIN');
  await generate(place, second);
  await post(place, second);
  assert.equal(await charged(), 310);
});

for (const postType of forms(['Post Subscription', 'Post Account'])) {
  test(`${postType}: a due date that is moved makes stale what is billed in another batch`, async () => {
    const overdue = [{ component: 'fee', scope: 'Term', formula: '310 + account.overdue * 10%' }];
    const batches = [{ batchCode: 'B2', label: 'B2' }];
    const place = await openPlace(scene, { postType, batches }, { componentRules: overdue });
    const party = await newParty(place.client);
    const numbers = [await subscribed(place, party), await subscribed(place, party)];
    const first = await termFor(place, { ...july, dueDate: '15/08/2026' });
    await generate(place, first);
    await post(place, first);
    for (const connectionNumber of numbers) {
      await place.client.updateConnection({ data: { connectionNumber, batchCode: 'B2' } });
    }
    const second = await termFor(place, { ...august, batchCode: 'B2' });
    await generate(place, second);
    await place.client.updateTerm({ data: { termID: first, dueDate: '15/09/2026' } });
    assert.equal(await codeOf(post(place, second)), 'TERM_STALE_GENERATE_AGAIN');
    await generate(place, second);
    const charged = (await billsOf(place, second)).map(({ currentCharges }) => currentCharges);
    assert.deepEqual(charged, postType === 'Post Account' ? [620] : [310, 310]);
  });
}
