import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, subscribe } from '../support/subscriptions.ts';

const scene = await openScene();
const admin = await scene.workspace('archive');

async function newParty(label?: string) {
  const made = await admin.makeUsers({ userType: 'customer', users: [{ name: 'A' }] });
  const partyNumber = Number(made.headers.get('x-party-number'));
  if (label !== undefined) {
    const connectionGroups = [{ connectionGroupLabel: label }];
    await admin.updateUser({ user: { partyNumber, connectionGroups } });
  }
  return (await admin.getUsers({ partyNumber })).data.user;
}

const offer = await newOffer(admin);
const statuses = { Active: 'Active', Disconnected: 'Disconnected', Closed: 'Closed' } as const;

/** As if the books had been moved here: with a balance of before, in major units. */
function subscribed(
  party: Awaited<ReturnType<typeof newParty>>,
  state: { status: keyof typeof statuses; receivable: number; wallet?: number },
): Promise<string> {
  const [group] = party.subscriptionGroups;
  const connectionGroupLabel = group?.connectionGroupLabel ?? null;
  const connection = {
    ...offer,
    connectionDate: '01012020',
    status: statuses[state.status],
    users: [{ partyID: party.partyID, connectionGroupLabel }],
    accounts: [
      { title: 'Receivable' as const, balance: state.receivable },
      { title: 'Advance' as const, balance: state.wallet ?? 0 },
    ],
  };
  return subscribe(admin, connection, { batchUpload: true });
}

function archive(partyNumber: number, archiveStatus: unknown = 1) {
  return admin.updateUser({ user: { partyNumber, archiveStatus: archiveStatus as 1 } });
}

async function statusOf(partyNumber: number): Promise<number> {
  return (await admin.getUsers({ partyNumber })).data.user.archiveStatus;
}

test('a view shows accounts, subscriptions and balances in major units', async () => {
  const party = await newParty('House');
  const number = await subscribed(party, { status: 'Active', receivable: 123.45 });
  const second = await subscribed(party, { status: 'Closed', receivable: -0.2, wallet: 7 });
  const group = await admin.addBillingGroup({ name: 'North' });
  const billingGroupID = Number(group.headers.get('x-resource-id'));
  const connectionGroupLabels = ['House'];
  await admin.assignBillingAccounts({ data: { billingGroupID, connectionGroupLabels } });
  const { data } = await admin.getUsers({ partyNumber: party.partyNumber, includeBills: true });
  assert.deepEqual(data.user.walletAccount, { balance: 7 });
  assert.deepEqual(data.user.outstandingAccount, { balance: 123.25 });
  assert.deepEqual(data.user.bills, []);
  assert.deepEqual(data.user.subscriptionGroups, [
    {
      connectionGroupID: party.subscriptionGroups[0]?.connectionGroupID,
      connectionGroupLabel: 'House',
      billingGroupID,
      billingGroupName: 'North',
      balance: 123.25,
      subscriptions: [number, second],
    },
  ]);
  assert.deepEqual(data.user.subscriptions[0], {
    id: 1,
    connectionNumber: number,
    connectionRefNo: null,
    serviceCode: offer.serviceCode,
    tariffCode: offer.tariffCode,
    status: 'Active',
    connectionGroupLabel: 'House',
    balance: 123.45,
  });
});

test('archiveStatus is taken as 0 or 1, as text and as boolean', async () => {
  const { partyNumber } = await newParty();
  for (const [sent, shown] of [
    [1, 1],
    [0, 0],
    ['1', 1],
    ['0', 0],
    [true, 1],
    [false, 0],
    [1, 1],
    [null, 1],
    [1, 1],
  ]) {
    await archive(partyNumber, sent);
    assert.equal(await statusOf(partyNumber), shown, String(sent));
  }
  const field = 'user.archiveStatus';
  for (const wrong of [2, -1, 'yes', '', [1], 0.5]) {
    const { error } = await refuses(archive(partyNumber, wrong), 'INVALID_ENUM', { field });
    assert.equal(error.message, 'user.archiveStatus must be one of 0, 1, true, false');
  }
});

