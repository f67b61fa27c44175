// A posted bill is cancelled by a credit note, and billed again on request.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, rowsOf, unpost } from '../support/bill-run.ts';
import { billed, bookedOn, cancel, fee, onlyBill, termAgain } from '../support/cancelled-bills.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf } from '../support/delivery.ts';
import { forms } from '../support/forms.ts';
import { august, july, openOffer } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { newMeter } from '../support/subscriptions.ts';
import { termOf } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

const schedule = { operation: 'schedule' as const };

const openFee = (workspace: string, service = {}) =>
  openOffer(scene, workspace, { ...fee.service, ...service }, fee.tariff);

const firstNote = () => `CN-${scene.clock.now().toZonedDateTimeISO('Asia/Karachi').year}-000001`;

test('a cancelled bill is no longer owed, and the next bill shows it as an adjustment', async () => {
  const place = await openFee('cancelled');
  await place.connectOld();
  const first = await place.open(july);
  const [bill] = await billed(place, first);
  assert.ok(bill);
  assert.equal(bill.billAmount, 341);
  const { message } = await cancel(place, bill.billID, undefined, 'never served');
  assert.equal(message, `Bill ${bill.billNumber} is cancelled by credit note ${firstNote()}`);
  const [shown] = await billsOf(place, first);
  assert.deepEqual(
    [shown?.status, shown?.billNumber, shown?.billAmount, shown?.outstandingAmount],
    ['Cancelled', bill.billNumber, 341, 0],
  );
  assert.deepEqual(await bookedOn(place), {});
  const { data } = await place.client.getCreditNotes({ reference: firstNote() });
  const [note] = data.creditNotes;
  assert.deepEqual(
    [note?.billID, note?.billNumber, note?.amount, note?.walletAmount, note?.reason],
    [bill.billID, bill.billNumber, 341, 0, 'never served'],
  );
  assert.equal(note?.rebillTermID, null);
  // August alone: July is billed no more.
  const [next] = await billed(place, await place.open(august));
  assert.deepEqual(
    [next?.billedFrom, next?.previousBalance, next?.adjustments, next?.arrears, next?.billAmount],
    ['01/08/2026', 341, -341, 0, 341],
  );
  await assertChecks(scene, place.tenantId);
});

test('what is not posted, or was cancelled before, is not cancelled', async () => {
  const place = await openFee('guarded');
  await place.connectOld();
  const first = await place.open(july);
  await generate(place, first);
  const { billID } = await onlyBill(place, first);
  assert.equal(await codeOf(cancel(place, billID)), 'INVALID_STATE');
  assert.equal(await codeOf(cancel(place, billID + 1)), 'BILL_NOT_FOUND');
  assert.equal(await codeOf(cancel(place, billID, false, ' ')), 'REQUIRED_FIELD');
  await post(place, first);
  await cancel(place, billID);
  assert.equal(await codeOf(cancel(place, billID)), 'INVALID_STATE');
  assert.equal(await codeOf(unpost(place, first)), 'INVALID_STATE');
  const { data } = await place.client.getCreditNotes({});
  assert.equal(data.creditNotes.length, 1);
  await assertChecks(scene, place.tenantId);
});

/** 10 a unit; July was misread as 1000, which should have been 100. */
async function misread(workspace: string) {
  const place = await openOffer(
    scene,
    workspace,
    {
      meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh' }],
      components: [{ name: 'energyCharge', label: 'Energy', type: 'Charge', sequence: 1 }],
    },
    {
      componentRules: [{ component: 'energyCharge', scope: 'Term', formula: 'usage.energy * 10' }],
      usageData: [{ input: 'energy', source: 'Metered', required: 1 }],
    },
  );
  const number = await newMeter(place.client);
  await place.connectOld({
    meters: [{ number, installDate: '30/06/2026', initialReading: '0' }],
  });
  const read = async (value: string, readingDate: string) => {
    await place.client.makeReadings({ readings: [{ number, value, readingDate }] });
  };
  const lock = (termID: number) =>
    place.client.postMeterReadings({ ...schedule, data: { termID, reading: 'current' } });
  await read('1000', '31/07/2026');
  const first = await place.open(july);
  await lock(first);
  const [bill] = await billed(place, first);
  assert.equal(bill?.billAmount, 10_000);
  return { place, number, read, lock, first, billID: bill?.billID ?? 0 };
}

test('a misread bill is billed again with the reading corrected', async () => {
  const { place, number, read, lock, first, billID } = await misread('misread');
  await place.client.publishBills({ ...schedule, data: { termID: first } });
  const { message } = await cancel(place, billID, true);
  assert.match(message, /cancelled by credit note CN-20\d\d-000001; term .+ bills it again$/);
  const again = await termAgain(place, billID);
  const opened = await termOf(place.client, again);
  assert.deepEqual(
    [opened.type, opened.startDate, opened.endDate, opened.status, opened.stage],
    ['OffCycle', '01/07/2026', '31/07/2026', 'Open', 'Created'],
  );
  const { data } = await place.client.getReadings({ number, status: 'Accepted' });
  const readingID = data.readings.find((one) => one.value === '1000')?.readingID ?? 0;
  await place.client.reviewReading({ data: { readingID, decision: 'Accept', value: '100' } });
  await lock(again);
  const [right] = await billed(place, again);
  assert.deepEqual(
    [right?.billAmount, right?.arrears, right?.billedFrom, right?.billedTo],
    [1_000, 0, '01/07/2026', '31/07/2026'],
  );
  assert.equal((await termOf(place.client, first)).status, 'Published');
  await read('250', '31/08/2026');
  const next = await place.open(august);
  await lock(next);
  const [later] = await billed(place, next);
  assert.deepEqual([later?.currentCharges, later?.arrears], [1_500, 1_000]);
  await assertChecks(scene, place.tenantId);
});

