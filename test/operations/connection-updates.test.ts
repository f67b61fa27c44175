// Changes of plans, quantities, own values and users of subscriptions, from a day on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openChangingOffer } from '../support/changing-offer.ts';
import { refuses } from '../support/client.ts';
import { newTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { day, newParty, shown } from '../support/subscriptions.ts';

const scene = await openScene();
const { admin, offer, serviceCode, other, owner, newOwner, billed } = await openChangingOffer(
  scene,
  'subscription-updates',
);

test('plans follow each other by day, and the newest is shown', async () => {
  const connectionNumber = await billed();
  const change = (tariffCode: string, effectiveDate: string) =>
    admin.changeTariff({ data: { connectionNumber, tariffCode, effectiveDate } });
  await change(other.code, day(-10));
  const third = await newTariff(admin, serviceCode);
  await refuses(change(third.code, day(-11)), 'DATE_OUT_OF_ORDER', { statusCode: 422 });
  await change(third.code, day(5));
  const one = await shown(admin, connectionNumber);
  assert.equal(one.tariffCode, third.code);
  assert.deepEqual(one.tariffHistory, [
    { tariffCode: offer.tariffCode, fromDate: day(-100) },
    { tariffCode: other.code, fromDate: day(-10) },
    { tariffCode: third.code, fromDate: day(5) },
  ]);
  await refuses(change(third.code, day(6)), 'DUPLICATE', { field: 'data.tariffCode' });
  const wrong: [object, string][] = [
    [{ abstract: 1 }, 'PLAN_ABSTRACT'],
    [{ planType: 'ADDON_PLAN' }, 'PLAN_NOT_BASE'],
    [{ visibility: 'Hidden' }, 'PLAN_NOT_AVAILABLE'],
  ];
  for (const [fields, code] of wrong) {
    const plan = await newTariff(admin, serviceCode, fields);
    await refuses(change(plan.code, day(9)), code as 'PLAN_ABSTRACT', { field: 'data.tariffCode' });
  }
  await refuses(change('NONE', day(9)), 'PLAN_NOT_FOUND', { statusCode: 404 });
});

test('update changes what is sent, clears what is null, and leaves the rest', async () => {
  const connectionNumber = await billed({
    connectionRefNo: 'U-1',
    description: 'before',
    paymentMethod: 'Cash',
    connectionInputs: [{ name: 'plot', value: 'P1' }],
    address: { city: 'Lahore' },
  });
  const change = (fields: object) =>
    admin.updateConnection({ data: { connectionNumber, ...fields } });
  const before = await shown(admin, connectionNumber);
  await change({ batchCode: 'B01', paymentMethod: 'Bank', connectionGroupLabel: 'Other house' });
  await change({ description: null, address: null, connectionRefNo: 'U-2' });
  await change({ connectionInputs: [{ name: 'load', value: '9' }] });
  const { ts, modifiedAt, connectionGroupID, ...after } = await shown(admin, connectionNumber);
  assert.ok((ts ?? 0) > (before.ts ?? 0) && modifiedAt && connectionGroupID);
  assert.deepEqual(after, {
    ...Object.fromEntries(Object.entries(before).filter(([key]) => key in after)),
    batchCode: 'B01',
    paymentMethod: 'Bank',
    connectionGroupLabel: 'Other house',
    description: null,
    connectionRefNo: 'U-2',
    connectionInputs: [{ name: 'load', value: '9' }],
    address: { ...before.address, city: null },
  });
  const found = await admin.getConnections({ metaData: { search: 'u-2' } });
  assert.equal(found.data.connections.length, 1);
  const second = await billed({ connectionInputs: [{ name: 'plot', value: 'P1' }] });
  await refuses(
    change({ connectionInputs: [{ name: 'plot', value: 'P1' }] }),
    'CONNECTION_INPUTS_MISMATCH',
  );
  const taken = admin.updateConnection({
    data: { connectionNumber: second, connectionRefNo: 'U-2' },
  });
  await refuses(taken, 'DUPLICATE', { field: 'data.connectionRefNo', statusCode: 409 });
  await refuses(change({ batchCode: 'NONE' }), 'BATCH_NOT_FOUND', { field: 'data.batchCode' });
});

test('quantities change from a day on; sent back as they were they change nothing', async () => {
  const connectionNumber = await billed({ unmeteredInputs: [{ name: 'lamps', value: '2' }] });
  const change = (unmeteredInputs: object[]) =>
    admin.updateConnection({ data: { connectionNumber, unmeteredInputs } as never });
  await change([{ name: 'lamps', value: '3', fromDate: day(-10) }]);
  await change([{ name: 'lamps', value: '5' }]);
  const one = await shown(admin, connectionNumber);
  assert.deepEqual(one.unmeteredInputs, [
    { name: 'lamps', value: '2', fromDate: day(-100), toDate: day(-11) },
    { name: 'lamps', value: '3', fromDate: day(-10), toDate: day(-1) },
    { name: 'lamps', value: '5', fromDate: day(0), toDate: null },
  ]);
  await change(one.unmeteredInputs ?? []);
  assert.deepEqual((await shown(admin, connectionNumber)).unmeteredInputs, one.unmeteredInputs);
  await change([{ name: 'lamps', value: '4', fromDate: day(-20) }]);
  const later = await shown(admin, connectionNumber);
  assert.deepEqual(
    later.unmeteredInputs?.map(({ value, fromDate }) => [value, fromDate]),
    [
      ['2', day(-100)],
      ['4', day(-20)],
    ],
  );
});

test('own values and add-ons that are left out end, and new ones begin', async () => {
  const connectionNumber = await billed({
    variants: [{ name: 'rate', value: '18' }],
    addonTariffLabels: ['Internet'],
  });
  const change = (fields: object) =>
    admin.updateConnection({ data: { connectionNumber, ...fields } as never });
  const before = await shown(admin, connectionNumber);
  await change({ variants: before.variants, addonTariffLabels: ['Internet', 'Telephone'] });
  await change({ variants: [{ name: 'rate', value: '17', fromDate: day(3) }] });
  await change({ addonTariffLabels: [{ label: 'Internet', quantity: '2', fromDate: day(4) }] });
  const one = await shown(admin, connectionNumber);
  assert.deepEqual(
    (one.variants as Record<string, unknown>[]).map((v) => [v.value, v.fromDate, v.toDate]),
    [
      ['18', null, day(-1)],
      ['17', day(3), null],
    ],
  );
  assert.deepEqual(
    one.addOns?.map((addOn) => [addOn.quantity, addOn.fromDate, addOn.toDate, addOn.status]),
    [
      ['1', day(-100), day(3), 'Active'],
      ['2', day(4), null, 'Pending'],
    ],
  );
  await refuses(change({ addonTariffLabels: ['None'] }), 'ADDON_NOT_FOUND');
  await refuses(change({ variants: [{ name: 'spare', value: '1' }] }), 'VARIANT_NOT_OVERRIDABLE');
  const twice = ['1', '2'].map((value) => ({ name: 'rate', value, fromDate: day(3) }));
  await refuses(change({ variants: twice }), 'DUPLICATE', { field: 'data.variants[1].name' });
});

test('users come and go; the owner changes by a transfer only', async () => {
  const payer = await newParty(admin, 'Payer');
  const connectionNumber = await billed();
  const change = (users: object[]) =>
    admin.updateConnection({ data: { connectionNumber, users } as never });
  await change([{ partyNumber: payer, role: 'Payer' }, { partyNumber: newOwner }]);
  const roles = async () =>
    (await shown(admin, connectionNumber)).users?.map((user) => [
      user.partyName,
      user.role,
      user.toDate,
    ]);
  assert.deepEqual(await roles(), [
    ['Old Owner', 'Owner', null],
    ['Payer', 'Payer', null],
    ['New Owner', 'Contact', null],
  ]);
  // A user who begins and ends today has no day.
  await change([{ partyNumber: owner, role: 'Owner' }]);
  assert.deepEqual(await roles(), [['Old Owner', 'Owner', null]]);
  await change([{ partyNumber: payer, role: 'Payer', fromDate: day(-2) }]);
  await change([]);
  assert.deepEqual(await roles(), [
    ['Payer', 'Payer', day(-1)],
    ['Old Owner', 'Owner', null],
  ]);
  await refuses(change([{ partyNumber: payer, role: 'Owner' }]), 'OWNER_IMMUTABLE', {
    field: 'data.users[0].role',
    statusCode: 422,
  });
  await refuses(change([{ partyNumber: 5 }]), 'PARTY_NOT_FOUND');
  await change([{ partyNumber: payer, role: 'Payer' }]);
  const transferDate = day(-1);
  const data = { connectionNumber, transferDate, toPartyNumber: newOwner };
  await admin.transferConnection({ data });
  // The days of the new owner have no user of the former one.
  assert.deepEqual(await roles(), [
    ['Payer', 'Payer', day(-2)],
    ['Old Owner', 'Owner', day(-2)],
    ['New Owner', 'Owner', null],
  ]);
});

test('a stale ts is refused, and of two updates that have seen the same one succeeds', async () => {
  const connectionNumber = await billed();
  const { ts } = await shown(admin, connectionNumber);
  const calls = ['a', 'b', 'c'].map((description) =>
    admin.updateConnection({ data: { connectionNumber, description, ts: ts ?? 0 } }),
  );
  const done = await Promise.allSettled(calls);
  assert.equal(done.filter((one) => one.status === 'fulfilled').length, 1);
  for (const one of done) {
    if (one.status === 'rejected') assert.equal(one.reason.error.code, 'STALE_OBJECT');
  }
  const stale = { connectionNumber, ts: ts ?? 0 };
  for (const call of [
    () => admin.disconnectConnection({ data: stale }),
    () => admin.closeConnection({ data: stale }),
    () => admin.transferConnection({ data: { ...stale, toPartyNumber: newOwner } }),
    () => admin.changeTariff({ data: { ...stale, tariffCode: other.code } }),
  ]) {
    await refuses(call(), 'STALE_OBJECT', { field: 'data.ts', statusCode: 409 });
  }
  const both = await Promise.allSettled([
    admin.disconnectConnection({ data: { connectionNumber } }),
    admin.disconnectConnection({ data: { connectionNumber } }),
  ]);
  assert.deepEqual(both.map((one) => one.status).toSorted(), ['fulfilled', 'rejected']);
});
