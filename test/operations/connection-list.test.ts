// Lists of subscriptions: every filter, alone and together, in pages and as a whole.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestOf } from '../../sdk/client.ts';
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
} from '../support/subscriptions.ts';

const scene = await openScene();
const admin = await scene.workspace('subscription-lists');
const unmeteredInputs = [{ name: 'lamps', defaultValue: '0' }];
const elec = await newOffer(admin, { unmeteredInputs, batches: [{ batchCode: 'B01' }] });
const water = await newOffer(admin, { unmeteredInputs });
const paid = await newOffer(admin, { chargingType: 'Prepaid' }, { chargeType: 'Prepaid' });
const other = await newTariff(admin, elec.serviceCode);
const khan = await newParty(admin, 'Asma Khan');
const malik = await newParty(admin, 'Bilal MALIK');
const meters = [await newMeter(admin), await newMeter(admin)];

/** 1,200 rows in a known pattern, more than are read in one go; row n has the id n + 1. */
const total = 1_200;
type Fact = {
  n: number;
  offer: typeof elec;
  planCode: string;
  batch: string | null;
  status: 'Active' | 'Disconnected' | 'Closed' | 'Pending';
  party: number;
  city: string;
  lamps: boolean;
  date: string;
};

const facts: Fact[] = Array.from({ length: total }, (_, n) => {
  const offer = n % 10 === 9 ? paid : n % 3 === 0 ? water : elec;
  const isOther = offer === elec && n % 7 === 0;
  return {
    n,
    offer,
    planCode: isOther ? other.code : offer.tariffCode,
    batch: offer === elec && n % 4 === 0 ? 'B01' : null,
    status: n % 100 === 50 ? 'Disconnected' : n % 100 === 51 ? 'Closed' : 'Active',
    party: n % 2 ? khan : malik,
    city: n % 5 ? 'Lahore' : 'KARACHI',
    lamps: offer !== paid && n % 6 === 1,
    date: `${String(1 + (n % 28)).padStart(2, '0')}${n < 600 ? '03' : '04'}2020`,
  };
});

for (let first = 0; first < total; first += 600) {
  await admin.makeConnections({
    batchUpload: true,
    connection: facts.slice(first, first + 600).map(
      (fact): Connection => ({
        ...fact.offer,
        tariffCode: fact.planCode,
        batchCode: fact.batch,
        connectionNumber: `N-${String(fact.n).padStart(5, '0')}`,
        connectionRefNo: fact.n % 50 === 0 ? `REF/${fact.n}` : null,
        projectName: fact.n === 7 ? 'Green Meadows' : null,
        status: fact.status,
        connectionDate: fact.date,
        users: [{ partyNumber: fact.party, connectionGroupLabel: `House ${fact.n % 300}` }],
        address: { city: fact.city, block: `Block ${fact.n % 8}`, society: `Soc ${fact.n % 9}` },
        unmeteredInputs: fact.lamps ? [{ name: 'lamps', value: '2' }] : [],
        meters: fact.n === 1 || fact.n === 2 ? [meters[fact.n - 1] ?? 0] : [],
      }),
    ),
  });
}

type Body = RequestOf<'getConnections'>;
const numberOf = ({ n }: Fact) => `N-${String(n).padStart(5, '0')}`;

async function counted(body: Body): Promise<{ total: string | null; found: unknown[] }> {
  const { data, headers } = await admin.getConnections({
    ...body,
    metaData: { ...body.metaData, fields: ['connectionNumber'] },
  });
  const found = data.connections.map((one) => one.connectionNumber);
  return { total: headers.get('x-total-count'), found };
}

const numbers = async (body: Body) => (await counted(body)).found;

