// From an empty workspace to a bill without the API: service, plan, meter, customer, subscription.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const equipment = openTestEquipment();
scene.runJobs({ equipment });
after(() => equipment.close());
const skip = findBrowser() === undefined;

test('an empty workspace says on every screen what to do first', { skip }, async () => {
  await scene.workspace('set-up-empty');
  const { page, address, assertClean } = await openScreen(scene, 'set-up-empty', '/');
  const empty: Record<string, string> = {
    '/': 'No bill run yet',
    '/readings': 'No term is open',
    '/customers': 'No customer found',
    '/groups': 'No billing group yet',
    '/subscriptions': 'No subscription',
    '/payments': 'No payment',
    '/cash-desk': 'No cash desk yet',
    '/bank': 'No bank file yet',
    '/collections': 'No subscription is being dunned',
    '/collections?tab=disputes': 'No disputes',
    '/collections?tab=approvals': 'Nothing waits for approval',
    '/ledger?tab=journals': 'No journals here',
    '/reports?report=Aging': 'No rows',
    '/services': 'No service yet',
    '/plans': 'No plan',
    '/settings?tab=clients': 'No API client yet',
    '/settings?tab=webhooks': 'No webhook yet',
    '/settings?tab=gateways': 'No payment gateway yet',
    '/settings?tab=jobs': 'No job here',
  };
  await page.getByText('No bill run yet').waitFor();
  for (const [path, title] of Object.entries(empty)) {
    await page.goto(`${address}${path}`);
    await page.getByRole('heading', { name: title }).first().waitFor();
    assert.equal(await page.getByText(/\b(make|create|get|update)-[a-z]+/).count(), 0, path);
  }
  assertClean();
});

test('a manager sets up a metered service in the console alone, and bills it', {
  skip,
}, async () => {
  const client = await scene.workspace('set-up', { sandbox: true });
  const { page, address, assertClean } = await openScreen(scene, 'set-up', '/services');
  await makeService(page);
  await makePlan(page, address);
  const number = await makeCustomer(page, address);
  const [made] = (await client.getConnections({})).data.connections;
  assert.deepEqual([made?.connectionNumber, made?.tariffCode], [number, 'GAS-1']);
  assert.equal(made?.meters?.[0]?.number, 40010001);
  assertClean();
});

/** A code that is none is refused at its field; a second line of bills is added afterwards. */
async function makeService(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New service' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Code').fill('g a s');
  await form.getByLabel('Name').fill('Gas');
  await form.getByLabel('Unit').fill('m³');
  await form.getByLabel('First line of bills').fill('Gas');
  await form.getByLabel('Tax').fill('Sales tax');
  await form.getByRole('button', { name: 'Create the service' }).click();
  await form.getByRole('alert').waitFor();
  assert.equal(await form.getByLabel('Code').getAttribute('aria-invalid'), 'true');
  await assertAccessible(page);
  await form.getByLabel('Code').fill('gas');
  await form.getByLabel('Unit').fill('kWh');
  await form.getByRole('button', { name: 'Create the service' }).click();
  await page.getByRole('heading', { name: 'GAS · Gas' }).waitFor();
  const lines = page.getByRole('region', { name: 'Lines of bills' });
  await lines.getByRole('button', { name: 'Add a line' }).click();
  await lines.getByLabel('Name in formulas').last().fill('rent');
  await lines.getByLabel('Label').last().fill('Rent of the meter');
  await page.getByRole('button', { name: 'Save the service' }).click();
  await page.getByText('The service is saved').waitFor();
  await assertAccessible(page);
}

async function makePlan(page: Page, address: string): Promise<void> {
  await page.goto(`${address}/plans`);
  await page.getByRole('button', { name: 'New plan' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Code').fill('GAS-1');
  await form.getByLabel('Name').fill('Homes');
  await form.getByRole('button', { name: 'Create the plan' }).click();
  await page.getByRole('heading', { name: /GAS-1/ }).waitFor();
}

/** A meter, a customer, and the subscription that has both. */
async function makeCustomer(page: Page, address: string): Promise<string> {
  await page.goto(`${address}/subscriptions`);
  await page.getByRole('button', { name: 'Register a meter' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Meter number').fill('40010001');
  await form.getByLabel('Brand').fill('');
  await form.getByRole('button', { name: 'Register a meter' }).click();
  await form.getByRole('alert').waitFor();
  await assertAccessible(page);
  await form.getByLabel('Brand').fill('Itron');
  await form.getByRole('button', { name: 'Register a meter' }).click();
  await form.waitFor({ state: 'detached' });

  await page.goto(`${address}/customers`);
  await page.getByRole('button', { name: 'New customer' }).click();
  await form.getByLabel('Name').fill('Asma Khan');
  await form.getByRole('button', { name: 'New customer' }).click();
  await page.getByRole('heading', { name: 'Asma Khan' }).waitFor();
  await page.getByRole('button', { name: 'New subscription' }).click();
  await form.getByLabel('Meter number').fill('1');
  await form.getByRole('button', { name: 'Create the subscription' }).click();
  await form.getByRole('alert').waitFor();
  await assertAccessible(page);
  await form.getByLabel('Meter number').fill('40010001');
  await form.getByRole('button', { name: 'Create the subscription' }).click();
  await form.waitFor({ state: 'detached' });
  const row = page.getByRole('table', { name: 'Subscriptions' }).getByRole('link');
  return row.innerText();
}
