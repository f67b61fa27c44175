// What customers do not accept, from the bill to its outcome, and the reports that count it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { refuses } from '../support/client.ts';
import { openScreen } from '../support/console-login.ts';
import { openOwing } from '../support/owing.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();
const skip = findBrowser() === undefined;

test('a dispute is raised on a bill, found in the collections, and upheld as a credit', {
  skip,
}, async () => {
  const place = await openOwing(scene, 'disputes');
  const [bill] = await place.bill({ [await place.connectOld()]: 500 });
  const { page, address } = await openScreen(scene, 'disputes', `/bills/${bill?.billID}`);
  await page.getByRole('button', { name: 'Dispute' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Reason').fill('The meter was read wrong');
  await form.getByLabel('Amount').fill('501');
  await form.getByRole('button', { name: 'Dispute' }).click();
  await form.getByRole('alert').waitFor();
  await form.getByLabel('Amount').fill('120');
  await form.getByRole('button', { name: 'Dispute' }).click();
  await form.waitFor({ state: 'detached' });

  await page.goto(`${address}/collections?tab=disputes`);
  const disputes = page.getByRole('table', { name: 'Disputes' });
  await disputes.getByText('The meter was read wrong').waitFor();
  await disputes.getByRole('button', { name: 'Resolve' }).click();
  await form.getByLabel('Outcome').selectOption('Upheld');
  await form.getByLabel('Remark').fill('Read again');
  await form.getByRole('button', { name: 'Resolve' }).click();
  await form.waitFor({ state: 'detached' });
  await disputes.getByText('Read again').waitFor();
  await assertAccessible(page);
  // 500 - 120 = 380.
  assert.equal(await place.owed(), 380);
});

test('approvals are offered to logins that may decide on them', { skip }, async () => {
  const place = await openOwing(scene, 'approvals');
  const { client } = place;
  await client.updateSettings({ data: { approvalLimit: 100 } });
  await place.pay({ amount: 500 });
  const refund = { partyID: 1, amount: 200, reference: 'F1', paymentMethod: 'Bank' as const };
  await refuses(client.refundPayment({ data: refund }), 'APPROVAL_REQUIRED');
  const roles = ['Billing Operator', 'Accountant', 'Billing Manager'] as const;
  const logins = roles.map((role) => ({
    ...{ username: `${role.replace(' ', '-')}@approvals.example`, name: role },
    ...{ password: adminPassword, roles: [role] },
  }));
  await client.makeLogins({ logins });
  const seen = [];
  for (const { username } of logins) {
    const { page } = await openScreen(scene, 'approvals', '/collections', username);
    await page.getByRole('tab', { name: 'Disputes' }).click();
    const tab = page.getByRole('tab', { name: 'Approvals' });
    const mayRead = (await tab.count()) === 1;
    if (mayRead) {
      await tab.click();
      await page.getByRole('cell', { name: 'F1' }).waitFor();
    }
    seen.push([mayRead, await page.getByRole('button', { name: 'Approve' }).count()]);
  }
  assert.deepEqual(seen, [
    [false, 0],
    // For a refund the permission payments:manage is missing.
    [true, 0],
    [true, 1],
  ]);
});

test('a report shows what its period has, and says so when the days are in the wrong order', {
  skip,
}, async () => {
  const place = await openOwing(scene, 'reports');
  await place.bill({ [await place.connectOld()]: 500 });
  await place.pay({ amount: 200 });
  const { page, address } = await openScreen(scene, 'reports', '/reports');
  const aging = page.getByRole('table', { name: 'Aging' });
  await aging.getByText('300.00').first().waitFor();
  await page.getByLabel('Report').selectOption('BillRegister');
  await page.getByRole('table', { name: 'Bill register' }).getByText('500.00').first().waitFor();
  await assertAccessible(page);
  const wrong = '/reports?report=Revenue&from=2026-09-01&to=2026-08-01';
  await page.goto(`${address}${wrong}`);
  await page.getByRole('alert').first().waitFor();
  await page.getByLabel('To', { exact: true }).fill('2026-09-30');
  await page.getByLabel('To', { exact: true }).press('Enter');
  await page.getByRole('alert').first().waitFor({ state: 'detached' });
});
