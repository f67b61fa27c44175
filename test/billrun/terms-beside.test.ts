// Terms that bill the same subscriptions beside each other, and what changes between generating and
// posting: nothing is billed twice, and nothing is posted that is no longer so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postBillsStep } from '../../src/billrun/post.ts';
import { type BillRun, billsOf, generate, post, unpost } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf, schedule } from '../support/delivery.ts';
import { closeGate } from '../support/gate.ts';
import { until } from '../support/program.ts';
import { finishStep, prepareStep, whileCrew } from '../support/run-steps.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, newParty, type Offer, shown, subscribe } from '../support/subscriptions.ts';
import { newTerm, termOf } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs({ lanes: 2 });
scene.clock.advance(scene.clock.now().until(Temporal.Instant.from('2027-01-01T00:00:00Z')));

const july = { startDate: '01/07/2026', endDate: '31/07/2026' };
const august = { startDate: '01/08/2026', endDate: '31/08/2026' };
const fee = (formula: string) => [{ component: 'fee', formula, prorate: 'Days' }];

type Place = BillRun & { offer: Offer };

let made = 0;

/** A fee of 310 a month, by days. */
async function openPlace(service: object = {}, tariff: object = {}): Promise<Place> {
  made += 1;
  const name = `beside-${made}`;
  const client = await scene.workspace(name);
  const { rows } = await scene.sql.query('select find_workspace($1) as id', [name]);
  const offer = await newOffer(
    client,
    {
      meteredInputs: [],
      components: [{ name: 'fee', label: 'Fee', type: 'Charge' }],
      holdRules: [],
      ...service,
    } as never,
    { componentRules: fee('310'), ...tariff } as never,
  );
  return { scene, client, tenantId: Number(rows[0].id), offer } as Place;
}

/** Billed through June. */
async function subscribed({ client, offer }: Place, partyNumber: number, label = 'House') {
  const users = [{ partyNumber, connectionGroupLabel: label }];
  const connection = { ...offer, connectionDate: '01062026', billedThrough: '30062026', users };
  return subscribe(client, connection as never, { batchUpload: true });
}

const termFor = ({ client, offer }: Place, days: object) =>
  newTerm(client, { serviceCode: offer.serviceCode, ...days } as never);

test('two terms of the same days, posted at once: one bills them, and the next goes on there', async () => {
  for (let round = 0; round < 4; round += 1) {
    const place = await openPlace();
    const connection = await subscribed(place, await newParty(place.client));
    const regular = await termFor(place, july);
    const offCycle = { ...july, type: 'OffCycle', connectionNumbers: [connection] };
    const terms = [regular, await termFor(place, offCycle)];
    for (const termId of terms) await generate(place, termId);
    await Promise.allSettled(terms.map((termId) => post(place, termId)));
    const bills = (await Promise.all(terms.map((termId) => billsOf(place, termId)))).flat();
    assert.equal(bills.filter(({ status }) => status === 'Posted').length, 1);
    assert.equal((await shown(place.client, connection)).billedThrough, '31072026');
    const next = await termFor(place, august);
    await generate(place, next);
    const [bill] = await billsOf(place, next);
    assert.equal(bill?.billedFrom, '01/08/2026');
    assert.equal(bill?.currentCharges, 310);
    await assertChecks(scene, place.tenantId);
  }
});

test('what another term billed meanwhile is generated again before it is posted', async () => {
  const place = await openPlace();
  const party = await newParty(place.client);
  for (const label of ['a', 'b', 'c']) await subscribed(place, party, label);
  const [first, second] = [await termFor(place, july), await termFor(place, august)];
  for (const termId of [first, second]) await generate(place, termId);
  // 31 + 31 days, as long as July is not posted: 2 x 310.
  assert.equal((await billsOf(place, second))[0]?.currentCharges, 620);
  await post(place, first);
  assert.equal(await codeOf(post(place, second)), 'TERM_STALE_GENERATE_AGAIN');
  const drafts = await billsOf(place, second);
  assert.deepEqual(new Set(drafts.map(({ status }) => status)), new Set(['Draft']));
  await generate(place, second);
  const { message } = await post(place, second);
  assert.equal(message, '3 bills posted');
  for (const bill of await billsOf(place, second)) {
    assert.equal(bill.billedFrom, '01/08/2026');
    assert.equal(bill.currentCharges, 310);
  }
  await assertChecks(scene, place.tenantId);
});

