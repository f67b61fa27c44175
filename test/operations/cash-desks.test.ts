// Cash desks with their receipts and the close of the day, cheques, and payments that are moved.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { adminPassword, openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

const desk = { code: 'GATE', name: 'Counter at the gate', cashAccountID: 1 };

async function shown(place: Owing, paymentID: number) {
  const { data } = await place.client.getPayments({ paymentID });
  return data.payments[0] ?? {};
}

async function balanceOf(place: Owing, accountCode: string): Promise<number | undefined> {
  const { data } = await place.client.getTrialBalance({ accountCode });
  return data.accounts[0]?.balance;
}

test('receipts of a desk are numbered without gaps; a reversed one keeps its number', async () => {
  const place = await openOwing(scene, 'desk-receipts');
  await place.client.makeCashDesks({ cashDesks: [desk, { ...desk, code: 'TOWN' }] });
  const first = await place.pay({ amount: 10, cashDesk: 'GATE' });
  const refused = place.pay({ amount: 0, cashDesk: 'GATE' });
  await refuses(refused, 'INVALID_NUMBER', { field: 'payments[0].amount' });
  const unknown = place.pay({ amount: 5, cashDesk: 'MOON' });
  await refuses(unknown, 'CASH_DESK_NOT_FOUND', { field: 'payments[0].cashDesk' });
  const second = await place.pay({ amount: 20, cashDesk: 'GATE' });
  const other = await place.pay({ amount: 30, cashDesk: 'TOWN' });
  await place.client.reversePayment({ data: { paymentID: first, reason: 'Wrong customer' } });
  const third = await place.pay({ amount: 40, cashDesk: 'GATE' });
  const numbers = [];
  for (const id of [first, second, other, third])
    numbers.push((await shown(place, id)).receiptNumber);
  assert.deepEqual(numbers, [
    ...['GATE-2027-000001', 'GATE-2027-000002', 'TOWN-2027-000001', 'GATE-2027-000003'],
  ]);
  assert.equal((await shown(place, first)).status, 'Reversed');
  assert.equal((await shown(place, await place.pay({ amount: 1 }))).receiptNumber, null);
  await assertChecks(scene, place.tenantId);
});

test('twenty cashiers at one desk get twenty numbers in a row', async () => {
  const place = await openOwing(scene, 'desk-crowd');
  await place.client.makeCashDesks({ cashDesks: [desk] });
  const ids = await Promise.all(
    Array.from({ length: 20 }, () => place.pay({ amount: 1, cashDesk: 'GATE' })),
  );
  const { data } = await place.client.getPayments({});
  const numbers = data.payments
    .map((one) => Number(one.receiptNumber?.slice(-6)))
    .sort((a, b) => a - b);
  assert.deepEqual(
    numbers,
    ids.map((_, index) => index + 1),
  );
});

test('closing a day books the difference, and the desk takes no more money that day', async () => {
  const place = await openOwing(scene, 'desk-close');
  const { client } = place;
  await client.makeCashDesks({ cashDesks: [desk] });
  await place.pay({ amount: 100, cashDesk: 'GATE' });
  await place.pay({ amount: 70, cashDesk: 'GATE', paymentMethod: 'Card' });
  const wrong = await place.pay({ amount: 5, cashDesk: 'GATE' });
  await client.reversePayment({ data: { paymentID: wrong, reason: 'Typed twice' } });
  const { data } = await client.getCashDesks({ cashDesk: 'GATE' });
  assert.deepEqual(data.cashDesks[0]?.taken, [
    { paymentMethod: 'Card', amount: 70, payments: 1 },
    { paymentMethod: 'Cash', amount: 100, payments: 1 },
  ]);
  const cashier = 'admin@desk-close.example';
  assert.deepEqual(data.cashDesks[0]?.cashiers, [
    { cashier, paymentMethod: 'Card', amount: 70, payments: 1 },
    { cashier, paymentMethod: 'Cash', amount: 100, payments: 1 },
  ]);
  const cash = { paymentMethod: 'Cash', amount: 98 } as const;
  const card = { paymentMethod: 'Card', amount: 70 } as const;
  const without = client.closeDay({ data: { cashDesk: 'GATE', counted: [cash], reason: 'Short' } });
  await refuses(without, 'REQUIRED_FIELD', { field: 'data.counted' });
  const silent = client.closeDay({ data: { cashDesk: 'GATE', counted: [cash, card] } });
  await refuses(silent, 'REQUIRED_FIELD', { field: 'data.reason' });
  const twice = client.closeDay({ data: { cashDesk: 'GATE', counted: [cash, cash] } });
  await refuses(twice, 'DUPLICATE_ROW', { field: 'data.counted[1]' });
  const counted = { cashDesk: 'GATE', counted: [cash, card], reason: 'A coin was missing' };
  const { message } = await client.closeDay({ data: counted });
  assert.equal(message, 'Cash desk GATE is closed for 01/01/2027, with PKR 2.00 too little');
  // 100 + 70 were taken, 2 are missing.
  assert.deepEqual(
    [await balanceOf(place, 'CASH_DIFFERENCE'), await balanceOf(place, 'CASH')],
    [2, 168],
  );
  await refuses(client.closeDay({ data: counted }), 'INVALID_STATE', { field: 'data.date' });
  const late = place.pay({ amount: 10, cashDesk: 'GATE' });
  await refuses(late, 'INVALID_STATE', { field: 'payments[0].cashDesk' });
  await place.goTo('2027-01-02');
  await place.pay({ amount: 10, cashDesk: 'GATE' });
  const { data: after } = await client.getCashDesks({});
  assert.deepEqual(after.cashDesks[0]?.lastClosed, {
    ...{ date: '01/01/2027', difference: -2, reason: 'A coin was missing' },
    closedBy: 'admin@desk-close.example',
  });
  await assertChecks(scene, place.tenantId);
});

