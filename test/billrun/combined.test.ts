// Bills of accounts and of parties: every subscription is on the bill of who had it, no day of one
// is billed twice or lost between terms, and the ledger keeps subscriptions apart.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks, resultsOf } from '../support/checks.ts';
import type { TestClient } from '../support/client.ts';
import { codeOf, schedule } from '../support/delivery.ts';
import { forms } from '../support/forms.ts';
import { closeGate } from '../support/gate.ts';
import type { Service } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, newParty, type Offer, subscribe } from '../support/subscriptions.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

const july = { startDate: '01/07/2026', endDate: '31/07/2026' };
const august = { startDate: '01/08/2026', endDate: '31/08/2026' };

const postTypes = ['Post Account', 'Post Party'] as const;
type PostType = (typeof postTypes)[number];

/** What each subscription charges a day, so that every sum shows its subscriptions. */
const daily = { a: 1, b: 2, c: 4, d: 8, e: 16 };
type Name = keyof typeof daily;

const houses = {
  shop: { party: 'Khan', label: 'Shop' },
  home: { party: 'Khan', label: 'Home' },
  farm: { party: 'Noor', label: 'Farm' },
} as const;
type House = keyof typeof houses;

type Town = {
  client: TestClient;
  tenantId: number;
  postType: PostType;
  offer: Offer;
  partyNumbers: Record<'Khan' | 'Noor', number>;
};

let made = 0;

/** Khan has a shop with two subscriptions and a home with one, Noor a farm with one. */
async function openTown(
  postType: PostType,
  billRounding: Service['billRounding'] = null,
  holdRules: Service['holdRules'] = [],
): Promise<Town> {
  made += 1;
  const workspace = `town-${made}`;
  const client = await scene.workspace(workspace);
  const { rows } = await scene.sql.query('select find_workspace($1) as id', [workspace]);
  const offer = await newOffer(
    client,
    {
      postType,
      values: [{ name: 'daily', type: 'Number', default: '0', overridable: 1 }],
      components: [{ name: 'fee', label: 'Fee', type: 'Charge' }],
      meteredInputs: [],
      holdRules,
      billRounding,
    },
    { componentRules: [{ component: 'fee', formula: 'daily * segment.days' }] },
  );
  const partyNumbers = {
    Khan: await newParty(client, 'Khan'),
    Noor: await newParty(client, 'Noor'),
  };
  const town = { client, tenantId: Number(rows[0].id), postType, offer, partyNumbers };
  await connect(town, 'a', 'shop');
  await connect(town, 'b', 'shop');
  await connect(town, 'c', 'home');
  await connect(town, 'd', 'farm');
  return town;
}

/** Billed up to the end of June, or new in August. */
async function connect(town: Town, name: Name, house: House, connectionDate = '01062026') {
  const { party, label } = houses[house];
  const isOld = connectionDate === '01062026';
  await subscribe(
    town.client,
    {
      ...town.offer,
      connectionNumber: name,
      connectionDate,
      ...(isOld ? { billedThrough: '30062026' } : {}),
      variants: [{ name: 'daily', value: String(daily[name]) }],
      users: [{ partyNumber: town.partyNumbers[party], connectionGroupLabel: label }],
    },
    { batchUpload: true },
  );
}

function handOver(town: Town, name: Name, transferDate: string, house: House) {
  const { party, label } = houses[house];
  return town.client.transferConnection({
    data: {
      connectionNumber: name,
      transferDate,
      toPartyNumber: town.partyNumbers[party],
      connectionGroupLabel: label,
    },
  });
}

async function generated(town: Town, term: Partial<Parameters<typeof newTerm>[1]>) {
  const termID = await newTerm(town.client, { serviceCode: town.offer.serviceCode, ...term });
  await town.client.generateBills(schedule(termID));
  return termID;
}

/** By whose bill they are on: what each subscription is charged. */
type Charged = Record<string, Partial<Record<Name, number>>>;

/** Days of a subscription in a house. */
type Stay = readonly [Name, House, number];

