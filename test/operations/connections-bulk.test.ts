// Bulk loads of subscriptions, numbers, and many calls at once.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { BatchedClient } from '../../src/base/db/batch.ts';
import { refuses } from '../support/client.ts';
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
const admin = await scene.workspace('bulk');
const second = (await scene.anotherServer()).visitor('bulk');
second.useToken(admin.token);
await scene.enter(admin);
const offer = await newOffer(admin, { securityDeposit: 500, requiredDocs: ['Deed'] });
const owner = await newParty(admin);
const plain: Connection = { ...offer, users: [{ partyNumber: owner }], documents: ['Deed'] };

function load(connection: Connection[]) {
  return admin.makeConnections({ batchUpload: true, connection });
}

async function sums(): Promise<{ journals: number; byAccount: Record<string, number> }> {
  const { rows } = await scene.sql.query(
    `select ledger_account_id as account, sum(amount)::integer as amount from journal_lines
     group by 1 order by 1`,
  );
  const { rows: entries } = await scene.sql.query(
    `select count(*)::integer as unequal from (
       select journal_id, ledger_account_id, sum(amount) as amount from subledger_entries group by 1, 2
     ) e full join (
       select l.journal_id, l.ledger_account_id, sum(l.amount) as amount from journal_lines l
       join ledger_accounts a on a.ledger_account_id = l.ledger_account_id and a.is_control
       group by 1, 2
     ) l using (journal_id, ledger_account_id)
     where coalesce(e.amount, 0) <> coalesce(l.amount, 0)`,
  );
  assert.equal(entries[0].unequal, 0, 'the subledger is not what the journals say');
  const byAccount = Object.fromEntries(rows.map((row) => [row.account, row.amount]));
  assert.equal(
    rows.reduce((sum, row) => sum + row.amount, 0),
    0,
  );
  return { journals: rows.length, byAccount };
}

test('a bulk load brings numbers, past dates, states and balances', async () => {
  const before = (await sums()).byAccount;
  const rich = await newParty(admin);
  const row = {
    ...plain,
    users: [{ partyNumber: rich }],
    documents: [],
    connectionDate: '10032021',
    connectionNumber: 'E-000101',
    connectionRefNo: 'OLD-101',
    billedThrough: day(-30, ''),
    accounts: [
      { title: 'Receivable' as const, balance: 1249.6 },
      { title: 'Advance' as const, balance: '300.25' },
      { title: 'Security Deposit' as const, balance: 7500 },
      { title: 'Disputed' as const, balance: 12 },
    ],
  };
  const cut: Connection = { ...row, connectionNumber: 'E-000102', connectionRefNo: null };
  const made = await load([
    row,
    { ...cut, status: 'Disconnected', billedThrough: null },
    { ...cut, connectionNumber: 'E-000103', status: 'Closed', accounts: [] },
  ]);
  assert.equal(made.message, '3 subscriptions created');
  assert.equal(made.headers.get('x-connection-number'), 'E-000101,E-000102,E-000103');
  assert.equal(made.headers.get('x-resource-count'), '3');
  const one = await shown(admin, 'E-000101');
  assert.deepEqual(
    [one.status, one.connectionDate, one.billedThrough, one.connectionRefNo],
    ['Active', '10032021', day(-30, ''), 'OLD-101'],
  );
  assert.deepEqual(one.accounts, [
    { title: 'Receivable', balance: 1249.6 },
    { title: 'Advance', balance: 600.5 },
    { title: 'Security Deposit', balance: 7500 },
    { title: 'Disputed', balance: 12 },
  ]);
  const off = await shown(admin, 'E-000102');
  assert.deepEqual(
    [off.status, off.disconnectionKind, off.billedThrough],
    ['Disconnected', 'Temporary', null],
  );
  assert.equal((await shown(admin, 'E-000103')).status, 'Closed');
  const { user } = (await admin.getUsers({ partyNumber: rich })).data;
  assert.deepEqual([user.walletAccount.balance, user.outstandingAccount.balance], [600.5, 2499.2]);
  const { byAccount } = await sums();
  const change = (account: number) => (byAccount[account] ?? 0) - (before[account] ?? 0);
  assert.deepEqual([2, 3, 4, 10, 8].map(change), [
    2 * 1249_60,
    -2 * 300_25,
    -2 * 7500_00,
    2 * 12_00,
    -2 * (1249_60 - 300_25 - 7500_00 + 12_00),
  ]);
});

test('connectionDate and billedThrough are accepted as DD/MM/YYYY and returned as DDMMYYYY', async () => {
  const dates = { connectionDate: '31/01/2021', billedThrough: '29/02/2024' };
  const made = await load([{ ...plain, documents: [], ...dates }]);
  const found = await shown(admin, made.headers.get('x-connection-number') ?? '');
  assert.deepEqual([found.connectionDate, found.billedThrough], ['31012021', '29022024']);
  const wrong = load([{ ...plain, connectionDate: '31/02/2021' }]);
  const { error } = await refuses(wrong, 'INVALID_DATE', { field: 'connection[0].connectionDate' });
  assert.match(error.message, /is 31\/02\/2021, a day that does not exist$/);
});