test('an archived party is hidden from lists unless asked for, and can be viewed', async () => {
  const { partyNumber } = await newParty();
  const metaData = { search: String(partyNumber) };
  await archive(partyNumber);
  assert.equal((await admin.listUsers({ metaData })).data.users.length, 0);
  const all = await admin.listUsers({ metaData: { ...metaData, includeArchived: true } });
  assert.deepEqual(
    all.data.users.map((user) => user.archiveStatus),
    [1],
  );
  assert.equal(await statusOf(partyNumber), 1);
});

test('a party with an active subscription cannot be archived; with others it can', async () => {
  const party = await newParty('Flat');
  await subscribed(party, { status: 'Disconnected', receivable: 0 });
  await archive(party.partyNumber);
  await archive(party.partyNumber, 0);
  await subscribed(party, { status: 'Active', receivable: 5 });
  const { error } = await refuses(archive(party.partyNumber), 'PARTY_HAS_ACTIVE_SUBSCRIPTIONS', {
    field: 'user.archiveStatus',
    statusCode: 422,
  });
  assert.match(error.message, /1 active subscription/);
  assert.equal(await statusOf(party.partyNumber), 0);
});

test('a party that owes, is owed or has money in its wallet cannot be archived', async () => {
  for (const receivable of [1, -1]) {
    const party = await newParty('Debt');
    await subscribed(party, { status: 'Closed', receivable });
    await refuses(archive(party.partyNumber), 'PARTY_HAS_BALANCE', { statusCode: 422 });
  }
  const rich = await newParty('Rich');
  await subscribed(rich, { status: 'Closed', receivable: 0, wallet: 1 });
  await refuses(archive(rich.partyNumber), 'PARTY_HAS_BALANCE', { field: 'user.archiveStatus' });
  const even = await newParty('Even');
  await subscribed(even, { status: 'Closed', receivable: 0 });
  await archive(even.partyNumber);
});

test('an archived party is not changed until it is restored, alone or in the same call', async () => {
  const { partyNumber } = await newParty('Home');
  await archive(partyNumber);
  const changes = [
    { name: 'B' },
    { name: 'B', archiveStatus: 1 },
    { email: 'b@example.com' },
    { contacts: [{ contactType: 'Fax', contactValue: '1' }] },
    { connectionGroups: [{ connectionGroupLabel: 'Other' }] },
  ] as const;
  for (const change of changes) {
    const user = { partyNumber, ...change } as never;
    await refuses(admin.updateUser({ user }), 'PARTY_ARCHIVED', { statusCode: 422 });
  }
  await admin.updateUser({ user: { partyNumber, name: 'B', archiveStatus: 0 } });
  assert.equal((await admin.getUsers({ partyNumber })).data.user.name, 'B');
});

test('archiving again with unchanged facts, as a repeated call does, is no change', async () => {
  const { partyNumber, partyID } = await newParty();
  const user = { partyID, partyNumber, name: 'A', email: null, archiveStatus: 1 } as const;
  await admin.updateUser({ user });
  await admin.updateUser({ user });
  assert.equal(await statusOf(partyNumber), 1);
});

test('an archived party loses its portal at once, and old tokens stay dead after a return', async () => {
  const { partyNumber } = await newParty();
  const portal = await scene.loginAs(admin, ['Customer'], { partyNumber });
  assert.equal((await portal.getUsers({ partyNumber })).data.user.userAccount.status, 'ACTIVE');
  await archive(partyNumber);
  await refuses(portal.getUsers({ partyNumber }), 'TOKEN_REVOKED', { statusCode: 401 });
  const { user } = (await admin.getUsers({ partyNumber })).data;
  assert.equal(user.userAccount.status, 'INACTIVE');
  await archive(partyNumber, 0);
  const after = (await admin.getUsers({ partyNumber })).data.user.userAccount;
  assert.equal(after.status, 'INACTIVE');
  const { logins } = (await admin.getLogins()).data;
  const username = logins.find((login) => login.partyNumber === partyNumber)?.username ?? '';
  await admin.updateLogin({ data: { username, status: 'ACTIVE' } });
  await refuses(portal.getUsers({ partyNumber }), 'TOKEN_REVOKED');
  const { data } = await admin.getAudit({ subject: 'login' });
  const entry = data.entries.find((one) => one.operation.includes('update-user'));
  assert.deepEqual(entry?.before, { status: 'ACTIVE' });
  assert.deepEqual(entry?.after, { status: 'INACTIVE' });
});

