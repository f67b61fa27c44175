// Days that are caught up on: what the next bill charges for days before it, once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fee,
  generatedOver,
  linesOf,
  openPlace,
  postTypes,
  raisePrice,
} from '../support/advance-fee.ts';
import { billsOf, generate, post, type ShownBill, unpost } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf } from '../support/delivery.ts';
import { forms } from '../support/forms.ts';
import { august, july, type OfferPlace, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { newParty, subscribe } from '../support/subscriptions.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

/** Normal lines of whole months, and before them what was caught up. */
const caughtUp = {
  posted: [
    ['Normal', '22/07/2026', '31/07/2026', 100],
    ['Normal', '01/08/2026', '31/08/2026', 310],
  ],
  next: [['Normal', '01/09/2026', '30/09/2026', 310]],
};

for (const postType of forms(postTypes)) {
  test(`${postType}: days caught up on are not taken off the next bill`, async () => {
    const place = await openPlace(scene, postType);
    const isCombined = postType !== 'Post Subscription';
    await place.connectOld();
    await post(place, await generatedOver(place, july));
    const users = [{ partyNumber: place.party, connectionGroupLabel: 'House' }];
    const late = await subscribe(place.client, {
      ...place.offer,
      connectionDate: '22072026',
      users,
    });
    const linesOfLate = async (termId: number) => {
      const bills = await billsOf(place, termId);
      assert.equal(bills.length, isCombined ? 1 : 2);
      const bill = bills.find((one) => isCombined || one.connectionNumber === late);
      const lines = bill?.lines.filter((line) => (line.connectionNumber ?? late) === late) ?? [];
      return linesOf({ ...bill, lines } as ShownBill);
    };
    const second = await generatedOver(place, august);
    assert.deepEqual(await linesOfLate(second), caughtUp.posted);
    await post(place, second);
    const third = await generatedOver(place, september);
    assert.deepEqual(await linesOfLate(third), caughtUp.next);
    // Nor when what was billed is gathered from the bill again.
    await post(place, third);
    await unpost(place, third);
    await generate(place, third);
    assert.deepEqual(await linesOfLate(third), caughtUp.next);
    // The month itself is still compared: ten days at 10 more, of both.
    await raisePrice(place, '22/08/2026');
    await generate(place, third);
    const adjusted = await billsOf(place, third);
    const lines = adjusted.flatMap((bill) => bill.lines);
    assert.deepEqual(
      lines.flatMap((line) => (line.lineType === 'Adjustment' ? [line.amount] : [])),
      [100, 100],
    );
    await post(place, third);
    await assertChecks(scene, place.tenantId);
  });
}

test('days of a skipped bill are caught up on once', async () => {
  const place = await openPlace(scene, 'Post Subscription');
  await place.connectOld();
  const first = await generatedOver(place, july);
  const [left] = await billsOf(place, first);
  await place.client.holdBill({ data: { billID: left?.billID ?? 0, hold: true, reason: 'ask' } });
  await post(place, first, true);
  const second = await generatedOver(place, august);
  assert.deepEqual(linesOf((await billsOf(place, second))[0]), [
    ['Normal', '01/07/2026', '31/07/2026', 310],
    ['Normal', '01/08/2026', '31/08/2026', 310],
  ]);
  await post(place, second);
  const third = await generatedOver(place, september);
  assert.deepEqual(linesOf((await billsOf(place, third))[0]), caughtUp.next);
});

for (const postType of forms(postTypes)) {
  test(`${postType}: days that another term billed are not charged with the next bill`, async () => {
    const place = await openPlace(scene, postType);
    const { client, offer } = place;
    const numbers = [await place.connectOld(), await place.connectOld()];
    const off = await newTerm(client, {
      serviceCode: offer.serviceCode,
      startDate: '01/07/2026',
      endDate: '10/07/2026',
      type: 'OffCycle',
      connectionNumbers: numbers,
    });
    await generate(place, off);
    await post(place, off);
    const first = await generatedOver(place, july);
    const allLines = async (termId: number) =>
      (await billsOf(place, termId)).flatMap((bill) => linesOf(bill) ?? []);
    const rest = ['Normal', '11/07/2026', '31/07/2026', 210];
    assert.deepEqual(await allLines(first), [rest, rest]);
    await post(place, first);
    const whole = ['Normal', '01/08/2026', '31/08/2026', 310];
    const second = await generatedOver(place, august);
    assert.deepEqual(await allLines(second), [whole, whole]);
    await post(place, second);
    await unpost(place, second);
    // Ten more a day since the 22nd.
    await raisePrice(place, '22/07/2026');
    await generate(place, second);
    const lines = (await allLines(second)).filter(([type]) => type === 'Adjustment');
    assert.deepEqual(
      lines.map(([, , , amount]) => amount),
      [100, 100],
    );
    await post(place, second);
    await assertChecks(scene, place.tenantId);
  });

  test(`${postType}: days of the owner before are not charged to the new one`, async () => {
    const place = await openPlace(scene, postType);
    const { client, offer } = place;
    const number = await place.connectOld();
    const toPartyNumber = await newParty(client, 'B. Noor');
    await client.transferConnection({
      data: {
        connectionNumber: number,
        transferDate: '11/07/2026',
        toPartyNumber,
        connectionGroupLabel: 'Shop',
      },
    });
    const { serviceCode } = offer;
    const connectionNumbers = [number];
    const last = { serviceCode, ...july, type: 'Final' as const, connectionNumbers };
    const final = await newTerm(client, last);
    await generate(place, final);
    await post(place, final);
    const shownOf = async (termId: number) => {
      const [bill, ...others] = await billsOf(place, termId);
      assert.deepEqual(others, []);
      return [bill?.partyName, ...(linesOf(bill) ?? [])];
    };
    assert.deepEqual(await shownOf(final), [
      'A. Khan',
      ['Normal', '01/07/2026', '10/07/2026', 100],
    ]);
    const first = await generatedOver(place, july);
    assert.deepEqual(await shownOf(first), [
      'B. Noor',
      ['Normal', '11/07/2026', '31/07/2026', 210],
    ]);
    await post(place, first);
    const second = await generatedOver(place, august);
    assert.deepEqual(await shownOf(second), [
      'B. Noor',
      ['Normal', '01/08/2026', '31/08/2026', 310],
    ]);
    await post(place, second);
    await assertChecks(scene, place.tenantId);
  });
}

for (const postType of forms(postTypes)) {
  test(`${postType}: a charge given by hand is not computed again with the next bill`, async () => {
    const place = await openPlace(scene, postType);
    const [lowered, waived, usual] = [
      await place.connectOld(),
      await place.connectOld(),
      await place.connectOld(),
    ];
    const first = await place.open(july);
    const compsData = [
      [lowered, 'fee', '50'],
      [waived, 'fee', '0'],
    ];
    const data = JSON.stringify({ termID: first, compsData });
    const { client } = place;
    await client.postManualComponentValues({ operation: 'schedule', data: { data } });
    await generate(place, first);
    await post(place, first);
    await raisePrice(place, '22/07/2026');
    const second = await generatedOver(place, august);
    const charged = async () => {
      const bills = await billsOf(place, second);
      return bills.flatMap((bill) =>
        bill.lines.map((line) => [
          line.connectionNumber ?? bill.connectionNumber,
          line.lineType,
          line.amount,
        ]),
      );
    };
    const expected = [
      [lowered, 'Normal', 620],
      [waived, 'Normal', 620],
      [usual, 'Normal', 620],
      [usual, 'Adjustment', 100],
    ];
    assert.deepEqual(await charged(), expected);
    await post(place, second);
    await unpost(place, second);
    await generate(place, second);
    assert.deepEqual(await charged(), expected);
    const { data: compared } = await client.compareRuns({ termID: second });
    assert.deepEqual(compared.differences, []);
  });
}

test('a charge given by hand for days caught up on leaves the month itself to be compared', async () => {
  const place = await openPlace(scene, 'Post Subscription');
  const number = await place.connectOld();
  const first = await place.open(july);
  const data = JSON.stringify({ termID: first, compsData: [[number, 'fee', '50']] });
  await place.client.postManualComponentValues({ operation: 'schedule', data: { data } });
  await generate(place, first);
  const [left] = await billsOf(place, first);
  await place.client.holdBill({ data: { billID: left?.billID ?? 0, hold: true, reason: 'ask' } });
  await post(place, first, true);
  const second = await generatedOver(place, august);
  const lines = linesOf((await billsOf(place, second))[0]);
  assert.deepEqual(lines?.map(([type, , to, amount]) => [type, to, amount]).sort(), [
    ['Manual', '31/07/2026', 50],
    ['Normal', '31/08/2026', 310],
  ]);
  await post(place, second);
  await raisePrice(place, '22/08/2026');
  const third = await generatedOver(place, september);
  assert.deepEqual(linesOf((await billsOf(place, third))[0]), [
    ['Normal', '01/09/2026', '30/09/2026', 620],
    ['Adjustment', '01/08/2026', '31/08/2026', 100],
  ]);
});

/** From a plan of 310 to one of 620. */
async function dearerPlan({ client, offer }: OfferPlace) {
  const code = `${offer.tariffCode}-B`;
  const { serviceCode } = offer;
  await client.createTariff({
    tariff: {
      serviceCode,
      code,
      name: 'B',
      uniqueLabel: `Plan ${code}`,
      planType: 'BASE_PLAN',
      chargeType: 'Postpaid',
      componentRules: fee('620'),
    },
  });
  return (connectionNumber: string, effectiveDate: string) =>
    codeOf(client.changeTariff({ data: { connectionNumber, tariffCode: code, effectiveDate } }));
}

for (const postType of forms(postTypes)) {
  test(`${postType}: a plan changes inside the last billed term, not before it`, async () => {
    const place = await openPlace(scene, postType);
    const change = await dearerPlan(place);
    const number = await place.connectOld();
    await place.connectOld();
    await post(place, await generatedOver(place, july));
    assert.equal(await change(number, '30/06/2026'), 'DATE_IN_POSTED_TERM');
    assert.equal(await change(number, '11/07/2026'), 'success');
    const second = await generatedOver(place, august);
    const bills = await billsOf(place, second);
    const lines = bills.flatMap((bill) =>
      bill.lines.map((line) => [
        line.connectionNumber ?? bill.connectionNumber,
        line.lineType,
        line.amount,
      ]),
    );
    assert.deepEqual(
      lines.filter(([of]) => of === number),
      [
        [number, 'Normal', 620],
        [number, 'Adjustment', 210],
      ],
    );
    assert.deepEqual(
      lines.filter(([of]) => of !== number).map(([, ...rest]) => rest),
      [['Normal', 310]],
    );
    await post(place, second);
    await assertChecks(scene, place.tenantId);
  });

  test(`${postType}: a plan does not change on days that nothing prices again`, async () => {
    const place = await openPlace(scene, postType);
    const change = await dearerPlan(place);
    await place.connectOld();
    await post(place, await generatedOver(place, july));
    const users = [{ partyNumber: place.party, connectionGroupLabel: 'House' }];
    const connectionDate = '22072026';
    const late = await subscribe(place.client, { ...place.offer, connectionDate, users });
    await post(place, await generatedOver(place, august));
    assert.equal(await change(late, '25/07/2026'), 'DATE_IN_POSTED_TERM');
    assert.equal(await change(late, '22/08/2026'), 'success');
    const third = await generatedOver(place, september);
    const bills = await billsOf(place, third);
    const adjusted = bills.flatMap((bill) => bill.lines).filter((one) => one.amount === 100);
    assert.deepEqual(
      adjusted.map((line) => line.lineType),
      ['Adjustment'],
    );
  });

  test(`${postType}: a plan does not change in a term that was billed after it`, async () => {
    const place = await openPlace(scene, postType, { postBilling: 1 });
    const change = await dearerPlan(place);
    const number = await place.connectOld();
    await place.connectOld();
    await post(place, await generatedOver(place, july));
    assert.equal(await change(number, '11/07/2026'), 'DATE_IN_POSTED_TERM');
    assert.equal(await change(number, '01/08/2026'), 'success');
  });
}
