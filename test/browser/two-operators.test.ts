// Two operators who change the same thing in two browsers: both see it, and nothing is lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { openRule, savePlan, typeFormula } from '../support/plan-editor.ts';
import { newService, newTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { allowLoopback, newSecret } from '../support/webhooks.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;

test('two people who change one plan choose what stays, and lose nothing', { skip }, async () => {
  const client = await scene.workspace('console-two');
  const serviceCode = await newService(client);
  const { tariffID } = await newTariff(client, serviceCode);
  const at = `/plans/${tariffID}`;
  const first = await openScreen(scene, 'console-two', at);
  const second = await openScreen(scene, 'console-two', at);
  await openRule(first.page, /^Energy/);
  await openRule(second.page, /^Energy/);
  await typeFormula(first.page, 'usage.energy * 40');
  await typeFormula(second.page, 'usage.energy * 50');
  await second.page.getByLabel('Description').last().fill('For shops');
  await savePlan(first.page, 2);
  await first.page.getByText(/Version 2 from/).waitFor();

  await savePlan(second.page, 2);
  const merge = second.page.getByRole('dialog', { name: 'Two people changed this plan' });
  const rule = merge.getByRole('region', { name: 'Rule energyCharge' });
  await rule.getByText('changed by both').waitFor();
  assert.match(await rule.innerText(), /usage\.energy \* 50[\s\S]*usage\.energy \* 40/);
  await assertAccessible(second.page);
  await rule.locator('label', { hasText: 'admin@' }).click();
  await merge.getByRole('button', { name: 'Continue with these choices' }).click();
  await savePlan(second.page, 3);
  await second.page.getByText(/Version 3 from/).waitFor();
  const [saved] = (await client.getTariffs({ tariffID })).data.tariffs;
  assert.deepEqual(
    [saved?.componentRules?.[0]?.formula, saved?.description],
    ['usage.energy * 40', 'For shops'],
  );
});

test('two people who edit one customer choose what stays, field by field', { skip }, async () => {
  const client = await scene.workspace('console-both');
  const contacts = ['+92 300 1111111', '+92 300 9999999'].map((contactValue) => ({
    contactType: 'Mobile',
    contactValue,
  }));
  await client.makeUsers({ userType: 'customer', users: [{ name: 'Asma Khan', contacts }] });
  const first = await openScreen(scene, 'console-both', '/customers/100001');
  const second = await openScreen(scene, 'console-both', '/customers/100001');
  for (const { page } of [first, second]) {
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
  }
  const [own, other] = [first.page.getByRole('dialog'), second.page.getByRole('dialog')];
  await own.getByLabel('Name').fill('Asma Khan-Malik');
  await own.getByLabel('City').fill('Lahore');
  await other.getByLabel('Name').fill('A. Khan');
  await other.getByLabel('Mobile').fill('+92 300 2222222');
  await own.getByRole('button', { name: 'Edit', exact: true }).click();
  await own.waitFor({ state: 'detached' });

  await other.getByRole('button', { name: 'Edit', exact: true }).click();
  const merge = other.getByRole('group', { name: 'Another person saved this while you typed' });
  const name = merge.getByRole('region', { name: 'Name' });
  assert.match(await name.innerText(), /A\. Khan[\s\S]*Asma Khan-Malik/);
  await assertAccessible(second.page);
  await name.locator('label', { hasText: 'admin@' }).click();
  await merge.getByRole('button', { name: 'Continue with these choices' }).click();
  await other.getByRole('button', { name: 'Edit', exact: true }).click();
  await other.waitFor({ state: 'detached' });
  const { user } = (await client.getUsers({ partyNumber: 100001 })).data;
  assert.deepEqual(
    [user.name, user.address?.city, user.contacts.map((one) => one.contactValue)],
    ['Asma Khan-Malik', 'Lahore', ['+92 300 2222222', '+92 300 9999999']],
  );
});

test('two people who change one webhook choose what stays', { skip }, async () => {
  allowLoopback();
  const client = await scene.workspace('console-hook-two');
  const url = 'http://127.0.0.1:9/hooks';
  await client.makeWebhooks({ webhooks: [{ url, secret: newSecret().secret, types: [] }] });
  const { page } = await openScreen(scene, 'console-hook-two', '/settings/webhooks/1');
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Description').fill('The ERP');
  await client.updateWebhook({ data: { webhookID: 1, url: `${url}/new` } });
  await form.getByRole('button', { name: 'Save' }).click();
  const merge = form.getByRole('group', { name: 'Another person saved this while you typed' });
  await merge.getByRole('button', { name: 'Continue with these choices' }).click();
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  const [saved] = (await client.getWebhooks({})).data.webhooks;
  assert.deepEqual([saved?.url, saved?.description], [`${url}/new`, 'The ERP']);
});

test('what is typed about a service stays while another person saves it', { skip }, async () => {
  const client = await scene.workspace('console-service');
  const code = await newService(client);
  const { page } = await openScreen(scene, 'console-service', `/services/${code}`);
  await page.getByLabel('Fewest days to pay').fill('9');
  await client.updateService({ service: { code, graceDays: 3 } });
  await page.getByRole('button', { name: 'Save the service' }).click();
  const merge = page.getByRole('group', { name: 'Another person saved this while you typed' });
  await merge.getByRole('button', { name: 'Continue with these choices' }).click();
  assert.equal(await page.getByLabel('Fewest days to pay').inputValue(), '9');
  await page.getByRole('button', { name: 'Save the service' }).click();
  await page.getByText('The service is saved').waitFor();
  const { services } = (await client.getServices({ serviceCode: code })).data;
  assert.deepEqual([services[0]?.minimumDaysToPay, services[0]?.graceDays], [9, 3]);
});
