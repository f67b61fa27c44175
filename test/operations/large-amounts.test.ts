// Amounts at the end of what is taken: exact to the minor unit, alone and in sums.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, newParty, shown, subscribe } from '../support/subscriptions.ts';

const scene = await openScene();

async function tenantOf(workspace: string): Promise<number> {
  const { rows } = await scene.sql.query(
    'select tenant_id::integer as id from workspaces where workspace = $1',
    [workspace],
  );
  return rows[0].id;
}

test('opening balances that come to more than 2^53 are booked as what they add up to', async () => {
  const admin = await scene.workspace('large');
  const offer = await newOffer(admin);
  const partyNumber = await newParty(admin);
  const users = [{ partyNumber }];
  const accounts = [{ title: 'Receivable' as const, balance: 999999999999.99 }];
  const connection = Array.from({ length: 101 }, () => ({ ...offer, users, accounts }));
  await admin.makeConnections({ batchUpload: true, connection });
  await assertChecks(scene, await tenantOf('large'));
  const { data } = await admin.getUsers({ partyNumber });
  // As near as JSON can tell it.
  assert.equal(data.user.outstandingAccount.balance, Number('100999999999998.99'));
});

test('with four decimals, an amount that is no exact number of minor units is refused', async () => {
  const admin = await scene.workspace('fine');
  await admin.updateSettings({ data: { currencyDecimals: 4 } });
  const offer = await newOffer(admin);
  const users = [{ partyNumber: await newParty(admin) }];
  const withBalance = (balance: string) => ({
    ...offer,
    users,
    accounts: [{ title: 'Receivable' as const, balance }],
  });
  const tooMuch = { batchUpload: true, connection: [withBalance('900719925474.0993')] };
  const refusal = await refuses(admin.makeConnections(tooMuch), 'INVALID_NUMBER');
  assert.match(refusal.message, /at most 11 digits before the point and 4 after it$/);
  await refuses(newOffer(admin, { securityDeposit: 900719925474 }), 'INVALID_NUMBER', {
    field: 'service.securityDeposit',
  });
  const largest = withBalance('99999999999.9999');
  const number = await subscribe(admin, largest, { batchUpload: true });
  assert.equal((await shown(admin, number)).accounts?.[0]?.balance, 99999999999.9999);
  await assertChecks(scene, await tenantOf('fine'));
});
