// Updates of parties and of their accounts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';
import { newParty, view } from '../support/viewed-parties.ts';

const scene = await openScene();
const admin = await scene.workspace('party-updates');
await scene.enter(admin);

test('an update changes what is sent, clears what is null and leaves the rest', async () => {
  const partyNumber = await newParty(admin, {
    email: 'x@example.com',
    taxNumber: 'T',
    language: 'en',
  });
  await admin.updateUser({ user: { partyNumber, name: ' B ', taxNumber: null } });
  const first = await view(admin, partyNumber);
  assert.deepEqual(
    [first.name, first.email, first.taxNumber, first.language],
    ['B', 'x@example.com', null, 'en'],
  );
  const contacts = [{ contactType: 'fax', contactValue: '1' }];
  await admin.updateUser({ user: { partyNumber, contacts, email: null, address: { city: 'X' } } });
  await admin.updateUser({ user: { partyNumber, contacts: null, address: null, country: 'fra' } });
  const second = await view(admin, partyNumber);
  assert.deepEqual(second.contacts, [{ contactType: 'Fax', contactValue: '1' }]);
  assert.deepEqual([second.email, second.address, second.country], [null, null, 'FR']);
  await admin.updateUser({ user: { partyNumber, contacts: [] } });
  assert.deepEqual((await view(admin, partyNumber)).contacts, []);
  const clearName = admin.updateUser({ user: { partyNumber, name: null as never } });
  await refuses(clearName, 'FIELD_NOT_NULLABLE', { field: 'user.name' });
  await refuses(admin.updateUser({ user: { partyNumber, name: ' ' } }), 'REQUIRED_FIELD');
});

test('an update returns the changed party, and accepts either key or both', async () => {
  const partyNumber = await newParty(admin);
  const { partyID } = await view(admin, partyNumber);
  const done = await admin.updateUser({ user: { partyID, name: 'By id' } });
  assert.equal(done.headers.get('x-party-number'), String(partyNumber));
  assert.equal(done.headers.get('x-resource-id'), String(partyID));
  await admin.updateUser({ user: { partyID, partyNumber, name: 'By both' } });
  assert.equal((await view(admin, partyNumber)).name, 'By both');
});

test('an update is refused without a key, with keys of two parties, and for an unknown party', async () => {
  const one = await newParty(admin);
  const other = await view(admin, await newParty(admin));
  await refuses(admin.updateUser({ user: { name: 'X' } }), 'REQUIRED_FIELD', { statusCode: 400 });
  const nulls = { partyID: null, partyNumber: null, name: 'X' };
  await refuses(admin.updateUser({ user: nulls }), 'REQUIRED_FIELD');
  const both = { partyNumber: one, partyID: other.partyID, name: 'X' };
  await refuses(admin.updateUser({ user: both }), 'PARTY_KEY_MISMATCH', { statusCode: 422 });
  for (const [key, sent] of [
    ['user.partyNumber', { partyNumber: 999_999 }],
    ['user.partyID', { partyID: 999_999 }],
    ['user.partyNumber', { partyNumber: 999_999, partyID: other.partyID }],
    ['user.partyID', { partyNumber: one, partyID: 999_999 }],
  ] as const) {
    const call = admin.updateUser({ user: { ...sent, name: 'X' } });
    const { error } = await refuses(call, 'PARTY_NOT_FOUND', { field: key, statusCode: 404 });
    assert.match(error.message, key === 'user.partyID' ? /the id 999999/ : /the number 999999/);
  }
  assert.deepEqual(
    [(await view(admin, one)).name, (await view(admin, other.partyNumber)).name],
    ['A', 'A'],
  );
});