test('of several logins of a party the active one counts', async () => {
  const { partyNumber } = await newParty();
  for (let i = 0; i < 3; i += 1) await scene.loginAs(admin, ['Customer'], { partyNumber });
  const usernames = (await admin.getLogins()).data.logins.slice(-3).map((one) => one.username);
  const shown = async () => (await admin.getUsers({ partyNumber })).data.user.userAccount.status;
  for (const username of [usernames[0], usernames[2], usernames[1]]) {
    assert.equal(await shown(), 'ACTIVE');
    await admin.updateLogin({ data: { username: username ?? '', status: 'INACTIVE' } });
  }
  assert.equal(await shown(), 'INACTIVE');
});

test('a customer sees its own party and no other', async () => {
  const own = await newParty();
  const other = await newParty();
  const portal = await scene.loginAs(admin, ['Customer'], { partyNumber: own.partyNumber });
  assert.equal((await portal.getUsers({ partyNumber: own.partyNumber })).data.user.name, 'A');
  await refuses(portal.getUsers({ partyNumber: other.partyNumber }), 'PARTY_NOT_FOUND');
  await refuses(portal.listUsers(), 'PERMISSION_DENIED', { statusCode: 403 });
  await refuses(archive(own.partyNumber, 7), 'INVALID_ENUM');
  const rename = portal.updateUser({ user: { partyNumber: own.partyNumber, name: 'Me' } });
  await refuses(rename, 'PERMISSION_DENIED');
});

test('archiving the party of the last administrator is refused', async () => {
  const scenic = await scene.workspace('last-admin');
  const made = await scenic.makeUsers({ userType: 'employee', users: [{ name: 'Boss' }] });
  const partyNumber = Number(made.headers.get('x-party-number'));
  const boss = await scene.loginAs(scenic, ['Administrator'], { partyNumber });
  await boss.updateLogin({ data: { username: 'admin@last-admin.example', status: 'INACTIVE' } });
  const last = boss.updateUser({ user: { partyNumber, archiveStatus: 1 } });
  await refuses(last, 'LAST_ADMINISTRATOR', { statusCode: 422 });
  await boss.listUsers();
});

test('an archived party gets no login, neither a new one nor its old one', async () => {
  const { partyNumber } = await newParty();
  const facts = { name: 'Portal', password: 'correct horse battery' };
  const newLogin = (username: string) =>
    admin.makeLogins({ logins: [{ ...facts, username, roles: ['Customer'], partyNumber }] });
  await newLogin('old-portal');
  await archive(partyNumber);
  await refuses(newLogin('new-portal'), 'PARTY_ARCHIVED', { field: 'logins[0].partyNumber' });
  const open = () => admin.updateLogin({ data: { username: 'Old-Portal', status: 'ACTIVE' } });
  await refuses(open(), 'PARTY_ARCHIVED', { field: 'data.status', statusCode: 422 });
  await archive(partyNumber, 0);
  await open();
  const { user } = (await admin.getUsers({ partyNumber })).data;
  assert.equal(user.userAccount.status, 'ACTIVE');
});

test('nothing begins for an archived party: no service, no activation, no billing account', async () => {
  const party = await newParty('Home');
  const off = await subscribed(party, { status: 'Disconnected', receivable: 0 });
  const waiting = await subscribe(admin, {
    ...(await newOffer(admin, { requiredDocs: ['Deed'] })),
    users: [{ partyID: party.partyID }],
  });
  await archive(party.partyNumber);
  const reconnect = () => admin.reconnectConnection({ data: { connectionNumber: off } });
  const change = (data: { activate?: boolean; connectionGroupLabel?: string }) =>
    admin.updateConnection({ data: { connectionNumber: waiting, ...data } });
  await refuses(reconnect(), 'PARTY_ARCHIVED', { field: 'data.connectionNumber' });
  await refuses(change({ activate: true }), 'PARTY_ARCHIVED', { field: 'data.activate' });
  await refuses(change({ connectionGroupLabel: 'New' }), 'PARTY_ARCHIVED', {
    field: 'data.connectionGroupLabel',
  });
  await change({ connectionGroupLabel: 'Home' });
  await archive(party.partyNumber, 0);
  await reconnect();
  await change({ activate: true, connectionGroupLabel: 'New' });
});
