// What is bought, and what employees are paid: the workspace owes it, and the books say so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, rowsOf, unpost } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { forms } from '../support/forms.ts';
import { august, july, type OfferPlace, openOffer } from '../support/offer-place.ts';
import type { Service } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newParty, shown } from '../support/subscriptions.ts';
import { insertOpening } from '../support/term-rows.ts';

const scene = await openScene();
scene.runJobs();

type Place = OfferPlace & { vendor: number; number: string };

let places = 0;

/** A vendor who gets 310 a month and 31 of tax, the first part on an account that is named. */
async function openPlace(fields: Partial<Service>, extra = '100'): Promise<Place> {
  places += 1;
  const place = await openOffer(
    scene,
    `bought-${places}`,
    {
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', categories: ['taxable'] },
        { name: 'extra', label: 'Extra', type: 'Charge', account: 'RENT' },
        { name: 'gst', label: 'GST', type: 'Tax' },
      ],
      ...fields,
    },
    {
      componentRules: [
        { component: 'fee', formula: '310', prorate: 'Days' },
        { component: 'extra', scope: 'Term', formula: extra },
        { component: 'gst', scope: 'Term', formula: 'SUMCAT("taxable") * 10%' },
      ],
    },
  );
  const vendors = { userType: 'vendor' as const, users: [{ name: 'Solar Farm' }] };
  const { headers } = await place.client.makeUsers(vendors);
  const vendor = Number(headers.get('x-party-number'));
  const number = await place.connectOld({ users: usersOf(vendor) });
  return { ...place, vendor, number };
}

const usersOf = (partyNumber: number) => [{ partyNumber, connectionGroupLabel: 'Farm' }];

async function postedOver(place: Place, days: typeof july): Promise<number> {
  const termId = await place.open(days);
  await generate(place, termId);
  await post(place, termId);
  return termId;
}

/** The balance of each account, debits above zero. */
async function ledgerOf(place: Place): Promise<Record<string, number>> {
  const rows = await rowsOf<{ code: string; kind: string; amount: string }>(
    place,
    `select a.code, a.kind, sum(l.amount) as amount
     from journal_lines l join ledger_accounts a using (tenant_id, ledger_account_id)
     where l.tenant_id = $1 and a.code <> 'OPENING'
     group by a.code, a.kind having sum(l.amount) <> 0 order by a.code`,
  );
  return Object.fromEntries(rows.map((row) => [`${row.kind} ${row.code}`, Number(row.amount)]));
}

async function balancesOf({ client, vendor, number }: Place) {
  const { data } = await client.getUsers({ partyNumber: vendor });
  const [user] = [data.user].flat();
  const first = (await shown(client, number)).accounts?.[0];
  return {
    party: user?.outstandingAccount.balance,
    group: user?.subscriptionGroups[0]?.balance,
    subscription: user?.subscriptions[0]?.balance,
    [first?.title ?? '']: first?.balance,
  };
}

for (const serviceType of forms(['Purchase', 'Payroll'] as const)) {
  test(`${serviceType}: what was billed is owed by the workspace`, async () => {
    const place = await openPlace({ serviceType });
    const first = await postedOver(place, july);
    const booked = {
      'Liability PAYABLE': -441_00,
      'Expense EXPENSE': 310_00,
      'Expense RENT': 100_00,
      'Liability TAX': 31_00,
    };
    assert.deepEqual(await ledgerOf(place), booked);
    const owed = { party: 441, group: 441, subscription: 441, Payable: 441 };
    assert.deepEqual(await balancesOf(place), owed);
    await assertChecks(scene, place.tenantId);

    await postedOver(place, august);
    const [bill] = await billsOf(place, first + 1);
    assert.deepEqual(
      [bill?.previousBalance, bill?.adjustments, bill?.arrears, bill?.totalAmount],
      [441, 0, 441, 882],
    );
    assert.equal((await balancesOf(place)).party, 882);
    await unpost(place, first + 1);
    assert.deepEqual(await ledgerOf(place), booked);
    assert.deepEqual(await balancesOf(place), owed);
    await assertChecks(scene, place.tenantId);
  });
}