test('connectionGroups keeps a known label, makes a new one, renames by id, removes none', async () => {
  const partyNumber = await newParty(admin);
  const groups = async (
    connectionGroups: { connectionGroupID?: number; connectionGroupLabel: string }[],
  ) => {
    await admin.updateUser({ user: { partyNumber, connectionGroups } });
    const { subscriptionGroups } = await view(admin, partyNumber);
    return subscriptionGroups.map((one) => [one.connectionGroupID, one.connectionGroupLabel]);
  };
  const [first] = await groups([{ connectionGroupLabel: ' House 1 ' }]);
  const id = Number(first?.[0]);
  assert.deepEqual(first, [id, 'House 1']);
  const two = [{ connectionGroupLabel: 'House 1' }, { connectionGroupLabel: 'Shop' }];
  assert.deepEqual(await groups([...two, ...two]), [
    [id, 'House 1'],
    [id + 1, 'Shop'],
  ]);
  const renamed = await groups([{ connectionGroupID: id, connectionGroupLabel: 'Flat' }]);
  assert.deepEqual(renamed, [
    [id, 'Flat'],
    [id + 1, 'Shop'],
  ]);
  assert.deepEqual(await groups([]), renamed);
  const swapped = [
    { connectionGroupID: id, connectionGroupLabel: 'Shop 2' },
    { connectionGroupLabel: 'Flat' },
  ];
  assert.deepEqual(await groups(swapped), [
    [id, 'Shop 2'],
    [id + 1, 'Shop'],
    [id + 2, 'Flat'],
  ]);
  await refuses(groups([{ connectionGroupID: id, connectionGroupLabel: 'Shop' }]), 'DUPLICATE', {
    statusCode: 409,
  });
  await refuses(
    groups([{ connectionGroupID: 9999, connectionGroupLabel: 'X' }]),
    'ACCOUNT_NOT_FOUND',
    {
      statusCode: 404,
    },
  );
  await refuses(groups([{ connectionGroupLabel: ' ' }]), 'REQUIRED_FIELD');
});

test('two accounts of a party can swap their labels in one call', async () => {
  const partyNumber = await newParty(admin);
  const connectionGroups = [{ connectionGroupLabel: 'Up' }, { connectionGroupLabel: 'Down' }];
  await admin.updateUser({ user: { partyNumber, connectionGroups } });
  const [up, down] = (await view(admin, partyNumber)).subscriptionGroups;
  const swap = [
    { connectionGroupID: up?.connectionGroupID ?? 0, connectionGroupLabel: 'Down' },
    { connectionGroupID: down?.connectionGroupID ?? 0, connectionGroupLabel: 'Up' },
  ];
  await admin.updateUser({ user: { partyNumber, connectionGroups: swap } });
  const labels = (await view(admin, partyNumber)).subscriptionGroups.map(
    (one) => one.connectionGroupLabel,
  );
  assert.deepEqual(labels, ['Down', 'Up']);
});

test('an account of another party cannot be renamed', async () => {
  const owner = await newParty(admin);
  const stranger = await newParty(admin);
  await admin.updateUser({
    user: { partyNumber: owner, connectionGroups: [{ connectionGroupLabel: 'Mine' }] },
  });
  const connectionGroupID =
    (await view(admin, owner)).subscriptionGroups[0]?.connectionGroupID ?? 0;
  const connectionGroups = [{ connectionGroupID, connectionGroupLabel: 'Yours' }];
  const call = admin.updateUser({ user: { partyNumber: stranger, connectionGroups } });
  await refuses(call, 'ACCOUNT_NOT_FOUND');
  assert.equal((await view(admin, owner)).subscriptionGroups[0]?.connectionGroupLabel, 'Mine');
});

test('an account cannot be given two labels in one call', async () => {
  const partyNumber = await newParty(admin);
  const change = (connectionGroups: { connectionGroupLabel: string }[]) =>
    admin.updateUser({ user: { partyNumber, connectionGroups } });
  await change([{ connectionGroupLabel: 'Mine' }]);
  const connectionGroupID =
    (await view(admin, partyNumber)).subscriptionGroups[0]?.connectionGroupID ?? 0;
  const labelled = (...labels: string[]) =>
    labels.map((connectionGroupLabel) => ({ connectionGroupID, connectionGroupLabel }));
  await refuses(change(labelled('One', 'Two')), 'DUPLICATE', { field: 'user.connectionGroups' });
  await change(labelled('One', 'One'));
  assert.equal((await view(admin, partyNumber)).subscriptionGroups[0]?.connectionGroupLabel, 'One');
});