/** The whole list, its first page, one in the middle and the last; backwards, the middle one. */
async function agrees(body: Body, isWanted: (fact: Fact) => boolean): Promise<void> {
  const wanted = facts.filter(isWanted).map(numberOf);
  const size = 97;
  const last = Math.max(0, Math.ceil(wanted.length / size) - 1);
  for (const sortOrder of ['asc', 'desc'] as const) {
    const expected = sortOrder === 'asc' ? wanted : wanted.toReversed();
    const metaData = { ...body.metaData, sortOrder };
    assert.deepEqual(await numbers({ ...body, metaData }), expected);
    const middle = Math.floor(last / 2);
    const pages = sortOrder === 'asc' ? [0, middle, last, last + 1] : [middle];
    for (const pageNumber of new Set(pages)) {
      const page = { pageNumber, size };
      const answer = await counted({ ...body, metaData, page });
      assert.deepEqual(answer.found, expected.slice(pageNumber * size, (pageNumber + 1) * size));
      assert.equal(answer.total, String(wanted.length), JSON.stringify(page));
    }
  }
  // With all fields, which are held against the schema.
  const whole = await admin.getConnections({ ...body, page: { pageNumber: 0, size } });
  assert.equal(whole.headers.get('x-total-count'), String(wanted.length));
}

const filters: [string, Body, (fact: Fact) => boolean][] = [
  ['nothing', {}, () => true],
  ['a context', { serviceCode: water.serviceCode }, (f) => f.offer === water],
  ['a status', { status: 'Active' }, (f) => f.status === 'Active'],
  ['a rare status', { status: 'Closed' }, (f) => f.status === 'Closed'],
  [
    'context and status',
    { serviceCode: elec.serviceCode, status: 'Disconnected' },
    (f) => f.offer === elec && f.status === 'Disconnected',
  ],
  ['a plan', { filters: { tariffCode: other.code } }, (f) => f.planCode === other.code],
  ['a batch', { filters: { batchCode: 'B01' } }, (f) => f.batch === 'B01'],
  ['the built-in batch', { filters: { batchCode: 'DEFAULT' } }, (f) => f.batch === null],
  ['Metered', { subscriptionType: 'Metered' }, (f) => f.n === 1 || f.n === 2],
  ['Unmetered', { subscriptionType: 'Unmetered' }, (f) => f.n !== 1 && f.n !== 2],
  ['Mixed', { subscriptionType: 'Mixed' }, (f) => f.n === 1 && f.lamps],
  ['Prepaid', { subscriptionType: 'Prepaid' }, (f) => f.offer === paid],
  ['Postpaid', { subscriptionType: 'Postpaid' }, (f) => f.offer !== paid],
  ['a party', { partyID: 1 }, (f) => f.party === khan],
  ['an account', { filters: { connectionGroupLabel: 'House 5' } }, (f) => f.n % 300 === 5],
  ['a reference', { filters: { connectionRefNo: 'REF/150' } }, (f) => f.n === 150],
  ['a meter', { filters: { meterNumber: meters[1] ?? 0 } }, (f) => f.n === 2],
  ['a city in any case', { filters: { city: 'karachi' } }, (f) => f.city === 'KARACHI'],
  [
    'block and society',
    { filters: { block: 'block 3', society: 'SOC 4' } },
    (f) => f.n % 8 === 3 && f.n % 9 === 4,
  ],
  ['a first date', { filters: { fromDate: '27/03/2020' } }, (f) => dateOf(f) >= '20200327'],
  [
    'dates',
    { filters: { fromDate: '02/04/2020', toDate: '04/04/2020' } },
    (f) => dateOf(f) >= '20200402' && dateOf(f) <= '20200404',
  ],
  ['a number', { connectionNumber: 'N-00123' }, (f) => f.n === 123],
  ['part of a number', { metaData: { search: 'n-001' } }, (f) => f.n >= 100 && f.n < 200],
  ['part of a name in any case', { metaData: { search: 'malik' } }, (f) => f.party === malik],
  ['two letters', { metaData: { search: 'kh' } }, (f) => f.party === khan],
  [
    'part of a reference',
    { metaData: { search: 'ref/2' } },
    (f) => f.n % 50 === 0 && String(f.n).startsWith('2'),
  ],
  ['a project', { metaData: { search: 'green mead' } }, (f) => f.n === 7],
  ['the number of a meter', { metaData: { search: String(meters[0]) } }, (f) => f.n === 1],
  [
    'words and a status',
    { status: 'Closed', metaData: { search: 'khan' } },
    (f) => f.status === 'Closed' && f.party === khan,
  ],
  [
    'many at once',
    { serviceCode: elec.serviceCode, status: 'Active', partyID: 1, filters: { city: 'Lahore' } },
    (f) => f.offer === elec && f.status === 'Active' && f.party === khan && f.city === 'Lahore',
  ],
];