test('what the bill of a vendor is rounded by, and a tax on an account of its own', async () => {
  const components: Service['components'] = [
    { name: 'fee', label: 'Fee', type: 'Charge', categories: ['taxable'] },
    { name: 'extra', label: 'Extra', type: 'Charge', account: 'RENT' },
    { name: 'gst', label: 'GST', type: 'Tax', account: 'GST' },
  ];
  const billRounding = { scale: 0, mode: 'HalfUp' } as const;
  const place = await openPlace({ serviceType: 'Purchase', components, billRounding }, '100.25');
  await postedOver(place, july);
  assert.deepEqual(await ledgerOf(place), {
    // 310 + 100.25 + 31 - 0.25
    'Liability PAYABLE': -441_00,
    'Expense EXPENSE': 310_00,
    'Expense RENT': 100_25,
    'Liability GST': 31_00,
    'Income ROUNDING': -25,
  });
  await assertChecks(scene, place.tenantId);
});

test('what a vendor has paid ahead does not settle what the vendor is owed', async () => {
  const place = await openPlace({ serviceType: 'Purchase' });
  await insertOpening(scene, place.tenantId, null, -200_00);
  const termId = await postedOver(place, july);
  const [bill] = await billsOf(place, termId);
  assert.deepEqual([bill?.walletApplied, bill?.outstandingAmount], [0, 441]);
  assert.equal((await balancesOf(place)).party, 441);
  await assertChecks(scene, place.tenantId);
});

test('the next bill shows what a vendor was paid', async () => {
  const place = await openPlace({ serviceType: 'Purchase' });
  await postedOver(place, july);
  await insertOpening(scene, place.tenantId, 1, 100_00, 'Payment');
  const [bill] = await billsOf(place, await postedOver(place, august));
  assert.deepEqual(
    [bill?.previousBalance, bill?.paymentsReceived, bill?.adjustments, bill?.arrears],
    [441, 100, 0, 341],
  );
});

test('a bill for several purchases is owed for each of them, also what is overdue', async () => {
  const fields = { serviceType: 'Purchase', postType: 'Post Party' } as const;
  const place = await openPlace(fields, '100 + account.overdue');
  await place.connectOld({ users: usersOf(place.vendor) });
  await postedOver(place, july);
  const termId = await postedOver(place, august);
  const [bill] = await billsOf(place, termId);
  assert.deepEqual([bill?.arrears, bill?.billAmount], [882, 1764]);
  assert.equal((await ledgerOf(place))['Liability PAYABLE'], -2646_00);
  await assertChecks(scene, place.tenantId);
});

test('what is owed to a vendor goes with the subscription, and keeps it from being closed', async () => {
  const place = await openPlace({ serviceType: 'Purchase' });
  await postedOver(place, july);
  const { client, number: connectionNumber } = place;
  const toPartyNumber = await newParty(client);
  const transferDate = '01/08/2026';
  const handling = { balanceHandling: 'MoveToNew' as const, reason: 'sold' };
  await client.transferConnection({
    data: { connectionNumber, transferDate, toPartyNumber, ...handling },
  });
  assert.equal((await balancesOf(place)).party, 0);
  // A customer that the workspace owes money has a balance below zero.
  assert.equal((await balancesOf({ ...place, vendor: toPartyNumber })).party, -441);
  const rows = await rowsOf<{ account: string; parties: string }>(
    place,
    `select ledger_account_id as account, count(distinct party_id) as parties
     from subledger_entries where tenant_id = $1 group by 1`,
  );
  assert.equal(rows.length, 1);
  assert.equal(rows[0]?.parties, '2');
  await assertChecks(scene, place.tenantId);
  const data = { connectionNumber, effectiveDate: '01/08/2026', reason: 'over' };
  await client.disconnectConnection({ data: { ...data, kind: 'Permanent' } });
  await assert.rejects(
    client.closeConnection({
      data: { connectionNumber, effectiveDate: '02/08/2026', depositHandling: 'Keep' },
    }),
    { code: 'BALANCE_OUTSTANDING' },
  );
});
