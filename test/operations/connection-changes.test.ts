// What happens to subscriptions: states, owners, plans and facts over time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { newTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import {
  type Connection,
  day,
  newMeter,
  newOffer,
  newParty,
  shown,
  subscribe,
} from '../support/subscriptions.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene();
const admin = await scene.workspace('changes');
await scene.enter(admin);
const operator = await scene.loginAs(admin, ['Billing Operator']);
const offer = await newOffer(admin, {
  connectionInputs: [
    { name: 'load', type: 'Number' },
    { name: 'plot', type: 'Text', unique: 1 },
  ],
  unmeteredInputs: [{ name: 'lamps', defaultValue: '0' }],
  values: [
    { name: 'rate', type: 'Number', default: '20', overridable: 1 },
    { name: 'spare', type: 'Number', default: '1' },
    { name: 'needed', type: 'Number', default: null },
  ],
  batches: [{ batchCode: 'B01' }],
});
const { serviceCode } = offer;
await newTariff(admin, serviceCode, { planType: 'ADDON_PLAN', uniqueLabel: 'Internet' });
await newTariff(admin, serviceCode, { planType: 'ADDON_PLAN', uniqueLabel: 'Telephone' });
const other = await newTariff(admin, serviceCode);
const owner = await newParty(admin, 'Old Owner');
const plain: Connection = { ...offer, users: [{ partyNumber: owner }] };

/** Connected a hundred days ago, billed up to forty days ago. */
function billed(fields: Partial<Connection> = {}): Promise<string> {
  const connection = { ...plain, connectionDate: day(-100, ''), billedThrough: day(-40, '') };
  return subscribe(admin, { ...connection, ...fields }, { batchUpload: true });
}

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

const newOwner = await newParty(admin, 'New Owner');

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

test('reconnecting with a balance above the limit needs force, which is for managers', async () => {
  const owing = (balance: number) => ({ accounts: [{ title: 'Receivable' as const, balance }] });
  const connectionNumber = await billed(owing(100.01));
  await admin.disconnectConnection({ data: { connectionNumber } });
  await refuses(admin.reconnectConnection({ data: { connectionNumber } }), 'BALANCE_OUTSTANDING', {
    statusCode: 422,
  });
  const forced = { connectionNumber, force: true };
  await refuses(operator.reconnectConnection({ data: forced }), 'PERMISSION_DENIED', {
    field: 'data.force',
    statusCode: 403,
  });
  await admin.updateService({ service: { code: serviceCode, reconnectionLimit: '100' } });
  await refuses(
    operator.reconnectConnection({ data: { connectionNumber } }),
    'BALANCE_OUTSTANDING',
  );
  // A limit is no amount: it may have more decimals and more digits than any.
  for (const reconnectionLimit of [100.01, '100.0105', '9999999999999']) {
    await admin.updateService({ service: { code: serviceCode, reconnectionLimit } });
    await operator.reconnectConnection({ data: { connectionNumber } });
    await operator.disconnectConnection({ data: { connectionNumber } });
  }
  await admin.updateService({ service: { code: serviceCode, reconnectionLimit: null } });
  await admin.reconnectConnection({ data: forced });
  assert.equal((await shown(admin, connectionNumber)).status, 'Active');
});

const balancesOf = async (connectionNumber: string) =>
  (await shown(admin, connectionNumber)).accounts?.map(({ balance }) => balance);

