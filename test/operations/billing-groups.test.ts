import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const admin = await scene.workspace('groups');

async function newAccount(label: string): Promise<number> {
  const made = await admin.makeUsers({
    userType: 'customer',
    users: [{ name: `Owner of ${label}` }],
  });
  const partyNumber = Number(made.headers.get('x-party-number'));
  await admin.updateUser({
    user: { partyNumber, connectionGroups: [{ connectionGroupLabel: label }] },
  });
  const { data } = await admin.getUsers({ partyNumber });
  return data.user.subscriptionGroups[0]?.connectionGroupID ?? 0;
}

test('Add Billing Group makes a group that List and Get show', async () => {
  const made = await admin.addBillingGroup({ name: ' North ', billingPeriodID: 1 });
  assert.deepEqual(made.data, {});
  const billingGroupID = Number(made.headers.get('x-resource-id'));
  const listed = await admin.listBillingGroups();
  assert.deepEqual(
    listed.data.find((group) => group.billingGroupID === billingGroupID),
    { billingGroupID, name: 'North', billingPeriodID: 1 },
  );
  const { data, message } = await admin.getBillingGroup({ billingGroupID });
  assert.equal(message, '1 found');
  assert.equal(data.billingGroup.name, 'North');
  assert.equal(data.billingGroup.accountCount, 0);
  assert.equal(data.billingGroup.outstandingBalance, 0);
  assert.deepEqual(data.connectionGroups, []);
});

test('Add Billing Group refuses an empty, a long and a taken name, and stores nothing', async () => {
  await admin.addBillingGroup({ name: 'Taken' });
  const before = (await admin.listBillingGroups()).data.length;
  await refuses(admin.addBillingGroup({ name: '   ' }), 'REQUIRED_FIELD', { field: 'name' });
  await refuses(admin.addBillingGroup({ name: 'x'.repeat(121) }), 'FIELD_TOO_LONG', {
    field: 'name',
  });
  await refuses(admin.addBillingGroup({ name: 'tAKEN' }), 'DUPLICATE', {
    field: 'name',
    statusCode: 409,
  });
  await refuses(admin.addBillingGroup({ name: 'Lost', billingPeriodID: 99 }), 'PERIOD_NOT_FOUND', {
    field: 'billingPeriodID',
    statusCode: 404,
  });
  assert.equal((await admin.listBillingGroups()).data.length, before);
});

test('Update Billing Group changes what is sent and keeps the rest', async () => {
  const made = await admin.addBillingGroup({ name: 'East', description: 'Old town' });
  const billingGroupID = Number(made.headers.get('x-resource-id'));
  const shown = async () => (await admin.getBillingGroup({ billingGroupID })).data.billingGroup;
  const { ts } = await shown();
  await admin.updateBillingGroup({ data: { billingGroupID, billingPeriodID: 1, ts } });
  await admin.updateBillingGroup({ data: { billingGroupID, name: ' East end ' } });
  const { name, billingPeriodID, description } = await shown();
  assert.deepEqual([name, billingPeriodID, description], ['East end', 1, 'Old town']);
  await admin.updateBillingGroup({
    data: { billingGroupID, billingPeriodID: null, description: null },
  });
  const cleared = await shown();
  assert.deepEqual([cleared.billingPeriodID, cleared.description], [null, null]);
  await admin.addBillingGroup({ name: 'West' });
  const change = (more: object) => admin.updateBillingGroup({ data: { billingGroupID, ...more } });
  await refuses(change({ name: 'wEST' }), 'DUPLICATE', { field: 'data.name' });
  await refuses(change({ name: ' ' }), 'REQUIRED_FIELD', { field: 'data.name' });
  await refuses(change({ billingPeriodID: 99 }), 'PERIOD_NOT_FOUND', {
    field: 'data.billingPeriodID',
  });
  await refuses(change({ name: 'South', ts }), 'STALE_OBJECT', { field: 'data.ts' });
  await refuses(change({ billingGroupID: 4711 }), 'BILLING_GROUP_NOT_FOUND');
  assert.equal((await shown()).name, 'East end');
});