function dateOf({ date }: Fact): string {
  return date.slice(4) + date.slice(2, 4) + date.slice(0, 2);
}

for (const [name, body, isWanted] of filters) {
  test(`get-connections finds by ${name}`, () => agrees(body, isWanted));
}

test('what is named by no code, number or label finds nothing, and is no error', async () => {
  const none: Body[] = [
    { serviceCode: 'NONE' },
    { connectionNumber: 'NONE' },
    { partyID: 999 },
    { partyID: -1 },
    { filters: { tariffCode: 'NONE' } },
    { filters: { batchCode: 'NONE' } },
    { filters: { connectionGroupLabel: 'NONE' } },
    { filters: { billingGroupID: 99 } },
    { filters: { meterNumber: 1 } },
    { filters: { meterNumber: Number.MAX_SAFE_INTEGER } },
    { filters: { city: 'Paris' } },
    { metaData: { search: 'no such name' } },
    { metaData: { search: '%' } },
    { metaData: { search: '_____' } },
  ];
  for (const body of none) {
    assert.deepEqual(await numbers(body), [], JSON.stringify(body));
    const paged = await admin.getConnections({ ...body, page: { pageNumber: 0, size: 5 } });
    assert.equal(paged.headers.get('x-total-count'), '0');
  }
});

test('words that a list does not know are refused', async () => {
  const wrong: [object, string][] = [
    [{ status: 'Gone' }, 'status'],
    [{ subscriptionType: 'Solar' }, 'subscriptionType'],
    [{ metaData: { sortBy: 'colour' } }, 'metaData.sortBy'],
    [{ metaData: { sortOrder: 'up' } }, 'metaData.sortOrder'],
  ];
  for (const [body, field] of wrong) {
    const call = admin.getConnections(body as Body);
    await refuses(call, 'INVALID_FILTER_VALUE', { field, statusCode: 400 });
  }
  await refuses(admin.getConnections({ page: { pageNumber: 0, size: 1_001 } }), 'INVALID_PAGE');
  await refuses(admin.getConnections({ filters: { fromDate: '30/02/2020' } }), 'INVALID_DATE');
});

test('a billing group has the subscriptions of its accounts', async () => {
  const { headers } = await admin.addBillingGroup({ name: 'Estate' });
  const billingGroupID = Number(headers.get('x-resource-id'));
  const { data } = await admin.getConnections({ filters: { connectionGroupLabel: 'House 8' } });
  const [account] = data.connections;
  const connectionGroupIDs = [account?.connectionGroupID ?? 0];
  await admin.assignBillingAccounts({ data: { billingGroupID, connectionGroupIDs } });
  const ofParty = (f: Fact) => f.n % 300 === 8;
  await agrees({ filters: { billingGroupID } }, ofParty);
});

test('every order has its way back, and streams as it pages', async () => {
  for (const sortBy of ['id', 'connectionNumber', 'connectionDate', 'ts'] as const) {
    for (const sortOrder of ['asc', 'desc'] as const) {
      const metaData = { sortBy, sortOrder };
      const whole = await numbers({ metaData });
      assert.equal(new Set(whole).size, total);
      const page = { pageNumber: 1, size: 500 };
      assert.deepEqual(await numbers({ metaData, page }), whole.slice(500, 1_000));
    }
  }
  const byDate = await admin.getConnections({
    metaData: { sortBy: 'connectionDate', sortOrder: 'desc', fields: ['connectionDate'] },
    page: { pageNumber: 0, size: 3 },
  });
  assert.deepEqual(byDate.data.connections, Array(3).fill({ connectionDate: '28042020' }));
});