test('of a customer of years neither papers nor a deposit are asked; of a new one they are', async () => {
  const old = { ...plain, documents: [], connectionDate: '01012020' };
  const made = await load([old, { ...plain, documents: [] }]);
  const [first = '', fresh = ''] = made.headers.get('x-connection-number')?.split(',') ?? [];
  const shownOld = await shown(admin, first);
  assert.deepEqual([shownOld.status, shownOld.accounts?.[0]?.balance], ['Active', 0]);
  const shownNew = await shown(admin, fresh);
  assert.deepEqual([shownNew.status, shownNew.accounts?.[0]?.balance], ['Pending', 500]);
});

test('every bad row of a bulk load is named by its place, and nothing is stored', async () => {
  await subscribe(admin, { ...plain, connectionRefNo: 'TAKEN' });
  const meter = await newMeter(admin);
  const rows: Connection[] = [
    plain,
    { ...plain, tariffCode: 'NONE' },
    { ...plain, connectionRefNo: 'TAKEN' },
    { ...plain, connectionRefNo: 'TWICE' },
    { ...plain, connectionRefNo: 'TWICE' },
    { ...plain, meters: [meter] },
    { ...plain, meters: [meter] },
    { ...plain, connectionDate: day(5, ''), status: 'Active' },
    { ...plain, connectionDate: '01012024', billedThrough: '01012023' },
  ];
  const before = await hashRows(scene.sql);
  const { error } = await refuses(load(rows), 'ROWS_REJECTED', { statusCode: 422 });
  assert.deepEqual(
    error.details.map((detail) => [detail.field, detail.code]),
    [
      ['connection[1].tariffCode', 'PLAN_NOT_FOUND'],
      ['connection[7].connectionDate', 'DATE_IN_FUTURE'],
      ['connection[8].billedThrough', 'INVALID_DATE'],
      ['connection[6].meters[0].number', 'METER_ALREADY_ASSIGNED'],
      ['connection[2].connectionRefNo', 'DUPLICATE'],
      ['connection[4].connectionRefNo', 'DUPLICATE'],
    ],
  );
  // As it was sent.
  assert.equal(error.details[2]?.rejectedValue, '01012023');
  const same = [plain, { ...plain, tariffCode: 'NONE' }, { ...plain, tariffCode: 'NEITHER' }];
  await refuses(load(same), 'PLAN_NOT_FOUND', {
    field: 'connection[1].tariffCode',
    statusCode: 404,
  });
  await refuses(load([]), 'REQUIRED_FIELD', { field: 'connection' });
  const many = Array.from({ length: 1_001 }, () => plain);
  await refuses(load(many), 'TOO_MANY_ITEMS', { field: 'connection' });
  const single = admin.makeConnections({ batchUpload: false, connection: [plain] });
  await refuses(single, 'INVALID_TYPE', { field: 'connection' });
  assert.deepEqual(await hashRows(scene.sql), before);
});

test('wrong opening balances are refused', async () => {
  const wrong: [object[], string, string][] = [
    [[{ title: 'Cash', balance: 1 }], 'INVALID_ENUM', '[0].title'],
    [[{ title: 'Advance', balance: -1 }], 'INVALID_NUMBER', '[0].balance'],
    [[{ title: 'Receivable', balance: 1.005 }], 'INVALID_NUMBER', '[0].balance'],
    [[{ title: 'Receivable', balance: 'much' }], 'INVALID_NUMBER', '[0].balance'],
    [
      [
        { title: 'Disputed', balance: 1 },
        { title: 'Disputed', balance: 1 },
      ],
      'DUPLICATE',
      '[1].title',
    ],
  ];
  for (const [accounts, code, place] of wrong) {
    const connection = { ...plain, accounts } as Connection;
    const call = admin.makeConnections({ batchUpload: true, connection });
    await refuses(call, code as 'DUPLICATE', { field: `connection.accounts${place}` });
  }
  const accounts = [{ title: 'Receivable' as const, balance: 1e12 }];
  const call = admin.makeConnections({ batchUpload: true, connection: { ...plain, accounts } });
  const { message } = await refuses(call, 'INVALID_NUMBER');
  assert.match(message, /is an amount of at most 12 digits before the point and 2 after it$/);
});

/** Statements that the servers of this process send while the work is done. */
async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const run = mock.method(BatchedClient.prototype, 'run');
  await work();
  const count = run.mock.callCount();
  run.mock.restore();
  return count;
}

