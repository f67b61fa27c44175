// Terms that bill the same subscriptions beside each other, and what changes between generating and
// posting: nothing is billed twice, and nothing is posted that is no longer so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf } from '../support/delivery.ts';
import { openPlace, type Place, subscribed, termFor } from '../support/fee-by-days.ts';
import { august, july } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { newParty, shown, subscribe } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs({ lanes: 2 });
scene.clock.advance(scene.clock.now().until(Temporal.Instant.from('2027-01-01T00:00:00Z')));

test('two terms of the same days, posted at once: one bills them, and the next goes on there', async () => {
  for (let round = 0; round < 4; round += 1) {
    const place = await openPlace(scene);
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
  const place = await openPlace(scene);
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
  const place = await openPlace(scene, { postType: 'Post Account' });
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
  const place = await openPlace(scene, { postType: 'Post Account' });
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

test('a due date that is moved is not that of prepaid bills, which were due when posted', async () => {
  for (const chargingType of ['Postpaid', 'Prepaid']) {
    const place = await openPlace(scene, { chargingType }, { chargeType: chargingType });
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
  const place = await openPlace(scene);
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
  const place = await openPlace(scene);
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
  const place = await openPlace(scene, { batches });
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
  const place = await openPlace(scene);
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
