// Where the workspace wants it, the audit trail keeps each opening of the details of a party.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene();

test('opening the details of a party is kept where the setting says so', async () => {
  const admin = await scene.workspace('read-log');
  await admin.makeUsers({ userType: 'customer', users: [{ name: 'Asma Khan' }] });
  const partyNumber = 100001;
  const readsOf = async () => {
    const { entries } = (await admin.getAudit({ subject: 'party' })).data;
    return entries.filter(({ operation }) => operation.startsWith('/billing/users/get-users'));
  };
  await admin.getUsers({ partyNumber });
  assert.deepEqual(await readsOf(), []);

  await admin.updateSettings({ data: { logPartyReads: true } });
  const { headers, data } = await admin.getUsers({ partyNumber });
  await assert.rejects(admin.getUsers({ partyNumber: 7 }), { code: 'PARTY_NOT_FOUND' });
  const [entry, ...others] = await readsOf();
  assert.equal(others.length, 0);
  assert.deepEqual(
    [entry?.requestID, entry?.actor, entry?.actorType, entry?.subjectID, entry?.after],
    [
      headers.get('x-request-id'),
      'admin@read-log.example',
      'Login',
      String(data.user.partyID),
      { read: true },
    ],
  );

  // Customers who read their own leave nothing.
  const own = { username: 'asma@read-log.example', name: 'Asma', password: adminPassword };
  await admin.makeLogins({ logins: [{ ...own, roles: ['Customer'], partyNumber }] });
  const customer = scene.visitor('read-log');
  const { username, password } = own;
  customer.useToken((await customer.login({ username, password })).data.accessToken);
  await customer.getUsers({ partyNumber });
  assert.equal((await readsOf()).length, 1);
  await admin.updateSettings({ data: { logPartyReads: false } });
  await admin.getUsers({ partyNumber });
  assert.equal((await readsOf()).length, 1);
});
