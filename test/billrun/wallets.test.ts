// What a wallet pays of a bill that comes with arrears, with a credit, or for several
// subscriptions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, rowsOf, type ShownBill } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { july, type OfferPlace, openOffer } from '../support/offer-place.ts';
import type { Service } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { insertOpening } from '../support/term-rows.ts';

const scene = await openScene();
scene.runJobs();

function openPlace(workspace: string, postType?: Service['postType']): Promise<OfferPlace> {
  const service: Partial<Service> = {
    values: [{ name: 'monthly', type: 'Number', default: '310', overridable: 1 }],
    components: [{ name: 'fee', label: 'Fee', type: 'Charge' }],
    ...(postType ? { postType } : {}),
  };
  return openOffer(scene, workspace, service, {
    componentRules: [{ component: 'fee', formula: 'monthly' }],
  });
}

/** What the bill charges, what the wallet paid of it, what is left to pay. */
function paymentOf(bill: ShownBill | undefined) {
  return [bill?.billAmount, bill?.walletApplied, bill?.payableWithinDueDate];
}

async function postedBill(place: OfferPlace): Promise<ShownBill | undefined> {
  const termId = await place.open(july);
  await generate(place, termId);
  await post(place, termId);
  const [bill] = await billsOf(place, termId);
  return bill;
}

async function walletOf(place: OfferPlace): Promise<number> {
  const [party] = await rowsOf<{ wallet: number }>(
    place,
    'select balance::integer / 100 as wallet from party_wallets where tenant_id = $1',
  );
  return party?.wallet ?? 0;
}

test('a wallet pays what a bill charges; what was owed before it stays owed', async () => {
  const place = await openPlace('wallet-arrears');
  await place.connectOld();
  await insertOpening(scene, place.tenantId, 1, 500_00);
  await insertOpening(scene, place.tenantId, null, -1_000_00);
  // 500 + 310 - 310
  assert.deepEqual(paymentOf(await postedBill(place)), [310, 310, 500]);
  assert.equal(await walletOf(place), 690);
  await assertChecks(scene, place.tenantId);
});

test('where a credit covers a part of a bill, a wallet pays the rest and no more', async () => {
  const place = await openPlace('wallet-credit');
  await place.connectOld();
  await insertOpening(scene, place.tenantId, 1, -200_00);
  await insertOpening(scene, place.tenantId, null, -1_000_00);
  // 310 - 200 - 110
  assert.deepEqual(paymentOf(await postedBill(place)), [310, 110, 0]);
  assert.equal(await walletOf(place), 890);
  await assertChecks(scene, place.tenantId);
});

test('of a bill of several subscriptions, a wallet pays those that were charged', async () => {
  const place = await openPlace('wallet-parts', 'Post Party');
  await place.connectOld({ variants: [{ name: 'monthly', value: '-100' }] });
  await place.connectOld();
  await insertOpening(scene, place.tenantId, null, -150_00);
  // -100 + 310, of which 150 are paid
  assert.deepEqual(paymentOf(await postedBill(place)), [210, 150, 60]);
  assert.deepEqual(
    await rowsOf(
      place,
      `select subscription_id::integer as subscription, amount::integer / 100 as amount
       from subledger_entries
       where tenant_id = $1 and kind = 'Wallet' and subscription_id is not null`,
    ),
    [{ subscription: 2, amount: -150 }],
  );
  await assertChecks(scene, place.tenantId);
});
