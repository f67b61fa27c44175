import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, subscribe } from '../support/subscriptions.ts';

const scene = await openScene();
const admin = await scene.workspace('group-accounts');

async function newGroup(name: string): Promise<number> {
  const made = await admin.addBillingGroup({ name, description: `About ${name}` });
  return Number(made.headers.get('x-resource-id'));
}

async function newAccounts(labels: string[], userType: 'customer' | 'vendor' = 'customer') {
  const made = await admin.makeUsers({ userType, users: [{ name: 'Owner' }] });
  const partyNumber = Number(made.headers.get('x-party-number'));
  const connectionGroups = labels.map((connectionGroupLabel) => ({ connectionGroupLabel }));
  await admin.updateUser({ user: { partyNumber, connectionGroups } });
  const { user } = (await admin.getUsers({ partyNumber })).data;
  return user.subscriptionGroups.map((group) => group.connectionGroupID);
}

async function view(billingGroupID: number) {
  return (await admin.getBillingGroup({ billingGroupID })).data;
}

test('names that differ only by case, accented letters included, are one name', async () => {
  await newGroup('Élan Łódź');
  await refuses(admin.addBillingGroup({ name: 'éLAN łóDŹ ' }), 'DUPLICATE', { field: 'name' });
  await newGroup('Elan Lodz');
});

test('a group shows its facts, its accounts with their oldest active plan, and what is owed', async () => {
  const billingGroupID = await newGroup('Facts');
  const [first, second] = await newAccounts(['One', 'Two'], 'vendor');
  const rows = [
    ['Old plan', 'One', 'Closed', 1],
    ['First active', 'One', 'Active', 10.5],
    ['Second active', 'One', 'Active', -0.5],
    ['Never active', 'Two', 'Pending', 0],
  ] as const;
  const { data } = await admin.listUsers({ userType: 'vendor' });
  const partyNumber = data.users.at(-1)?.partyNumber ?? 0;
  let active = '';
  for (const [name, connectionGroupLabel, status, balance] of rows) {
    const offer = await newOffer(admin, {}, { name });
    if (name === 'First active') active = offer.serviceCode;
    const users = [{ partyNumber, connectionGroupLabel }];
    const accounts = [{ title: 'Receivable' as const, balance }];
    const connection = { ...offer, users, accounts, status, connectionDate: '01012020' };
    await subscribe(admin, connection, { batchUpload: true });
  }
  const connectionGroupIDs = [first ?? 0, second ?? 0];
  await admin.assignBillingAccounts({ data: { billingGroupID, connectionGroupIDs } });
  const { billingGroup, connectionGroups } = await view(billingGroupID);
  const { createdAt, modifiedAt, ts, ...facts } = billingGroup;
  assert.deepEqual(facts, {
    billingGroupID,
    name: 'Facts',
    billingPeriodID: null,
    description: 'About Facts',
    accountCount: 2,
    outstandingBalance: 11,
    archiveStatus: 0,
    createdBy: 'admin@group-accounts.example',
    modifiedBy: 'admin@group-accounts.example',
  });
  assert.ok(createdAt === modifiedAt && ts > 0);
  const shown = { type: 'Vendor', connectionGroupLabel: 'One', connectionGroupID: first };
  assert.deepEqual(connectionGroups, [
    { ...shown, serviceCode: active, tariffLabel: 'First active' },
    {
      type: 'Vendor',
      connectionGroupLabel: 'Two',
      connectionGroupID: second,
      serviceCode: '',
      tariffLabel: '',
    },
  ]);
});

test('ids and labels sent together are both followed', async () => {
  const billingGroupID = await newGroup('Both');
  const [a = 0] = await newAccounts(['Both A', 'Both B']);
  const data = { billingGroupID, connectionGroupIDs: [a], connectionGroupLabels: [' Both B '] };
  await admin.assignBillingAccounts({ data });
  assert.equal((await view(billingGroupID)).connectionGroups.length, 2);
  await admin.removeBillingAccounts({ data });
  assert.equal((await view(billingGroupID)).connectionGroups.length, 0);
  const wrong = { ...data, connectionGroupLabels: ['Nobody'] };
  await refuses(admin.assignBillingAccounts({ data: wrong }), 'ACCOUNT_NOT_FOUND', {
    field: 'data.connectionGroupLabels[0]',
  });
  assert.equal((await view(billingGroupID)).connectionGroups.length, 0);
});

test('a refused account is named by its place in the request, also when others appear twice', async () => {
  const billingGroupID = await newGroup('Places');
  const [a = 0] = await newAccounts(['Place']);
  const connectionGroupIDs = [a, a, 99_999, a];
  const data = { billingGroupID, connectionGroupIDs };
  await refuses(admin.assignBillingAccounts({ data }), 'ACCOUNT_NOT_FOUND', {
    field: 'data.connectionGroupIDs[2]',
  });
  await admin.assignBillingAccounts({ data: { billingGroupID, connectionGroupIDs: [a, a] } });
  assert.equal((await view(billingGroupID)).billingGroup.accountCount, 1);
});

test('a group of more accounts than one chunk shows each once', async () => {
  const billingGroupID = await newGroup('Large');
  const labels = Array.from({ length: 1000 }, (_, i) => `L${i}`);
  const connectionGroupIDs = await newAccounts(labels);
  const more = await newAccounts(['M1', 'M2']);
  await admin.assignBillingAccounts({ data: { billingGroupID, connectionGroupIDs } });
  await admin.assignBillingAccounts({ data: { billingGroupID, connectionGroupIDs: more } });
  const { data, headers } = await admin.getBillingGroup({ billingGroupID });
  const ids = data.connectionGroups.map((account) => account.connectionGroupID);
  assert.deepEqual(ids, [...connectionGroupIDs, ...more]);
  assert.equal(data.billingGroup.accountCount, 1002);
  assert.equal(headers.get('x-total-count'), '1002');
});

test('an account that twenty calls move at once ends in exactly one group', async () => {
  const groups = [await newGroup('G0'), await newGroup('G1'), await newGroup('G2')];
  const connectionGroupIDs = await newAccounts(['Moving 1', 'Moving 2', 'Moving 3']);
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => {
      const ids = i % 2 ? connectionGroupIDs : [...connectionGroupIDs].reverse();
      const billingGroupID = groups[i % 3] ?? 0;
      return admin.assignBillingAccounts({ data: { billingGroupID, connectionGroupIDs: ids } });
    }),
  );
  const views = await Promise.all(groups.map(view));
  const counts = views.map((one) => one.connectionGroups.length);
  assert.deepEqual(counts.sort(), [0, 0, 3]);
});

test('an account is found and kept by the longest label that a subscription gives it', async () => {
  const connectionGroupLabel = 'L'.repeat(200);
  const made = await admin.makeUsers({ userType: 'customer', users: [{ name: 'Long' }] });
  const partyNumber = Number(made.headers.get('x-party-number'));
  const users = [{ partyNumber, connectionGroupLabel }];
  await subscribe(admin, { ...(await newOffer(admin)), users });
  await admin.updateUser({ user: { partyNumber, connectionGroups: [{ connectionGroupLabel }] } });
  const billingGroupID = await newGroup('Long labels');
  await admin.assignBillingAccounts({
    data: { billingGroupID, connectionGroupLabels: [connectionGroupLabel] },
  });
  const { connectionGroups } = await view(billingGroupID);
  assert.deepEqual(
    connectionGroups.map((one) => one.connectionGroupLabel),
    [connectionGroupLabel],
  );
});