test('a desk shows what each cashier took, and an open day is closed later', async () => {
  const place = await openOwing(scene, 'desk-cashiers');
  const { client } = place;
  await client.makeCashDesks({ cashDesks: [desk] });
  await place.pay({ amount: 100, cashDesk: 'GATE' });
  const username = 'second@desk-cashiers.example';
  const login = { username, name: 'Second', password: adminPassword };
  await client.makeLogins({ logins: [{ ...login, roles: ['Cashier'] }] });
  const second = scene.visitor('desk-cashiers');
  const { data: session } = await second.login({ username, password: adminPassword });
  second.useToken(session.accessToken);
  const paid = { partyNumber: place.party, paymentMethod: 'Cash', cashDesk: 'GATE' } as const;
  await second.makePayments({ payments: [{ ...paid, reference: 'S1', amount: 30 }] });
  await second.makePayments({ payments: [{ ...paid, reference: 'S2', amount: 0.5 }] });
  await place.goTo('2027-01-02');
  const date = '01/01/2027';
  const [shown] = (await client.getCashDesks({ date })).data.cashDesks;
  assert.deepEqual(shown?.taken, [{ paymentMethod: 'Cash', amount: 130.5, payments: 3 }]);
  assert.deepEqual(shown?.cashiers, [
    { cashier: 'admin@desk-cashiers.example', paymentMethod: 'Cash', amount: 100, payments: 1 },
    { cashier: username, paymentMethod: 'Cash', amount: 30.5, payments: 2 },
  ]);
  const counted = [{ paymentMethod: 'Cash', amount: 130.5 }] as const;
  await client.closeDay({ data: { cashDesk: 'GATE', date, counted: [...counted] } });
  const [after] = (await client.getCashDesks({})).data.cashDesks;
  assert.deepEqual([after?.cashiers, after?.lastClosed?.date], [[], date]);
  await assertChecks(scene, place.tenantId);
});

test('bad cash desks are refused with code and field, and none is stored', async () => {
  const place = await openOwing(scene, 'desk-refused');
  const { client } = place;
  const make = (...cashDesks: (typeof desk)[]) => client.makeCashDesks({ cashDesks });
  await refuses(make(desk, desk), 'DUPLICATE', { field: 'cashDesks[1].code' });
  const receivable = { ...desk, cashAccountID: 2 };
  await refuses(make(receivable), 'LEDGER_ACCOUNT_NOT_FOUND', {
    field: 'cashDesks[0].cashAccountID',
  });
  await refuses(make({ ...desk, code: 'a b' }), 'INVALID_FORMAT', { field: 'cashDesks[0].code' });
  assert.deepEqual((await client.getCashDesks({})).data.cashDesks, []);
  const nowhere = client.closeDay({ data: { cashDesk: 'MOON', counted: [] } });
  await refuses(nowhere, 'CASH_DESK_NOT_FOUND', { field: 'data.cashDesk' });
});

