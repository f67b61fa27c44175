// What was posted and then moved on, to the next owner or out of the deposit, is not taken back
// from who no longer has it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, rowsOf, unpost } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf } from '../support/delivery.ts';
import { forms } from '../support/forms.ts';
import { july, type OfferPlace, openOffer } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

type PostType = 'Post Subscription' | 'Post Account';

let places = 0;

/** A fee of 310 a month, and a deposit of 500 that is due with the first bill. */
function openPlace(postType: PostType): Promise<OfferPlace> {
  places += 1;
  return openOffer(
    scene,
    `moved-${places}`,
    { postType, components: [{ name: 'fee', label: 'Fee', type: 'Charge' }] },
    {
      componentRules: [{ component: 'fee', formula: '310', prorate: 'Days' }],
      securityAttributes: [{ name: 'Deposit', amount: 500, dueAt: 'FirstBill' }],
    },
  );
}

/** A new customer, and one of long standing who is on the same bill. */
async function posted(place: OfferPlace): Promise<{ termId: number; connection: string }> {
  await place.connectOld();
  const connection = await place.connectOld({ connectionDate: '01072026' });
  const termId = await place.open(july);
  await generate(place, termId);
  await post(place, termId);
  return { termId, connection };
}

function hand(
  { client }: OfferPlace,
  connectionNumber: string,
  toPartyNumber: number,
  balanceHandling: 'MoveToNew' | 'StayWithOld',
) {
  const data = { connectionNumber, toPartyNumber, transferDate: '01/08/2026', balanceHandling };
  return client.transferConnection({ data });
}

const owed = (place: OfferPlace) =>
  rowsOf<{ receivable: string; deposit: string }>(
    place,
    `select subscription_id, party_id, receivable, deposit from subscription_balances
     where tenant_id = $1 order by 1, 2`,
  );

for (const postType of forms(['Post Subscription', 'Post Account'] as const)) {
  test(`${postType}: what was moved to the next owner is not taken from the one before`, async () => {
    const place = await openPlace(postType);
    const { termId, connection } = await posted(place);
    await hand(place, connection, await newParty(place.client, 'B. Ali'), 'MoveToNew');
    const before = await owed(place);
    assert.deepEqual(
      before.map((row) => [Number(row.receivable), Number(row.deposit)]),
      [
        [310_00, 0],
        [0, 0],
        [810_00, 500_00],
      ],
    );
    assert.equal(await codeOf(unpost(place, termId)), 'INVALID_STATE');
    assert.deepEqual(await owed(place), before);
    await assertChecks(scene, place.tenantId);
  });
}

test('what stayed with the old owner is taken back from there', async () => {
  const place = await openPlace('Post Subscription');
  const { termId, connection } = await posted(place);
  await hand(place, connection, await newParty(place.client, 'B. Ali'), 'StayWithOld');
  await unpost(place, termId);
  for (const { receivable, deposit } of await owed(place)) {
    assert.deepEqual([receivable, deposit], ['0', '0']);
  }
  await assertChecks(scene, place.tenantId);
});

test('what was moved before a bill was posted again does not keep that from being unposted', async () => {
  const place = await openPlace('Post Subscription');
  const { termId, connection } = await posted(place);
  await unpost(place, termId);
  await hand(place, connection, await newParty(place.client, 'B. Ali'), 'MoveToNew');
  await generate(place, termId);
  await post(place, termId);
  await unpost(place, termId);
  await assertChecks(scene, place.tenantId);
});

test('a bill that the deposit has paid is not unposted', async () => {
  const place = await openPlace('Post Subscription');
  const { client } = place;
  const connectionNumber = await place.connectOld({
    accounts: [{ title: 'Security Deposit', balance: 310 }],
  });
  const termId = await place.open(july);
  await generate(place, termId);
  await post(place, termId);
  const effectiveDate = '01/08/2026';
  await client.disconnectConnection({
    data: { connectionNumber, effectiveDate, kind: 'CustomerRequest', reason: 'Moves out' },
  });
  const depositHandling = 'ApplyToBalance';
  await client.closeConnection({ data: { connectionNumber, effectiveDate, depositHandling } });
  assert.equal(await codeOf(unpost(place, termId)), 'INVALID_STATE');
  const [bill] = await billsOf(place, termId);
  assert.equal(bill?.status, 'Posted');
  await assertChecks(scene, place.tenantId);
});
