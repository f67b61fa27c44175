// A year of five customers: bills, surcharges, advances, an exchanged meter, a transfer, a bill that
// is billed again, a deposit. Each line of the statements is checked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { openScene } from '../support/scene.ts';
import { newMeter } from '../support/subscriptions.ts';
import { type Name, names, openYear, type Year } from '../support/year.ts';
import { agings, statements } from '../support/year-statements.ts';

const scene = await openScene();
scene.runJobs();

/** Readings at the end of each month; 20 units a month but for June. */
const readings = [20, 40, 60, 80, 100, 120, 20, 40, 60, 80, 100, 120];

async function exchangeMeter(year: Year): Promise<number> {
  const newNumber = await newMeter(year.client);
  await year.client.replaceMeter({
    data: {
      ...{ connectionNumber: year.homes.metered, oldNumber: year.meter, newNumber },
      ...{ replaceDate: '15/06/2027', finalReadings: [{ value: '130' }] },
      initialReadings: [{ register: 'kWh', value: '5' }],
    },
  });
  return newNumber;
}

/** What each customer does on the second of a month, after the bills. */
async function actOnBills(year: Year, month: number): Promise<void> {
  const { client, homes } = year;
  // June: 10 units on the old meter and 15 on the new one.
  await year.pay('metered', month === 7 ? 250 : 200);
  if (month <= 4) await year.pay('mover', 300);
  if (month === 7) await year.pay('mover', 150);
  if (month === 9) await year.pay('advance', 1_000);
  if (month === 2) {
    const demand = { connectionNumber: homes.keeper, amount: 200, dueDate: '10/02/2027' };
    await client.demandDeposit({ data: { ...demand, reference: 'DEP', reason: 'New' } });
  }
  if (month === 10) {
    const refund = { connectionNumber: homes.keeper, amount: 200, reference: 'DEP-BACK' };
    await client.refundDeposit({ data: { ...refund, reason: 'Paid in time' } });
  }
  const paid = { 1: 300, 2: 500, 4: 300, 5: 300, 6: 300, 7: 1_110 }[month];
  if (paid) await year.pay('keeper', paid);
  if (month >= 8 && month <= 11) await year.pay('keeper', 600);
}

async function rebill(year: Year, billID: number): Promise<void> {
  const { client, homes } = year;
  const cancelled = await client.cancelBill({ data: { billID, reason: 'No visit', rebill: true } });
  assert.match(cancelled.message, /bills it again$/);
  const { data } = await client.getTerms({});
  const termID = Math.max(...data.terms.map((term) => term.termID ?? 0));
  const compsData = [[homes.keeper, 'visit', '0']];
  await client.postManualComponentValues({
    operation: 'schedule',
    data: { data: JSON.stringify({ termID, compsData }) },
  });
  await year.finish(termID);
  await year.pay('keeper', 300);
}

async function moveHome({ client, offer, homes, parties, finish, open }: Year): Promise<void> {
  await client.transferConnection({
    data: {
      ...{ connectionNumber: homes.mover, toPartyNumber: parties.keeper },
      ...{ transferDate: '16/06/2027', balanceHandling: 'MoveToNew', reason: 'Sold' },
    },
  });
  const days = { startDate: '01/06/2027', endDate: '30/06/2027', dueDate: '15/07/2027' };
  const final = { serviceCode: offer.serviceCode, type: 'Final', ...days } as const;
  await finish(await open({ ...final, connectionNumbers: [homes.mover] }));
}

/** What happens on the twentieth, in months in which something does. */
const onTwentieth: Record<number, (year: Year, billed: Billed) => Promise<void>> = {
  1: (year) => year.pay('late', 330),
  3: (year, { keeper }) => rebill(year, keeper),
  4: async (year) => {
    await year.pay('late', 500);
    await year.pay('advance', 1_500, '14/04');
  },
  6: (year) => moveHome(year),
  8: (year) => year.pay('late', 2_000),
};
type Billed = { keeper: number };

async function live(year: Year): Promise<void> {
  const { client } = year;
  let { meter } = year;
  for (let month = 1; month <= 12; month += 1) {
    const mm = String(month).padStart(2, '0');
    await year.on(`02/${mm}`);
    if (month > 1) {
      const closed = `${String(month - 1).padStart(2, '0')}/2027`;
      await client.closeMonth({ data: { month: closed, reason: 'Reconciled' } });
    } else await year.pay('advance', 1_000);
    if (month === 7) meter = await exchangeMeter(year);
    const last = Temporal.PlainDate.from({ year: 2027, month, day: 1 }).subtract({ days: 1 });
    const readingDate = last.toString().split('-').reverse().join('/');
    const value = String(readings[month - 1]);
    await client.makeReadings({ readings: [{ number: meter, value, readingDate }] });
    const bills = await year.bill(`02/${mm}`, month === 3 ? { keeper: 50 } : {});
    await actOnBills(year, month);
    const then = onTwentieth[month];
    if (!then) continue;
    await year.on(`20/${mm}`);
    const own = bills.find((bill) => bill.connectionNumber === year.homes.keeper);
    await then(year, { keeper: own?.billID ?? 0 });
  }
  await year.on('02/01/2028');
  await client.closeMonth({ data: { month: '12/2027', reason: 'Reconciled' } });
}

async function assertStatement(year: Year, name: Name): Promise<void> {
  const partyNumber = year.parties[name];
  const days = { fromDate: '01/01/2027', toDate: '31/12/2027' };
  const { data } = await year.client.getStatement({ partyNumber, ...days });
  assert.deepEqual(
    data.entries.map(({ date, type, debit, credit, balance }) => {
      return [date, type, debit, credit, balance];
    }),
    statements[name].map(([day, ...rest]) => [`${day}/2027`, ...rest]),
    name,
  );
  const { current, d1_30, d31_60, d61_90, over90 } = data.aging;
  const aging = [current, d1_30, d31_60, d61_90, over90];
  assert.deepEqual(aging, agings[name], name);
  const { user } = (await year.client.getUsers({ partyNumber })).data;
  const closing = aging.reduce((sum, open) => sum + open, 0);
  assert.deepEqual(
    [data.openingBalance, data.closingBalance, user.outstandingAccount?.balance],
    [0, closing, closing],
  );
  assert.equal(data.walletBalance, 0);
}

test('five customers live through a year, and each line of their statements is right', async () => {
  const year = await openYear(scene, 'year');
  await live(year);
  for (const name of names) await assertStatement(year, name);
  const { data } = await year.client.getTrialBalance({});
  assert.equal(data.totals.difference, 0);
  const balances = new Map(data.accounts.map((one) => [one.accountCode, one.balance]));
  const codes = ['CASH', 'RECEIVABLE', 'ADVANCE', 'DEPOSIT', 'INCOME'];
  assert.deepEqual(
    codes.map((code) => balances.get(code) ?? 0),
    [
      // late 2,830, advance 3,500, metered 2,450, mover 1,350, keeper 5,510 less the deposit of 200
      15_440,
      // late 1,130, advance 130, keeper 660
      1_920, 0, 0,
      // bills 3,600 + 3,600 + 2,450 + 1,950 + 5,250, surcharges 360 + 30 + 60 + 60
      -17_360,
    ],
  );
  await assertChecks(scene, year.tenantId);
});