test('money of a cheque is paid back only after the bank has paid it', async () => {
  const place = await openOwing(scene, 'desk-cheque');
  const { client } = place;
  const cheque = { paymentMethod: 'Cheque', chequeNumber: '000451', amount: 100 } as const;
  const paymentID = await place.pay(cheque);
  const { partyID = 0 } = await shown(place, paymentID);
  const refund = (reference: string) =>
    client.refundPayment({ data: { partyID, amount: 60, reference, paymentMethod: 'Bank' } });
  await refuses(refund('F1'), 'NOT_CLEARED', { field: 'data.amount', statusCode: 422 });
  const early = client.clearPayment({ data: { paymentID, clearedDate: '02/01/2027' } });
  await refuses(early, 'DATE_IN_FUTURE', { field: 'data.clearedDate' });
  await client.clearPayment({ data: { paymentID } });
  const { chequeNumber, clearedDate } = await shown(place, paymentID);
  assert.deepEqual([chequeNumber, clearedDate], ['000451', '01/01/2027']);
  await refuses(client.clearPayment({ data: { paymentID } }), 'INVALID_STATE');
  const cash = await place.pay({ amount: 1 });
  await refuses(client.clearPayment({ data: { paymentID: cash } }), 'INVALID_STATE');
  await refuses(client.clearPayment({ data: { paymentID: 999 } }), 'PAYMENT_NOT_FOUND');
  await refund('F1');
  // 100 + 1 - 60
  assert.equal(await place.wallet(), 41);
});

test('a payment of the wrong customer is transferred with its value date', async () => {
  const place = await openOwing(scene, 'desk-transfer');
  const { client } = place;
  const number = await place.connectOld();
  const neighbour = await newParty(client, 'Neighbour');
  const other = await place.connectOld({ users: [{ partyNumber: neighbour }] });
  await place.bill({ [number]: 300, [other]: 200 });
  await place.goTo('2027-01-20');
  const paymentID = await place.pay({
    amount: 250,
    connectionNumber: number,
    paymentDate: '15/01/2027',
  });
  const data = { paymentID, toConnectionNumber: other, reason: 'Wrong house number' };
  const { headers } = await client.transferPayment({ data });
  const moved = await shown(place, Number(headers.get('x-resource-id')));
  // 250 came back from the first customer: 200 pay the bill of the other, 50 fill the wallet.
  assert.deepEqual([moved.paymentDate, moved.postingDate], ['15/01/2027', '20/01/2027']);
  assert.deepEqual([await place.owed(), await place.owed(neighbour)], [300, 0]);
  assert.deepEqual([await place.wallet(), await place.wallet(neighbour)], [0, 50]);
  assert.equal((await shown(place, paymentID)).status, 'Reversed');
  assert.equal(await balanceOf(place, 'CASH'), 250);
  await refuses(client.transferPayment({ data }), 'ALREADY_REVERSED', { statusCode: 409 });
  const both = { ...data, toPartyNumber: neighbour };
  await refuses(client.transferPayment({ data: both }), 'REQUIRED_FIELD');
  const unknown = { ...data, toConnectionNumber: 'NONE-1' };
  const field = 'data.toConnectionNumber';
  await refuses(client.transferPayment({ data: unknown }), 'SUBSCRIPTION_NOT_FOUND', { field });
  await assertChecks(scene, place.tenantId);
});

test('a payment is laid on other bills, as far as its wallet part is still there', async () => {
  const place = await openOwing(scene, 'desk-reallocate');
  const { client } = place;
  const number = await place.connectOld();
  const [july] = await place.bill({ [number]: 300 });
  const [august] = await place.bill({ [number]: 200 });
  const [billJuly, billAugust] = [july?.billID ?? 0, august?.billID ?? 0];
  const paymentID = await place.pay({ amount: 350 });
  assert.deepEqual(await place.left(), [0, 150]);
  const lay = (...allocations: { billID: number; amount: number }[]) =>
    client.reallocatePayment({ data: { paymentID, allocations, reason: 'For August' } });
  await lay({ billID: billAugust, amount: 200 });
  // 350 - 200 of August
  assert.deepEqual([await place.left(), await place.wallet()], [[300, 0], 150]);
  assert.equal((await shown(place, paymentID)).walletAmount, 150);
  await lay({ billID: billJuly, amount: 300 }, { billID: billAugust, amount: 50 });
  assert.deepEqual([await place.left(), await place.wallet()], [[0, 150], 0]);
  const over = lay({ billID: billJuly, amount: 300.01 });
  await refuses(over, 'OVER_ALLOCATED', { field: 'data.allocations[0].amount', statusCode: 422 });
  await lay();
  assert.deepEqual([await place.left(), await place.wallet()], [[300, 200], 350]);
  const { partyID = 0 } = await shown(place, paymentID);
  const back = { partyID, amount: 100, reference: 'F1', paymentMethod: 'Cash' } as const;
  await client.refundPayment({ data: back });
  // 250 of 350 are left in the wallet.
  const spent = lay({ billID: billJuly, amount: 300 });
  await refuses(spent, 'WALLET_TOO_LOW', { field: 'data.allocations' });
  assert.deepEqual([await place.left(), await place.wallet()], [[300, 200], 250]);
  await assertChecks(scene, place.tenantId);
});