test('a thousand rows take as many statements as one', async () => {
  const numbers = Array.from({ length: 1_001 }, (_, index) => 900_000 + index);
  const facts = { brand: 'Itron', meterType: 1, purchaseDate: '15/01/2024', mf: 1 };
  await admin.makeMeters({
    meters: numbers.slice(0, 1_000).map((number) => ({ number, ...facts })),
  });
  await admin.makeMeters({ meters: numbers.slice(1_000).map((number) => ({ number, ...facts })) });
  const rows = numbers.map((number, index) => ({
    ...plain,
    connectionRefNo: `Load ${index}`,
    connectionDate: '01012020',
    accounts: [{ title: 'Receivable' as const, balance: 10 }],
    meters: [number],
  }));
  const one = await statementsOf(() => load(rows.slice(0, 1)));
  const thousand = await statementsOf(() => load(rows.slice(1)));
  // Blocks of ids are taken beside the call, by four statements each: of entries and of open items.
  assert.ok(thousand <= one + 8, `${thousand} statements instead of ${one}`);
  const { headers } = await admin.getConnections({
    page: { pageNumber: 0, size: 1 },
    metaData: { search: 'load ' },
  });
  assert.equal(headers.get('x-total-count'), '1001');
  await sums();
});

test('numbers that a bulk load brought are passed over, and none is given twice', async () => {
  const next = await subscribe(admin, plain);
  const last = Number(next.split('-')[1]);
  const text = (n: number) => `${offer.serviceCode}-${String(last + n).padStart(8, '0')}`;
  await load([1, 2, 3, 5].map((n) => ({ ...plain, connectionNumber: text(n) })));
  assert.equal(await subscribe(admin, plain), text(4));
  const made = await load([plain, { ...plain, connectionNumber: text(7) }, plain]);
  assert.equal(made.headers.get('x-connection-number'), [text(6), text(7), text(8)].join(','));
  await refuses(load([{ ...plain, connectionNumber: text(2) }]), 'DUPLICATE', {
    field: 'connection[0].connectionNumber',
    statusCode: 409,
  });
});

test('numbers follow the format of the workspace', async () => {
  await admin.updateSettings({ data: { connectionNumberFormat: 'C{number:3}/{serviceCode}' } });
  const number = await subscribe(admin, plain);
  assert.match(number, new RegExp(`^C\\d{3,}/${offer.serviceCode}$`));
  for (const wrong of ['{number}{weekday}', '{number:0}', 'N{number', '{serviceCode}']) {
    const call = admin.updateSettings({ data: { connectionNumberFormat: wrong } });
    await refuses(call, 'INVALID_FORMAT', { field: 'data.connectionNumberFormat' });
  }
  await admin.updateSettings({ data: { connectionNumberFormat: '{serviceCode}-{number:8}' } });
});

test('twenty subscriptions made at once, on two servers, have twenty numbers', async () => {
  const calls = Array.from({ length: 20 }, (_, index) =>
    subscribe(index % 2 ? admin : second, plain),
  );
  const numbers = await Promise.all(calls);
  assert.equal(new Set(numbers).size, 20);
});

test('of calls with one reference, or one meter, at once one succeeds', async () => {
  const meter = await newMeter(admin);
  for (const [fields, code] of [
    [{ connectionRefNo: 'RACE' }, 'DUPLICATE'],
    [{ meters: [meter] }, 'METER_ALREADY_ASSIGNED'],
  ] as const) {
    const calls = Array.from({ length: 6 }, (_, index) =>
      subscribe(index % 2 ? admin : second, { ...plain, ...fields } as Connection),
    );
    const done = await Promise.allSettled(calls);
    const failed = done.filter((one) => one.status === 'rejected');
    assert.equal(failed.length, 5);
    for (const { reason } of failed) assert.equal(reason.error.code, code);
  }
});

test('calls at once that name one new account of a party make it once', async () => {
  const partyNumber = await newParty(admin);
  const users = [{ partyNumber, connectionGroupLabel: 'New house' }];
  const calls = Array.from({ length: 8 }, (_, index) =>
    subscribe(index % 2 ? admin : second, { ...plain, users }),
  );
  await Promise.all(calls);
  const { user } = (await admin.getUsers({ partyNumber })).data;
  assert.equal(user.subscriptionGroups.length, 1);
  assert.equal(user.subscriptions.length, 8);
});

test('a party that is archived while it subscribes does one of the two', async () => {
  for (let round = 0; round < 5; round += 1) {
    const partyNumber = await newParty(admin);
    const [made, archived] = await Promise.allSettled([
      subscribe(admin, { ...plain, users: [{ partyNumber }] }),
      second.updateUser({ user: { partyNumber, archiveStatus: 1 } }),
    ]);
    assert.notEqual(made.status, archived.status);
  }
});