test('the same for bills of whole accounts', async () => {
  const place = await openPlace({ postType: 'Post Account' });
  const party = await newParty(place.client);
  for (const _ of [1, 2]) await subscribed(place, party);
  const [first, second] = [await termFor(place, july), await termFor(place, august)];
  for (const termId of [first, second]) await generate(place, termId);
  await post(place, first);
  assert.equal(await codeOf(post(place, second)), 'TERM_STALE_GENERATE_AGAIN');
  await generate(place, second);
  await post(place, second);
  assert.equal((await billsOf(place, second))[0]?.currentCharges, 620);
  await assertChecks(scene, place.tenantId);
});

test('a bill of several subscriptions is posted after one of them was touched to no effect', async () => {
  const place = await openPlace({ postType: 'Post Account' });
  const party = await newParty(place.client);
  const [connection] = [await subscribed(place, party), await subscribed(place, party)];
  const termId = await termFor(place, july);
  await generate(place, termId);
  const [before] = await billsOf(place, termId);
  const change = { connectionNumber: connection, description: 'gate code 12' };
  await place.client.updateConnection({ data: change } as never);
  assert.equal(await codeOf(post(place, termId)), 'TERM_STALE_GENERATE_AGAIN');
  await generate(place, termId);
  const { message } = await post(place, termId);
  assert.equal(message, '1 bill posted');
  const [bill] = await billsOf(place, termId);
  assert.equal(bill?.billID, before?.billID);
  assert.equal(bill?.currentCharges, 620);
});

async function changePrice({ client, offer }: Place): Promise<void> {
  const { serviceCode, tariffCode: code } = offer;
  const tariff = { serviceCode, code, componentRules: fee('620'), effectiveDate: '01/01/2026' };
  await client.updateTariff({ tariff: tariff as never });
}