test('changes since a moment are found by updatedSince', async () => {
  const before = await shown(admin, 'N-00010');
  await admin.updateConnection({ data: { connectionNumber: 'N-00010', description: 'changed' } });
  const after = await shown(admin, 'N-00010');
  assert.ok((after.ts ?? 0) > (before.ts ?? 0));
  assert.deepEqual(await numbers({ metaData: { updatedSince: after.ts ?? 0 } }), ['N-00010']);
});

test('a party that is renamed is found by its new name at once', async () => {
  await admin.updateUser({ user: { partyNumber: khan, name: 'Asma Zafar' } });
  const page = { pageNumber: 0, size: 1 };
  const found = await admin.getConnections({ metaData: { search: 'zafar' }, page });
  assert.equal(found.headers.get('x-total-count'), '600');
  assert.deepEqual(await numbers({ metaData: { search: 'khan' } }), []);
});

test('include flags add what they name, and nothing else does', async () => {
  const connectionNumber = 'N-00001';
  const bare = await shown(admin, connectionNumber);
  assert.deepEqual(bare.bills, []);
  for (const key of ['payments', 'readings', 'ledger']) assert.ok(!(key in bare), key);
  const flags = { bills: true, payments: true, readings: true, ledger: true };
  const full = await shown(admin, connectionNumber, flags);
  assert.deepEqual([full.bills, full.payments, full.ledger], [[], [], []]);
  assert.deepEqual(
    full.readings?.map((one) => [one.number, one.register, one.value, one.readingType]),
    [[meters[0], 'kWh', '0', 'Installation']],
  );
  const answer = await admin.getConnections({
    metaData: { includeArchived: true, language: 'en', colour: 'red' } as never,
    page: { pageNumber: 0, size: 1 },
  });
  assert.equal(answer.headers.get('x-ignored-fields'), 'metaData.colour');
});

test('a customer sees its own subscriptions and no others', async () => {
  const portal = await scene.loginAs(admin, ['Customer'], { partyNumber: malik });
  const page = { pageNumber: 0, size: 10 };
  const own = await portal.getConnections({ page });
  assert.equal(own.headers.get('x-total-count'), '600');
  assert.ok(own.data.connections.every((one) => one.partyNumber === malik));
  assert.deepEqual((await portal.getConnections({ partyID: 1, page })).data.connections, []);
  const foreign = await portal.getConnections({ connectionNumber: 'N-00001' });
  assert.deepEqual(foreign.data.connections, []);
  const words = await portal.getConnections({ metaData: { search: 'zafar' }, page });
  assert.deepEqual(words.data.connections, []);
});

test('totals stay right as subscriptions change their state, batch, plan and quantities', async () => {
  const connectionNumber = 'N-00010';
  const count = async (body: Body) => {
    const { headers } = await admin.getConnections({ ...body, page: { pageNumber: 9, size: 1 } });
    return Number(headers.get('x-total-count'));
  };
  const questions: Body[] = [
    { status: 'Active' },
    { status: 'Disconnected' },
    { filters: { batchCode: 'B01' } },
    { filters: { tariffCode: other.code } },
    {},
  ];
  const before = await Promise.all(questions.map(count));
  await admin.updateConnection({ data: { connectionNumber, batchCode: 'B01' } });
  await admin.changeTariff({ data: { connectionNumber, tariffCode: other.code } });
  await admin.disconnectConnection({ data: { connectionNumber, effectiveDate: day(0) } });
  const after = await Promise.all(questions.map(count));
  assert.deepEqual(
    after.map((number, index) => number - (before[index] ?? 0)),
    [-1, 1, 1, 1, 0],
  );
  await scene.enter(admin);
  const { rows } = await scene.sql.query(
    `select count(*)::integer as wrong from (
       select subscription_id / 1000 as block, context_id, status, is_metered,
         has_quantities, count(*) as subscriptions from subscriptions group by 1, 2, 3, 4, 5
     ) s full join (select * from subscription_counts where subscriptions <> 0) c
       using (block, context_id, status, is_metered, has_quantities)
     where s.subscriptions is distinct from c.subscriptions`,
  );
  assert.equal(rows[0].wrong, 0);
});
