// Bills made in advance: what the next one makes of the term before.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, type ShownBill } from '../support/bill-run.ts';
import { assertLaws } from '../support/laws.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { subscribe } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

const linesOf = (bill: ShownBill | undefined) =>
  bill?.lines.map((line) => [line.component, line.lineType, line.amount]);

for (const postType of ['Post Subscription', 'Post Account'] as const) {
  test(`${postType}: what a bill knew of the account is not known better by the next`, async () => {
    const components = ['fee', 'welcome', 'reminder'].map((name, index) => {
      return { name, label: name, type: 'Charge' as const, sequence: index };
    });
    const place = await openOffer(
      scene,
      `advance-${postType.toLowerCase().replace(' ', '-')}`,
      { postType, postBilling: 0, components },
      {
        componentRules: [
          { component: 'fee', formula: '310', prorate: 'Days' },
          { component: 'welcome', when: 'connection.isFirstBill', formula: '1500' },
          { component: 'reminder', formula: 'IF(account.arrears > 0, 50, 0)' },
        ],
      },
    );
    const users = [{ partyNumber: place.party, connectionGroupLabel: 'House' }];
    const connection = { ...place.offer, connectionDate: '01072026', users };
    await subscribe(place.client, connection);
    const isAlone = postType === 'Post Subscription';
    if (!isAlone) await subscribe(place.client, connection);
    const billed = async (days: typeof july) => {
      const term = await place.open(days);
      await generate(place, term);
      const [bill] = await billsOf(place, term);
      await post(place, term);
      const lines = linesOf(bill) ?? [];
      return isAlone ? lines : lines.slice(lines.length / 2);
    };
    assert.deepEqual(await billed(july), [
      ['fee', 'Normal', 310],
      ['welcome', 'Normal', 1500],
    ]);
    const later = [
      ['fee', 'Normal', 310],
      ['reminder', 'Normal', 50],
    ];
    assert.deepEqual(await billed(august), later);
    assert.deepEqual(await billed(september), later);
    await assertLaws(scene, place.tenantId);
  });
}