function expected({ postType }: Town, stays: readonly Stay[]): Charged {
  const charged: Charged = {};
  for (const [name, house, days] of stays) {
    const { party, label } = houses[house];
    const bill = postType === 'Post Party' ? party : label;
    charged[bill] = { ...charged[bill], [name]: daily[name] * days };
  }
  return charged;
}

async function shownBills(town: Town, termID: number) {
  return (await town.client.getBills({ termID })).data.bills;
}

/** As they are shown, when every sum on them has been added up once more. */
async function chargedBy(town: Town, termID: number): Promise<Charged> {
  const charged: Charged = {};
  for (const bill of await shownBills(town, termID)) {
    const parts: Partial<Record<string, number>> = {};
    for (const line of bill.lines) {
      const name = line.connectionNumber ?? bill.connectionNumber ?? assert.fail('whose line');
      parts[name] = (parts[name] ?? 0) + line.amount;
    }
    const sum = Object.values(parts).reduce<number>((total, one) => total + (one ?? 0), 0);
    assert.deepEqual([bill.currentCharges, bill.billAmount], [sum, sum]);
    assert.equal(bill.totalAmount, bill.billAmount + bill.arrears);
    const sections = bill.sections.map((section) => [section.connectionNumber, section.subtotal]);
    const isCombined = bill.connectionNumber === null;
    assert.deepEqual(Object.fromEntries(sections), isCombined ? parts : {});
    const key = town.postType === 'Post Party' ? bill.partyName : bill.connectionGroupLabel;
    assert.equal(charged[key ?? ''], undefined, `one bill for ${key}`);
    charged[key ?? ''] = parts;
  }
  return charged;
}

/** What the ledger has of each subscription and party, from bills alone; nothing where it is 0. */
async function booked({ tenantId }: Town): Promise<Record<string, number>> {
  const { rows } = await scene.sql.query(
    `select s.subscription_number || ' of ' || p.name as whose, sum(e.amount) / 100 as amount
     from subledger_entries e
     join subscriptions s on s.tenant_id = e.tenant_id and s.subscription_id = e.subscription_id
     join parties p on p.tenant_id = e.tenant_id and p.party_id = e.party_id
     where e.tenant_id = $1 and e.kind in ('Bill', 'Reversal') and e.ledger_account_id = 2
     group by 1 having sum(e.amount) <> 0 order by 1`,
    [tenantId],
  );
  return Object.fromEntries(rows.map(({ whose, amount }) => [whose, Number(amount)]));
}

function entries(stays: readonly Stay[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, house, days] of stays) {
    const key = `${name} of ${houses[house].party}`;
    sums[key] = (sums[key] ?? 0) + daily[name] * days;
  }
  return Object.fromEntries(Object.entries(sums).sort());
}

async function assertParts({ tenantId }: Town): Promise<void> {
  const { rows } = await scene.sql.query(
    `select b.bill_id from bills b
     join bill_parts p on p.tenant_id = b.tenant_id and p.bill_id = b.bill_id
     where b.tenant_id = $1
     group by b.tenant_id, b.bill_id, b.bill_amount having sum(p.amount) <> b.bill_amount`,
    [tenantId],
  );
  assert.deepEqual(rows, [], 'a bill is the sum of its parts');
  await assertChecks(scene, tenantId);
}

const inJuly: readonly Stay[] = [
  ['a', 'shop', 31],
  ['b', 'shop', 31],
  ['c', 'home', 31],
  ['d', 'farm', 31],
];

test('a bill of several subscriptions looks back on what they were charged together', async () => {
  const town = await openTown('Post Account');
  const { client } = town;
  const first = await generated(town, { ...july, label: 'Jul' });
  await client.postBills(schedule(first));
  const second = await generated(town, { ...august, label: 'Aug' });
  const bills = await shownBills(town, second);
  const shop = bills.find((bill) => bill.connectionGroupLabel === 'Shop') ?? assert.fail();
  assert.deepEqual(shop.history, [{ label: 'Jul', quantity: null, amount: 93, paidAmount: null }]);
  // One that has no use of its own shows what it cost, whether of one subscription or of several.
  for (const { billID, connectionGroupLabel } of bills) {
    const { data } = await client.getBillDocument({ billID, format: 'HTML' });
    const html = Buffer.from(data.base64, 'base64').toString();
    assert.match(html, /Your past bills/, connectionGroupLabel ?? '');
    assert.match(html, /Jul/);
  }
});