test('closing settles the deposit as requested, and leaves nothing open', async () => {
  const withDeposit = async (receivable: number, deposit: number) => {
    const partyNumber = await newParty(admin);
    const connectionNumber = await billed({
      users: [{ partyNumber }],
      accounts: [
        { title: 'Receivable', balance: receivable },
        { title: 'Security Deposit', balance: deposit },
      ],
    });
    await admin.disconnectConnection({ data: { connectionNumber } });
    return connectionNumber;
  };
  const applied = await withDeposit(30, 100);
  await admin.closeConnection({ data: { connectionNumber: applied } });
  assert.deepEqual(await balancesOf(applied), [0, 70, 0, 0]);
  const tooLittle = await withDeposit(130, 100);
  const data = { connectionNumber: tooLittle, depositHandling: 'ApplyToBalance' as const };
  await refuses(admin.closeConnection({ data }), 'BALANCE_OUTSTANDING', { statusCode: 422 });
  assert.deepEqual(await balancesOf(tooLittle), [130, 0, 100, 0]);
  const refunded = await withDeposit(0, 100);
  await admin.closeConnection({
    data: { connectionNumber: refunded, depositHandling: 'Refund' },
  });
  assert.deepEqual(await balancesOf(refunded), [0, 0, 0, 0]);
  const owing = await withDeposit(5, 100);
  const refund = { connectionNumber: owing, depositHandling: 'Refund' as const };
  await refuses(admin.closeConnection({ data: refund }), 'BALANCE_OUTSTANDING');
  const kept = await withDeposit(0, 100);
  await admin.closeConnection({ data: { connectionNumber: kept, depositHandling: 'Keep' } });
  assert.deepEqual(await balancesOf(kept), [0, 0, 100, 0]);
  const { rows } = await scene.sql.query(
    `select ledger_account_id as account, sum(amount)::integer as amount from journal_lines
     where ledger_account_id = 1 group by 1`,
  );
  assert.deepEqual(rows, [{ account: '1', amount: -100_00 }]);
  await refuses(
    operator.closeConnection({ data: { connectionNumber: kept } }),
    'PERMISSION_DENIED',
  );
});

test('a Pending subscription is closed with the deposit that it never paid', async () => {
  const secured = await newOffer(admin, { requireDeposit: 1, securityDeposit: 80 });
  const connectionNumber = await subscribe(admin, { ...plain, ...secured });
  await admin.closeConnection({ data: { connectionNumber } });
  assert.deepEqual(await balancesOf(connectionNumber), [0, 0, 0, 0]);
});

test('close frees the meters', async () => {
  const meter = await newMeter(admin);
  const connectionNumber = await billed({ meters: [meter] });
  await admin.disconnectConnection({ data: { connectionNumber, effectiveDate: day(-9) } });
  await admin.closeConnection({ data: { connectionNumber, effectiveDate: day(-2) } });
  const { meters } = (await admin.getMeters({ number: meter })).data.meters;
  assert.equal(meters[0]?.status, 'InActive');
  await subscribe(admin, { ...plain, meters: [{ number: meter }] });
});

test('a transfer leaves the debts with the old owner, or moves them', async () => {
  const from = await newParty(admin, 'From');
  const to = await newParty(admin, 'To');
  const accounts = [
    { title: 'Receivable' as const, balance: 40 },
    { title: 'Security Deposit' as const, balance: 25 },
  ];
  const users = [
    { partyNumber: from, role: 'Owner' as const },
    { partyNumber: owner, role: 'Payer' as const },
  ];
  const owed = async (partyNumber: number) =>
    (await admin.getUsers({ partyNumber })).data.user.outstandingAccount.balance;
  const stays = await billed({ users, accounts });
  const moves = await billed({ users, accounts });
  const data = { transferDate: day(-20), toPartyNumber: to, reason: 'Sold' };
  await admin.transferConnection({ data: { connectionNumber: stays, ...data } });
  assert.deepEqual(await balancesOf(stays), [0, 0, 0, 0]);
  assert.deepEqual([await owed(from), await owed(to)], [80, 0]);
  await admin.transferConnection({
    data: {
      connectionNumber: moves,
      ...data,
      balanceHandling: 'MoveToNew',
      connectionGroupLabel: 'Moved',
    },
  });
  assert.deepEqual(await balancesOf(moves), [40, 0, 25, 0]);
  assert.deepEqual([await owed(from), await owed(to)], [40, 40]);
  const one = await shown(admin, moves);
  assert.deepEqual([one.partyName, one.connectionGroupLabel], ['To', 'Moved']);
  assert.deepEqual(
    one.users?.map((user) => [user.partyName, user.role, user.fromDate, user.toDate]),
    [
      ['From', 'Owner', day(-100), day(-21)],
      ['Old Owner', 'Payer', day(-100), day(-21)],
      ['To', 'Owner', day(-20), null],
    ],
  );
  const [transfer] = one.transfers ?? [];
  const { createdAt, transferID, ...facts } = transfer ?? {};
  assert.ok(createdAt && transferID);
  assert.deepEqual(facts, {
    transferDate: day(-20),
    fromPartyID: one.users?.[0]?.partyID,
    fromPartyName: 'From',
    toPartyID: one.partyID,
    toPartyName: 'To',
    readings: [],
    balanceHandling: 'MoveToNew',
    amountMoved: 40,
    reason: 'Sold',
    createdBy: 'admin@changes.example',
  });
  const { user } = (await admin.getUsers({ partyNumber: to })).data;
  assert.deepEqual(
    user.subscriptions.map((s) => s.connectionNumber).toSorted(),
    [stays, moves].toSorted(),
  );
  await refuses(
    admin.updateUser({ user: { partyNumber: from, archiveStatus: 1 } }),
    'PARTY_HAS_BALANCE',
  );
});