test('the next term catches up on a cancelled bill whose rebill term is never billed', async () => {
  const place = await openFee('caught-up');
  await place.connectOld();
  const [bill] = await billed(place, await place.open(july));
  await cancel(place, bill?.billID ?? 0, true);
  const [next] = await billed(place, await place.open(august));
  assert.deepEqual([next?.billedFrom, next?.billAmount, next?.arrears], ['01/07/2026', 682, 0]);
  await assertChecks(scene, place.tenantId);
});

test('values given by hand and uploaded use go into the new term', async () => {
  const source = 'Uploaded' as const;
  const place = await openOffer(
    scene,
    'given',
    {
      unmeteredInputs: [{ name: 'calls', source }],
      components: [
        { name: 'callCharge', label: 'Calls', type: 'Charge', sequence: 1 },
        { name: 'visit', label: 'Visit', type: 'Charge', sequence: 2, manual: 'Optional' },
      ],
    },
    {
      componentRules: [
        { component: 'callCharge', formula: 'usage.calls * 2' },
        { component: 'visit', scope: 'Term', formula: '0' },
      ],
      usageData: [{ input: 'calls', source }],
    } as never,
  );
  const number = await place.connectOld();
  const first = await place.open(july);
  const send = (list: string, row: unknown[]) => {
    const data = JSON.stringify({ termID: first, [list]: [row] });
    return { ...schedule, data: { data } };
  };
  await place.client.uploadUsage(send('usage', [number, 'calls', '30']));
  await place.client.postManualComponentValues(send('compsData', [number, 'visit', '500']));
  const [bill] = await billed(place, first);
  assert.equal(bill?.billAmount, 560);
  await cancel(place, bill?.billID ?? 0, true);
  const [again] = await billed(place, await termAgain(place, bill?.billID ?? 0));
  assert.equal(again?.billAmount, 560);
  await assertChecks(scene, place.tenantId);
});

test('what a wallet had paid is in the wallet again', async () => {
  const place = await openFee('wallet');
  await place.connectOld({ accounts: [{ title: 'Advance', balance: '200' }] });
  const first = await place.open(july);
  // The second posting is the one that counts.
  await billed(place, first);
  await unpost(place, first);
  await post(place, first);
  const bill = await onlyBill(place, first);
  assert.deepEqual([bill.walletApplied, bill.outstandingAmount], [200, 141]);
  await cancel(place, bill.billID);
  const { data } = await place.client.getUsers({ partyNumber: place.party });
  const { walletAccount, outstandingAccount } = data.user;
  assert.deepEqual([walletAccount.balance, outstandingAccount.balance], [200, 0]);
  const { data: notes } = await place.client.getCreditNotes({ billID: bill.billID });
  assert.equal(notes.creditNotes[0]?.walletAmount, 200);
  await assertChecks(scene, place.tenantId);
});

for (const rebill of forms([false, true])) {
  test(`a deposit that came with the bill is demanded once; rebill ${rebill}`, async () => {
    const securityAttributes = [{ name: 'Deposit', amount: 500, dueAt: 'FirstBill' }];
    const tariff = { ...fee.tariff, securityAttributes } as never;
    const place = await openOffer(scene, `deposit-${rebill}`, fee.service, tariff);
    const days = { connectionDate: '01072026', billedThrough: '30062026' };
    await place.connectOld(days);
    const [bill] = await billed(place, await place.open(july));
    const held = async () =>
      (
        await rowsOf<{ receivable: string; deposit: string }>(
          place,
          'select receivable, deposit from subscription_balances where tenant_id = $1',
        )
      ).map((row) => [Number(row.receivable), Number(row.deposit)]);
    assert.deepEqual(await held(), [[84_100, 50_000]]);
    await cancel(place, bill?.billID ?? 0, rebill);
    assert.deepEqual(await held(), [rebill ? [0, 0] : [50_000, 50_000]]);
    if (rebill) await billed(place, await termAgain(place, bill?.billID ?? 0));
    await billed(place, await place.open(august));
    assert.deepEqual(await held(), [rebill ? [118_200, 50_000] : [84_100, 50_000]]);
    await assertChecks(scene, place.tenantId);
  });
}

test('Purchase: what the workspace owed is owed no more', async () => {
  const place = await openFee('purchase', { serviceType: 'Purchase' });
  await place.connectOld();
  const [bill] = await billed(place, await place.open(july));
  const before = await bookedOn(place);
  assert.equal(Object.values(before).filter((amount) => amount === -34_100).length, 1);
  await cancel(place, bill?.billID ?? 0);
  assert.deepEqual(await bookedOn(place), {});
  await assertChecks(scene, place.tenantId);
});

test('with readings posted in the next term a bill is not billed again', async () => {
  const { place, read, lock, billID } = await misread('read-on');
  await read('1200', '31/08/2026');
  const next = await place.open(august);
  await lock(next);
  assert.equal(await codeOf(cancel(place, billID, true)), 'INVALID_STATE');
  await place.client.unpostMeterReadings({ data: { termID: next } });
  await cancel(place, billID, true);
});