test('a bill of several is held by what they are billed together, for each reason once', async () => {
  const rule = { name: 'large', when: 'bill.current > 70', reason: 'more than 70' };
  const town = await openTown('Post Account', null, [rule]);
  const bills = await shownBills(town, await generated(town, july));
  const held = bills.map((bill) => [bill.connectionGroupLabel, bill.holdReason]);
  // 31 + 62 in the shop, 124 at home, 248 on the farm.
  const reasons = { Shop: rule.reason, Home: rule.reason, Farm: rule.reason };
  assert.deepEqual(Object.fromEntries(held), reasons);
  const both = await openTown('Post Party', null, [{ ...rule, when: 'bill.current > 60' }]);
  const [first] = await shownBills(both, await generated(both, july));
  assert.equal(first?.holdReason, rule.reason);
});

test('what a bill of several was rounded by is charged to none of them', async () => {
  const town = await openTown('Post Account', { scale: -1, mode: 'HalfUp' });
  const { client, tenantId } = town;
  const first = await generated(town, { ...july, label: 'Jul' });
  await client.postBills(schedule(first));
  const charged = async () => {
    const { rows } = await scene.sql.query(
      `select s.subscription_number as name, (h.terms[1] ->> 'amount')::integer / 100 as amount
       from usage_histories h join subscriptions s using (tenant_id, subscription_id)
       where h.tenant_id = $1`,
      [tenantId],
    );
    return Object.fromEntries(rows.map(({ name, amount }) => [name, amount]));
  };
  // 31 * (1 + 2) is billed as 90, 31 * 4 as 120, 31 * 8 as 250.
  assert.deepEqual(await charged(), { a: 31, b: 62, c: 124, d: 248 });
  const second = await generated(town, { ...august, label: 'Aug' });
  const shown = (await shownBills(town, second)).map((bill) => [
    bill.connectionGroupLabel,
    bill.history[0]?.amount,
  ]);
  assert.deepEqual(Object.fromEntries(shown), { Shop: 90, Home: 120, Farm: 250 });
  await client.postBills(schedule(second));
  await assertParts(town);
  await client.unpostBills({ operation: 'schedule', data: { termID: second, reason: 'Again' } });
  assert.deepEqual(await charged(), { a: 31, b: 62, c: 124, d: 248 });
  await assertParts(town);
});

test('a bill of several subscriptions is put on hold if one of them changes during posting', async () => {
  const town = await openTown('Post Account');
  const { client, tenantId } = town;
  const first = await generated(town, { ...july, label: 'Jul' });
  // Numbers are set aside, and the only part is about to begin.
  const when = `new.tenant_id = ${tenantId} and new.chunk = 1`;
  const gate = await closeGate(scene, 'chunk_attempts', when);
  const posting = client.postBills(schedule(first));
  await gate.reached();
  await client.disconnectConnection({
    data: { connectionNumber: 'a', effectiveDate: '21/07/2026' },
  });
  await gate.open();
  assert.match((await posting).message, /^2 bills posted, 1 left for the next term: /);
  const { rows } = await scene.sql.query(
    `select subscription_number as name, billed_through::text as day from subscriptions
     where tenant_id = $1 order by 1`,
    [tenantId],
  );
  const [before, billed] = ['2026-06-30', '2026-07-31'];
  const days = Object.fromEntries(rows.map(({ name, day }) => [name, day]));
  assert.deepEqual(days, { a: before, b: before, c: billed, d: billed });
  assert.deepEqual(await booked(town), entries(inJuly.slice(2)));
  await assertParts(town);
  // The next term catches up on both of them.
  const second = await generated(town, { ...august, label: 'Aug' });
  const charged = await chargedBy(town, second);
  assert.deepEqual(charged.Shop, { a: daily.a * 20, b: daily.b * 62 });
  await client.postBills(schedule(second));
  await assertParts(town);
});