test('a transfer has its own refusals', async () => {
  const connectionNumber = await billed();
  const gone = await newParty(admin);
  await admin.updateUser({ user: { partyNumber: gone, archiveStatus: 1 } });
  const wrong: [object, string, string][] = [
    [{}, 'REQUIRED_FIELD', 'data.toPartyID'],
    [{ toPartyNumber: 9 }, 'PARTY_NOT_FOUND', 'data.toPartyNumber'],
    [{ toPartyID: 99_999 }, 'PARTY_NOT_FOUND', 'data.toPartyID'],
    [{ toPartyNumber: gone }, 'PARTY_ARCHIVED', 'data.toPartyNumber'],
    [{ toPartyNumber: owner }, 'DUPLICATE', 'data.toPartyNumber'],
    [{ toPartyID: 1, toPartyNumber: newOwner }, 'PARTY_KEY_MISMATCH', 'data.toPartyNumber'],
    [{ toPartyNumber: newOwner, transferDate: day(1) }, 'DATE_IN_FUTURE', 'data.transferDate'],
    [{ toPartyNumber: newOwner, balanceHandling: 'Halve' }, 'INVALID_ENUM', 'data.balanceHandling'],
  ];
  for (const [fields, code, field] of wrong) {
    const data = { connectionNumber, ...fields } as { connectionNumber: string };
    await refuses(admin.transferConnection({ data }), code as 'DUPLICATE', { field });
  }
  await refuses(
    operator.transferConnection({ data: { connectionNumber, toPartyNumber: newOwner } }),
    'PERMISSION_DENIED',
  );
});

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

test('every balance is the sum of its entries, and the ledger balances', async () => {
  const { rows } = await scene.sql.query(
    `select
       (select sum(amount) from journal_lines)::integer as ledger,
       (select count(*) from (
          select subscription_id, party_id,
            coalesce(sum(amount) filter (where ledger_account_id = 2), 0) as receivable,
            coalesce(-sum(amount) filter (where ledger_account_id = 4), 0) as deposit
          from subledger_entries where subscription_id is not null group by 1, 2
        ) e full join subscription_balances b using (subscription_id, party_id)
        where b.receivable is distinct from e.receivable
          or b.deposit is distinct from e.deposit)::integer as wrong,
       (select count(*) from parties p where wallet_balance <> coalesce((
          select -sum(amount) from subledger_entries e
          where e.party_id = p.party_id and ledger_account_id = 3), 0))::integer as wallets`,
  );
  assert.deepEqual(rows[0], { ledger: 0, wrong: 0, wallets: 0 });
});

test('a deposit is paid back from cash, whatever account the context names for it', async () => {
  for (const [cashAccountID, paidFrom] of [
    [5, 5],
    [2, 1],
    [4, 1],
    [9_999, 1],
  ] as const) {
    // Contexts of earlier days may name any.
    await scene.sql.query(
      `update pricing_contexts set cash_account_id = ${cashAccountID}
       where code = '${serviceCode}'`,
    );
    const accounts = [{ title: 'Security Deposit' as const, balance: 100 }];
    const connectionNumber = await billed({ accounts });
    await admin.disconnectConnection({ data: { connectionNumber } });
    await admin.closeConnection({ data: { connectionNumber, depositHandling: 'Refund' } });
    const { rows } = await scene.sql.query(
      `select l.ledger_account_id::int as account, l.amount::int as amount
       from journal_lines l join journals j using (tenant_id, journal_id)
       where j.source_type = 'Refund' and l.amount < 0
       order by j.journal_id desc limit 1`,
    );
    assert.deepEqual(rows, [{ account: paidFrom, amount: -100_00 }]);
  }
  await admin.updateService({ service: { code: serviceCode, cashAccountID: 1 } });
});
