// What happens to subscriptions over time: their states, and what each state allows.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openChangingOffer } from '../support/changing-offer.ts';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';
import { day, newMeter, shown, subscribe } from '../support/subscriptions.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene();
const { admin, other, newOwner, plain, billed } = await openChangingOffer(scene, 'changes');

type State = 'Pending' | 'Active' | 'Disconnected' | 'Closed';

/** A subscription in a state, with all that led there. */
async function inState(state: State): Promise<string> {
  if (state === 'Pending') return subscribe(admin, { ...plain, connectionDate: day(9, '') });
  const connectionNumber = await billed();
  if (state === 'Active') return connectionNumber;
  await admin.disconnectConnection({ data: { connectionNumber, effectiveDate: day(-20) } });
  if (state === 'Closed') await admin.closeConnection({ data: { connectionNumber } });
  return connectionNumber;
}

const steps = {
  update: (connectionNumber: string) =>
    admin.updateConnection({ data: { connectionNumber, description: 'x' } }),
  activate: (connectionNumber: string) =>
    admin.updateConnection({ data: { connectionNumber, activate: true } }),
  disconnect: (connectionNumber: string) =>
    admin.disconnectConnection({ data: { connectionNumber } }),
  reconnect: (connectionNumber: string) =>
    admin.reconnectConnection({ data: { connectionNumber } }),
  close: (connectionNumber: string) => admin.closeConnection({ data: { connectionNumber } }),
  transfer: (connectionNumber: string) =>
    admin.transferConnection({ data: { connectionNumber, toPartyNumber: newOwner } }),
  changePlan: (connectionNumber: string) =>
    admin.changeTariff({
      data: { connectionNumber, tariffCode: other.code, effectiveDate: day(10) },
    }),
};

/** By hand: which step is possible in which state, and the state it leads to. */
const machine: Record<State, Partial<Record<keyof typeof steps, State>>> = {
  Pending: { update: 'Pending', activate: 'Active', close: 'Closed', changePlan: 'Pending' },
  Active: {
    update: 'Active',
    disconnect: 'Disconnected',
    transfer: 'Active',
    changePlan: 'Active',
  },
  Disconnected: {
    update: 'Disconnected',
    reconnect: 'Active',
    close: 'Closed',
    transfer: 'Disconnected',
    changePlan: 'Disconnected',
  },
  Closed: {},
};

for (const [state, possible] of Object.entries(machine) as [
  State,
  Partial<Record<string, State>>,
][]) {
  for (const [name, step] of Object.entries(steps)) {
    const result = possible[name];
    test(`${name} of one that is ${state} ${result ? `leads to ${result}` : 'is refused'}`, async () => {
      const number = await inState(state);
      if (result) {
        await step(number);
        assert.equal((await shown(admin, number)).status, result);
        return;
      }
      const before = await hashRows(scene.sql);
      const { error, statusCode } = await refuses(step(number), 'INVALID_STATE');
      const told = error as { current?: unknown; allowed?: unknown[] };
      assert.deepEqual([told.current, statusCode], [state, 409]);
      assert.ok(told.allowed && !told.allowed.includes(state));
      assert.deepEqual(await hashRows(scene.sql), before);
    });
  }
}

test('an unknown number is not found by any change', async () => {
  for (const step of Object.values(steps)) {
    await refuses(step('NONE'), 'SUBSCRIPTION_NOT_FOUND', {
      field: 'data.connectionNumber',
      statusCode: 404,
    });
  }
});

test('days that are billed are left alone by every change', async () => {
  const connectionNumber = await billed();
  const inside = day(-40);
  const calls = {
    'data.effectiveDate': [
      () => admin.disconnectConnection({ data: { connectionNumber, effectiveDate: inside } }),
      () =>
        admin.changeTariff({
          data: { connectionNumber, tariffCode: other.code, effectiveDate: inside },
        }),
    ],
    'data.transferDate': [
      () =>
        admin.transferConnection({
          data: { connectionNumber, transferDate: inside, toPartyNumber: newOwner },
        }),
    ],
    'data.unmeteredInputs[0].fromDate': [
      () =>
        admin.updateConnection({
          data: {
            connectionNumber,
            unmeteredInputs: [{ name: 'lamps', value: '1', fromDate: inside }],
          },
        }),
    ],
    'data.variants[0].fromDate': [
      () =>
        admin.updateConnection({
          data: { connectionNumber, variants: [{ name: 'rate', value: '1', fromDate: inside }] },
        }),
    ],
    'data.addonTariffLabels[0].fromDate': [
      () =>
        admin.updateConnection({
          data: { connectionNumber, addonTariffLabels: [{ label: 'Internet', fromDate: inside }] },
        }),
    ],
  };
  const before = await hashRows(scene.sql);
  for (const [field, ones] of Object.entries(calls)) {
    for (const call of ones) {
      await refuses(call(), 'DATE_IN_POSTED_TERM', { field, statusCode: 409 });
    }
  }
  assert.deepEqual(await hashRows(scene.sql), before);
  await admin.disconnectConnection({ data: { connectionNumber, effectiveDate: day(-39) } });
});