test('a bill of a party goes to the party, one of an account to its premises', async () => {
  for (const postType of postTypes) {
    const town = await openTown(postType);
    const { client } = town;
    const partyNumber = town.partyNumbers.Khan;
    await client.updateUser({ user: { partyNumber, address: { city: 'Karachi' } } });
    for (const connectionNumber of ['a', 'b', 'c']) {
      await client.updateConnection({ data: { connectionNumber, address: { city: 'Lahore' } } });
    }
    const bills = await shownBills(town, await generated(town, july));
    const cities = bills
      .filter((bill) => bill.partyName === 'Khan')
      .map((bill) => bill.address?.city);
    assert.deepEqual(cities, postType === 'Post Party' ? ['Karachi'] : ['Lahore', 'Lahore']);
  }
});

for (const postType of forms(postTypes)) {
  test(`${postType}: two terms, one subscription handed over between them, two ended`, async () => {
    const town = await openTown(postType);
    const { client } = town;
    const first = await generated(town, july);
    assert.deepEqual(await chargedBy(town, first), expected(town, inJuly));
    const found = await client.getTerms({ filters: { connectionNumber: 'b' } });
    assert.deepEqual(
      found.data.terms.map(({ termID }) => termID),
      [first],
    );
    assert.deepEqual(await booked(town), {});
    await client.postBills(schedule(first));
    assert.deepEqual(await booked(town), entries(inJuly));
    await assertParts(town);

    await handOver(town, 'b', '01/08/2026', 'farm');
    await connect(town, 'e', 'home', '01082026');
    const end = (connectionNumber: Name, effectiveDate: string) =>
      client.disconnectConnection({
        data: { connectionNumber, effectiveDate, kind: 'CustomerRequest' },
      });
    await end('c', '21/08/2026');
    await end('e', '11/08/2026');
    await client.closeConnection({ data: { connectionNumber: 'e', effectiveDate: '11/08/2026' } });
    const inAugust: readonly Stay[] = [
      ['a', 'shop', 31],
      ['b', 'farm', 31],
      ['c', 'home', 20],
      ['d', 'farm', 31],
      ['e', 'home', 10],
    ];
    const second = await generated(town, august);
    assert.deepEqual(await chargedBy(town, second), expected(town, inAugust));
    // What b has cost in July is still Khan's.
    const arrears = (await shownBills(town, second)).map((bill) => [bill.partyName, bill.arrears]);
    const owed: Record<string, number> = { Khan: 0, Noor: 0 };
    for (const [name, amount] of arrears)
      owed[name as string] = (owed[name as string] ?? 0) + Number(amount);
    assert.deepEqual(owed, { Khan: 31 * (daily.a + daily.c), Noor: 31 * daily.d });
    await client.postBills(schedule(second));
    assert.deepEqual(await booked(town), entries([...inJuly, ...inAugust]));
    await assertParts(town);

    // Taken back, and done again.
    assert.equal(await codeOf(client.unpostBills(taken(first))), 'INVALID_STATE');
    await client.unpostBills(taken(second));
    assert.deepEqual(await booked(town), entries(inJuly));
    await assertParts(town);
    await client.generateBills(schedule(second));
    assert.deepEqual(await chargedBy(town, second), expected(town, inAugust));
    await client.postBills(schedule(second));
    assert.deepEqual(await booked(town), entries([...inJuly, ...inAugust]));
    await assertParts(town);

    // c and e are over, and nothing of them is left.
    const third = await generated(town, { startDate: '01/09/2026', endDate: '30/09/2026' });
    assert.deepEqual(
      await chargedBy(town, third),
      expected(town, [
        ['a', 'shop', 30],
        ['b', 'farm', 30],
        ['d', 'farm', 30],
      ]),
    );
  });

  test(`${postType}: a term before the transfer is the old owner’s, however late it is made`, async () => {
    const town = await openTown(postType);
    await handOver(town, 'b', '05/08/2026', 'farm');
    const first = await generated(town, july);
    assert.deepEqual(await chargedBy(town, first), expected(town, inJuly));
    await town.client.postBills(schedule(first));
    assert.deepEqual(await booked(town), entries(inJuly));
    await assertParts(town);
  });

  test(`${postType}: a transfer inside a term: the old owner’s days by a Final term`, async () => {
    const town = await openTown(postType);
    const { client } = town;
    await handOver(town, 'b', '11/07/2026', 'farm');
    const regular = await generated(town, july);
    const refused = (await shownBills(town, regular)).filter((bill) => bill.status === 'Error');
    assert.deepEqual(
      refused.map((bill) => [bill.partyName, bill.errors.map(({ code }) => code)]),
      [['Noor', ['TRANSFER_NOT_BILLED']]],
    );
    const final = await generated(town, { ...july, type: 'Final', connectionNumbers: ['b'] });
    const before: readonly Stay[] = [['b', 'shop', 10]];
    assert.deepEqual(await chargedBy(town, final), expected(town, before));
    await client.postBills(schedule(final));
    await client.generateBills(schedule(regular));
    const after: readonly Stay[] = [
      ['a', 'shop', 31],
      ['b', 'farm', 21],
      ['c', 'home', 31],
      ['d', 'farm', 31],
    ];
    assert.deepEqual(await chargedBy(town, regular), expected(town, after));
    await client.postBills(schedule(regular));
    assert.deepEqual(await booked(town), entries([...before, ...after]));
    await assertParts(town);
  });

  test(`${postType}: a skipped bill is caught up on by the next term`, async () => {
    const town = await openTown(postType);
    const { client } = town;
    const first = await generated(town, july);
    const bills = await shownBills(town, first);
    const held = bills.find((bill) => bill.connectionNumber === null) ?? assert.fail();
    await client.holdBill({ data: { billID: held.billID, hold: true, reason: 'asked' } });
    const { operation, data } = schedule(first);
    await client.postBills({ operation, data: { ...data, skipErrors: true } });
    const ofShop = postType === 'Post Party' ? ['a', 'b', 'c'] : ['a', 'b'];
    const isLate = ([name]: Stay) => ofShop.includes(name);
    assert.deepEqual(await booked(town), entries(inJuly.filter((stay) => !isLate(stay))));
    const second = await generated(town, august);
    const inBoth = inJuly.map((stay): Stay => [stay[0], stay[1], isLate(stay) ? 62 : 31]);
    assert.deepEqual(await chargedBy(town, second), expected(town, inBoth));
    await client.postBills(schedule(second));
    const all = inJuly.map(([name, house]): Stay => [name, house, 62]);
    assert.deepEqual(await booked(town), entries(all));
    await assertParts(town);
    // A term for a billed day bills no subscription.
    const again = await generated(town, { ...july, type: 'OffCycle', connectionNumbers: ['a'] });
    assert.deepEqual(await chargedBy(town, again), {});
  });
}

test('verify names a retired number that is not the one under which the bill was booked', async () => {
  const town = await openTown('Post Account');
  const first = await generated(town, july);
  await town.client.postBills(schedule(first));
  await town.client.unpostBills(taken(first));
  await assertChecks(scene, town.tenantId);
  await scene.sql.query('alter table bill_numbers disable trigger bill_numbers_retired_once');
  const { rows } = await scene.sql.query(
    `update bill_numbers set bill_number = bill_number || '9'
     where tenant_id = $1 and retired_at is not null
       and bill_id = (select min(bill_id) from bills where tenant_id = $1)
     returning bill_id`,
    [town.tenantId],
  );
  const results = await resultsOf(scene, town.tenantId);
  const broken = results.filter(({ wrong }) => wrong > 0);
  assert.deepEqual(
    broken.map(({ check }) => check),
    ['L3'],
  );
  assert.match(broken[0]?.examples[0] ?? '', new RegExp(`^bill ${rows[0].bill_id} was booked as`));
});

function taken(termID: number) {
  return { operation: 'schedule' as const, data: { termID, reason: 'wrong' } };
}