test('one bill made by new prices does not make the others fresh', async () => {
  const place = await openPlace();
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
    const place = await openPlace();
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
  const place = await openPlace({
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
  const place = await openPlace();
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

for (const postType of ['Post Subscription', 'Post Account']) {
  test(`a bill that posting put on hold is ready again after it is generated: ${postType}`, async () => {
    const place = await openPlace({ postType });
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
  const place = await openPlace();
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
  const place = await openPlace({ postType: 'Post Account' });
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
  const place = await openPlace();
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
  const place = await openPlace({}, { componentRules: overdue });
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

for (const postType of ['Post Subscription', 'Post Account']) {
  test(`${postType}: a due date that is moved makes stale what is billed in another batch`, async () => {
    const overdue = [{ component: 'fee', scope: 'Term', formula: '310 + account.overdue * 10%' }];
    const batches = [{ batchCode: 'B2', label: 'B2' }];
    const place = await openPlace({ postType, batches }, { componentRules: overdue });
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

test('a due date that is moved is not that of prepaid bills, which were due when posted', async () => {
  for (const chargingType of ['Postpaid', 'Prepaid']) {
    const place = await openPlace({ chargingType }, { chargeType: chargingType });
    await subscribed(place, await newParty(place.client));
    const termId = await termFor(place, july);
    await generate(place, termId);
    await post(place, termId);
    await place.client.updateTerm({ data: { termID: termId, dueDate: '20/08/2026' } });
    const [bill] = await billsOf(place, termId);
    assert.equal(bill?.dueDate, chargingType === 'Prepaid' ? '01/01/2027' : '20/08/2026');
  }
});

test('a new owner sees nothing of the bills of the previous one', async () => {
  const place = await openPlace();
  const { client } = place;
  const [old, next] = [await newParty(client, 'Old'), await newParty(client, 'Next')];
  const connectionNumber = await subscribed(place, old);
  const first = await termFor(place, july);
  await generate(place, first);
  await post(place, first);
  const handing = { transferDate: '01/08/2026', toPartyNumber: next, connectionGroupLabel: 'n' };
  await client.transferConnection({ data: { connectionNumber, ...handing } } as never);
  const second = await termFor(place, august);
  await generate(place, second);
  const [bill] = await billsOf(place, second);
  assert.equal(bill?.partyName, 'Next');
  assert.deepEqual([bill?.previousBalance, bill?.adjustments, bill?.arrears], [0, 0, 0]);
  assert.deepEqual(
    bill?.history.map(({ amount, paidAmount }) => [amount, paidAmount]),
    [],
  );
  await post(place, second);
  const third = await termFor(place, { startDate: '01/09/2026', endDate: '30/09/2026' });
  await generate(place, third);
  const [later] = await billsOf(place, third);
  // August is 31 days: 310.
  assert.deepEqual([later?.previousBalance, later?.adjustments, later?.arrears], [310, 0, 310]);
  assert.deepEqual(
    later?.history.map(({ amount }) => amount),
    [310],
  );
  await assertChecks(scene, place.tenantId);
});

const historyOf = async (place: Place, termId: number) => {
  const [bill] = await billsOf(place, termId);
  return bill?.history.map(({ label, amount }) => [label, amount]);
};

test('the history of a bill is of the days before it, whichever was made first', async () => {
  const place = await openPlace();
  await subscribed(place, await newParty(place.client));
  const first = await termFor(place, { ...july, label: 'Jul' });
  const second = await termFor(place, { ...august, label: 'Aug' });
  await generate(place, second);
  for (const termId of [first, second]) {
    await generate(place, termId);
    await post(place, termId);
  }
  assert.deepEqual(await historyOf(place, first), []);
  assert.deepEqual(await historyOf(place, second), [['Jul', 310]]);
});

test('the history of a bill distinguishes terms of two batches with the same label', async () => {
  const batches = ['B1', 'B2'].map((batchCode) => ({ batchCode, label: batchCode }));
  const place = await openPlace({ batches });
  const { client, offer } = place;
  const [users, days] = [[{ partyNumber: await newParty(client) }], { batchCode: 'B1' }];
  const connection = { ...offer, ...days, connectionDate: '01062026', billedThrough: '30062026' };
  const number = await subscribe(client, { ...connection, users }, { batchUpload: true });
  const billed = async (term: object) => {
    const termId = await termFor(place, term);
    await generate(place, termId);
    await post(place, termId);
    return (await billsOf(place, termId))[0];
  };
  await billed({ ...july, batchCode: 'B1', label: 'Summer' });
  await client.updateConnection({ data: { connectionNumber: number, batchCode: 'B2' } });
  const half = { startDate: '15/07/2026', endDate: '14/08/2026' };
  await billed({ ...half, batchCode: 'B2', label: 'Summer' });
  const last = await billed({ startDate: '15/08/2026', endDate: '14/09/2026', batchCode: 'B2' });
  assert.deepEqual(
    last?.history.map(({ label, amount }) => [label, amount]),
    // 14 days of August, then July.
    [
      ['Summer', 140],
      ['Summer', 310],
    ],
  );
});

test('a bill keeps its history however many come after it', async () => {
  const place = await openPlace();
  await subscribed(place, await newParty(place.client));
  const terms: number[] = [];
  for (let index = 1; index <= 16; index += 1) {
    const day = `${String(index).padStart(2, '0')}/07/2026`;
    const termId = await termFor(place, { startDate: day, endDate: day, label: `Day ${index}` });
    await generate(place, termId);
    await post(place, termId);
    terms.push(termId);
  }
  assert.deepEqual(await historyOf(place, terms[1] ?? 0), [['Day 1', 310]]);
  const last = await historyOf(place, terms.at(-1) ?? 0);
  assert.deepEqual([last?.length, last?.[0]?.[0], last?.at(-1)?.[0]], [12, 'Day 15', 'Day 4']);
});