test('disconnect and reconnect write a history of states, with kinds and reasons', async () => {
  const connectionNumber = await billed();
  const cut = { connectionNumber, effectiveDate: day(-30), kind: 'CustomerRequest' as const };
  await admin.disconnectConnection({ data: { ...cut, reason: 'Moving' } });
  const off = await shown(admin, connectionNumber);
  assert.deepEqual([off.status, off.disconnectionKind], ['Disconnected', 'CustomerRequest']);
  const early = { connectionNumber, effectiveDate: day(-31) };
  await refuses(admin.reconnectConnection({ data: early }), 'INVALID_STATE');
  await admin.reconnectConnection({ data: { connectionNumber, effectiveDate: day(-10) } });
  const on = await shown(admin, connectionNumber);
  assert.deepEqual([on.status, on.disconnectionKind], ['Active', null]);
  assert.deepEqual(on.statusHistory, [
    { status: 'Active', fromDate: day(-100), kind: null, reason: null },
    { status: 'Disconnected', fromDate: day(-30), kind: 'CustomerRequest', reason: 'Moving' },
    { status: 'Active', fromDate: day(-10), kind: null, reason: null },
  ]);
  await refuses(
    admin.disconnectConnection({ data: { connectionNumber, effectiveDate: day(-20) } }),
    'INVALID_STATE',
  );
  const before = { connectionNumber, effectiveDate: day(-35) };
  await refuses(admin.disconnectConnection({ data: before }), 'DATE_OUT_OF_ORDER', {
    field: 'data.effectiveDate',
    statusCode: 422,
  });
});

test('a change that is dated ahead comes on its day, and can be taken back', async () => {
  const connectionNumber = await billed();
  const ahead = { connectionNumber, effectiveDate: day(7) };
  await admin.disconnectConnection({ data: ahead });
  assert.equal((await shown(admin, connectionNumber)).status, 'Active');
  await admin.reconnectConnection({ data: ahead });
  const one = await shown(admin, connectionNumber);
  assert.equal(one.statusHistory?.length, 1);
  const pending = await inState('Pending');
  await refuses(
    admin.disconnectConnection({ data: { connectionNumber: pending, effectiveDate: day(9) } }),
    'INVALID_STATE',
  );
});

test('readings come with a change, and meters go for good with a permanent one', async () => {
  const meter = await newMeter(admin);
  const meters = [{ number: meter, initialReading: '100' }];
  const connectionNumber = await billed({ meters, billedThrough: null });
  const effectiveDate = day(-30);
  const readings = [{ number: meter, value: '150' }];
  const strange = [{ number: 1, value: '150' }];
  await refuses(
    admin.disconnectConnection({ data: { connectionNumber, effectiveDate, readings: strange } }),
    'METER_NOT_FOUND',
    { field: 'data.readings[0].number' },
  );
  await admin.disconnectConnection({ data: { connectionNumber, effectiveDate, readings } });
  const cut = await shown(admin, connectionNumber, { readings: true });
  assert.equal(cut.meters?.[0]?.removeDate, null);
  assert.deepEqual(
    cut.readings?.map((one) => [one.value, one.readingType, one.readingDate]),
    [
      ['150', 'Final', effectiveDate],
      ['100', 'Installation', day(-100)],
    ],
  );
  const second = await newMeter(admin);
  const again = [
    { number: meter, value: '151' },
    { number: second, value: '7' },
  ];
  await admin
    .reconnectConnection({
      data: { connectionNumber, effectiveDate: day(-20), readings: again, number: second },
    })
    .then(
      () => assert.fail('two meters cannot measure one input unsaid'),
      (error) => assert.equal(error.error.code, 'METER_BINDING_AMBIGUOUS'),
    );
  const one = [{ number: meter, value: '151' }];
  await admin.reconnectConnection({
    data: { connectionNumber, effectiveDate: day(-20), readings: one },
  });
  const gone = { connectionNumber, effectiveDate: day(-5), kind: 'Permanent' as const };
  await admin.disconnectConnection({
    data: { ...gone, readings: [{ number: meter, value: '170' }] },
  });
  const last = await shown(admin, connectionNumber);
  assert.deepEqual(
    last.meters?.map((hung) => [hung.number, hung.status, hung.removeDate]),
    [[meter, 'InActive', day(-5)]],
  );
  assert.deepEqual(last.meteredConnectionInputs, []);
  await admin.reconnectConnection({
    data: {
      connectionNumber,
      effectiveDate: day(-1),
      number: second,
      readings: [{ number: second, value: '7' }],
    },
  });
  const back = await shown(admin, connectionNumber);
  assert.deepEqual(
    back.meters?.map((hung) => [hung.number, hung.removeDate, hung.registers[0]?.lastReading]),
    [
      [second, null, '7'],
      [meter, day(-5), '170'],
    ],
  );
});
