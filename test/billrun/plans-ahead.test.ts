// Plans and states that were chosen ahead: what is posted meanwhile goes by those that hold.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, rowsOf, unpost } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { forms } from '../support/forms.ts';
import { august, july, type OfferPlace, openOffer } from '../support/offer-place.ts';
import { newTariff, type Tariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { shown } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

type PostType = 'Post Subscription' | 'Post Account';

const fee = (formula: string) => [{ component: 'fee', formula, prorate: 'Days' as const }];

const january = { startDate: '01/01/2027', endDate: '31/01/2027' };

let places = 0;

/** A fee of 310 a month. */
function openPlace(tariff: Partial<Tariff>, postType: PostType = 'Post Subscription') {
  places += 1;
  return openOffer(
    scene,
    `plans-ahead-${places}`,
    { postType, components: [{ name: 'fee', label: 'Fee', type: 'Charge' }] },
    { componentRules: fee('310'), ...tariff },
  );
}

const deposit = (amount: number) => [{ name: 'Deposit', amount, dueAt: 'FirstBill' }];

/** Another plan of the same context, chosen from the middle of August on. */
async function choose(
  { client, offer }: OfferPlace,
  connectionNumber: string,
  tariff: Partial<Tariff>,
): Promise<void> {
  const { code } = await newTariff(client, offer.serviceCode, {
    componentRules: fee('620'),
    ...tariff,
  });
  const data = { connectionNumber, tariffCode: code, effectiveDate: '15/08/2026' };
  await client.changeTariff({ data });
}

async function posted(place: OfferPlace, days: typeof july): Promise<number> {
  const termId = await place.open(days);
  await generate(place, termId);
  await post(place, termId);
  return termId;
}

for (const postType of forms(['Post Subscription', 'Post Account'] as const)) {
  test(`${postType}: the deposit with the first bill is that of the plan it was made by`, async () => {
    const place = await openPlace({ securityAttributes: deposit(500) }, postType);
    const connection = await place.connectOld({ connectionDate: '01072026' });
    await place.connectOld();
    await choose(place, connection, { securityAttributes: deposit(9_000) });
    await posted(place, july);
    const rows = await rowsOf<{ deposit: string }>(
      place,
      'select deposit from subscription_balances where tenant_id = $1 order by subscription_id',
    );
    assert.deepEqual(
      rows.map((row) => row.deposit),
      ['50000', '0'],
    );
    await assertChecks(scene, place.tenantId);
  });
}

test('a plan that is billed once and chosen ahead does not end what is billed before it', async () => {
  const place = await openPlace({});
  const connection = await place.connectOld();
  await choose(place, connection, { planType: 'ONE_TIME_PLAN' });
  await posted(place, july);
  assert.equal((await shown(place.client, connection)).status, 'Active');
  const last = await posted(place, august);
  // 14 days at 10, then 17 at 20.
  const [bill] = await billsOf(place, last);
  assert.equal(bill?.currentCharges, 140 + 340);
  assert.equal((await shown(place.client, connection)).status, 'Disconnected');
});

/** What is known of the states of the one subscription of a place. */
async function statesOf(place: OfferPlace) {
  const [row] = await rowsOf<{
    status: string;
    next: string | null;
    steps: { status: string; fromDate: string; kind?: string }[];
  }>(
    place,
    `select status, next_change_date::text as next, status_history as steps from subscriptions
     where tenant_id = $1`,
  );
  return [
    row?.status,
    row?.next,
    row?.steps.map(({ status, fromDate }) => `${status} ${fromDate}`),
  ];
}

test('a plan that was billed once leaves nothing of what was planned, until it is unposted', async () => {
  const place = await openPlace({ planType: 'ONE_TIME_PLAN' });
  const connectionNumber = await place.connectOld();
  const ahead = { effectiveDate: '15/02/2027', kind: 'Temporary', reason: 'Away' } as const;
  await place.client.disconnectConnection({ data: { connectionNumber, ...ahead } });
  const before = await statesOf(place);
  assert.deepEqual(before, [
    'Active',
    '2027-02-15',
    ['Active 2026-06-01', 'Disconnected 2027-02-15'],
  ]);
  const termId = await posted(place, july);
  assert.deepEqual(await statesOf(place), [
    'Disconnected',
    null,
    ['Active 2026-06-01', 'Disconnected 2026-08-01'],
  ]);
  await unpost(place, termId);
  assert.deepEqual(await statesOf(place), before);
});

test('a plan that is billed once is billed once, also where it was cut off before that', async () => {
  const place = await openPlace({ planType: 'ONE_TIME_PLAN' });
  const connectionNumber = await place.connectOld();
  const off = { effectiveDate: '15/08/2026', kind: 'Temporary', reason: 'Away' } as const;
  await place.client.disconnectConnection({ data: { connectionNumber, ...off } });
  const before = await statesOf(place);
  const termId = await posted(place, july);
  assert.deepEqual(await statesOf(place), [
    'Disconnected',
    null,
    ['Active 2026-06-01', 'Disconnected 2026-08-01'],
  ]);
  const next = await place.open(august);
  await generate(place, next);
  assert.deepEqual(await billsOf(place, next), []);
  await unpost(place, termId);
  assert.deepEqual(await statesOf(place), before);
});

test('a plan that is billed once, and before its days are over, is served until then', async () => {
  const place = await openPlace({ planType: 'ONE_TIME_PLAN' });
  await place.connectOld({ connectionDate: '01122026', billedThrough: '31122026' });
  const before = await statesOf(place);
  const termId = await posted(place, january);
  assert.deepEqual(await statesOf(place), [
    'Active',
    '2027-02-01',
    ['Active 2026-12-01', 'Disconnected 2027-02-01'],
  ]);
  await unpost(place, termId);
  assert.deepEqual(await statesOf(place), before);
});

for (const [off, on, status] of [
  ['01', '10', 'Disconnected'],
  ['10', '20', 'Active'],
] as const) {
  test(`a plan that is billed once, cut off from ${off} to ${on}, comes back before it ends`, async () => {
    const place = await openPlace({ planType: 'ONE_TIME_PLAN' });
    const old = { connectionDate: '01122026', billedThrough: '31122026' };
    const connectionNumber = await place.connectOld(old);
    const away = { kind: 'Temporary', reason: 'Away' } as const;
    await place.client.disconnectConnection({
      data: { connectionNumber, effectiveDate: `${off}/01/2027`, ...away },
    });
    await place.client.reconnectConnection({
      data: { connectionNumber, effectiveDate: `${on}/01/2027` },
    });
    const before = await statesOf(place);
    const next = '2027-01-10';
    const steps = ['Active 2026-12-01', `Disconnected 2027-01-${off}`, `Active 2027-01-${on}`];
    assert.deepEqual(before, [status, next, steps]);
    const termId = await posted(place, january);
    assert.deepEqual(await statesOf(place), [status, next, [...steps, 'Disconnected 2027-02-01']]);
    await unpost(place, termId);
    assert.deepEqual(await statesOf(place), before);
  });
}

test('a bill in error names the plan of its days, not one chosen ahead', async () => {
  const place = await openPlace({ componentRules: fee('1 / (term.days - 31)') });
  await choose(place, await place.connectOld(), {});
  const termId = await place.open(july);
  await generate(place, termId);
  const [bill] = await billsOf(place, termId);
  assert.deepEqual([bill?.status, bill?.tariffCode], ['Error', place.offer.tariffCode]);
});