test('Get Billing Group refuses an unknown id', async () => {
  await refuses(admin.getBillingGroup({ billingGroupID: 4711 }), 'BILLING_GROUP_NOT_FOUND', {
    statusCode: 404,
  });
});

test('accounts are put into a group by id or label, move to another, and are taken out', async () => {
  const first = Number(
    (await admin.addBillingGroup({ name: 'First' })).headers.get('x-resource-id'),
  );
  const second = Number(
    (await admin.addBillingGroup({ name: 'Second' })).headers.get('x-resource-id'),
  );
  const byId = await newAccount('Flat 1');
  await newAccount('Flat 2');
  await admin.assignBillingAccounts({
    data: { billingGroupID: first, connectionGroupIDs: [byId] },
  });
  await admin.assignBillingAccounts({
    data: { billingGroupID: first, connectionGroupLabels: ['Flat 2'] },
  });
  const { data } = await admin.getBillingGroup({ billingGroupID: first });
  assert.deepEqual(
    data.connectionGroups.map((account) => [account.connectionGroupLabel, account.type]),
    [
      ['Flat 1', 'Customer'],
      ['Flat 2', 'Customer'],
    ],
  );
  await admin.assignBillingAccounts({
    data: { billingGroupID: second, connectionGroupIDs: [byId] },
  });
  assert.equal(
    (await admin.getBillingGroup({ billingGroupID: first })).data.billingGroup.accountCount,
    1,
  );
  await admin.removeBillingAccounts({
    data: { billingGroupID: second, connectionGroupIDs: [byId] },
  });
  assert.equal(
    (await admin.getBillingGroup({ billingGroupID: second })).data.billingGroup.accountCount,
    0,
  );
});

test('assigning names every unknown or ambiguous account, and moves none', async () => {
  const group = Number(
    (await admin.addBillingGroup({ name: 'Third' })).headers.get('x-resource-id'),
  );
  const good = await newAccount('Same');
  await newAccount('Same');
  const unknown = await refuses(
    admin.assignBillingAccounts({
      data: { billingGroupID: group, connectionGroupIDs: [good, 888, 999] },
    }),
    'ACCOUNT_NOT_FOUND',
    { statusCode: 404 },
  );
  assert.deepEqual(
    unknown.error.details.map((detail) => detail.field),
    ['data.connectionGroupIDs[1]', 'data.connectionGroupIDs[2]'],
  );
  const mixed = { billingGroupID: group, connectionGroupLabels: ['Same', 'Nobody'] };
  await refuses(admin.assignBillingAccounts({ data: mixed }), 'ROWS_REJECTED', { statusCode: 422 });
  await refuses(
    admin.assignBillingAccounts({
      data: { billingGroupID: group, connectionGroupLabels: ['Same'] },
    }),
    'ACCOUNT_AMBIGUOUS',
  );
  await refuses(admin.assignBillingAccounts({ data: { billingGroupID: group } }), 'REQUIRED_FIELD');
  await refuses(
    admin.assignBillingAccounts({ data: { billingGroupID: 4711, connectionGroupIDs: [good] } }),
    'BILLING_GROUP_NOT_FOUND',
  );
  await refuses(
    admin.removeBillingAccounts({ data: { billingGroupID: group, connectionGroupIDs: [good] } }),
    'ACCOUNT_NOT_FOUND',
  );
  assert.equal(
    (await admin.getBillingGroup({ billingGroupID: group })).data.billingGroup.accountCount,
    0,
  );
});

test('twenty groups of one name at once: one is made, the others are refused', async () => {
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () => admin.addBillingGroup({ name: 'Once only' })),
  );
  assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
  for (const result of results) {
    if (result.status === 'rejected') assert.equal(result.reason.code, 'DUPLICATE');
  }
});
