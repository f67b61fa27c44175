// More of a service in a real browser: its conditions of payment, bills that wait, and a fee of dunning.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { newService, shownService } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;

test('a manager sets how a service bills, is paid and holds bills back', { skip }, async () => {
  const client = await scene.workspace('console-service-conditions');
  const code = await newService(client);
  const { page, assertClean } = await openScreen(
    scene,
    'console-service-conditions',
    `/services/${code}`,
  );
  const save = page.getByRole('button', { name: 'Save the service' });
  await page.getByLabel('A payment settles').selectOption('Latest First');
  await page.getByLabel('A late surcharge is calculated on').selectOption('UnpaidAmount');
  await page.getByLabel('The wallet pays when a bill is posted').uncheck();
  await page.getByLabel('The amount payable is rounded').selectOption('HalfUp');
  await page.getByLabel('Customers pay').selectOption('Prepaid');
  await page.getByLabel('Warn below this balance').fill('250');
  await page.getByRole('button', { name: 'Add a rule' }).click();
  const holds = page.getByRole('region', { name: 'Bills that wait for a person' });
  await holds.getByLabel('Name').fill('large');
  await holds.getByLabel('Formula').fill('bill.currant > 100000');
  await holds.getByLabel('Reason').fill('unusually large');
  await page.getByLabel('Security deposit', { exact: true }).fill('much');
  await save.click();
  await page.getByRole('alert').first().waitFor();
  assert.equal((await shownService(client, code)).paymentSettlementMethod, 'Chronology');
  await page.getByLabel('Security deposit', { exact: true }).fill('500');
  await save.click();
  await page.getByText('service.prepaid.templateID is required').nth(1).waitFor();
  await assertAccessible(page);
  const mail = (await client.getTemplates({ type: 'Email' })).data.templates[0];
  assert.ok(mail !== undefined);
  await page.getByLabel('Template of the warning').selectOption(String(mail.templateID));
  await save.click();
  await page.getByText('did you mean').nth(1).waitFor();
  await assertAccessible(page);
  await holds.getByLabel('Formula').fill('bill.current > 100000');
  await save.click();
  await page.getByText('The service is saved').waitFor();
  const saved = await shownService(client, code);
  assert.equal(saved.paymentSettlementMethod, 'Latest First');
  assert.equal(saved.lateFeeBasis, 'UnpaidAmount');
  assert.equal(saved.autoApplyWallet, 0);
  assert.equal(saved.chargingType, 'Prepaid');
  assert.deepEqual(saved.billRounding, { mode: 'HalfUp', scale: 0 });
  assert.equal(Number(saved.prepaid?.lowBalance), 250);
  assert.equal(Number(saved.securityDeposit), 500);
  assert.deepEqual(saved.holdRules, [
    { name: 'large', when: 'bill.current > 100000', reason: 'unusually large' },
  ]);
  assertClean();
});

test('a dunning step charges a fee on a line of the bill', { skip }, async () => {
  const client = await scene.workspace('console-service-fee');
  const code = await newService(client);
  const line = (await shownService(client, code)).components?.[0];
  assert.ok(line !== undefined);
  const { page, assertClean } = await openScreen(scene, 'console-service-fee', `/services/${code}`);
  await page.getByRole('button', { name: 'Add a step' }).click();
  const steps = page.getByRole('region', { name: 'Dunning steps' });
  await steps.getByLabel('Action').selectOption('Fee');
  await page.getByRole('button', { name: 'Save the service' }).click();
  await page.getByRole('alert').first().waitFor();
  await steps.getByLabel('Line of the bill').selectOption(line.name);
  await steps.getByLabel('Amount').fill('75.50');
  await page.getByRole('button', { name: 'Save the service' }).click();
  await page.getByText('The service is saved').waitFor();
  const [step] = (await shownService(client, code)).dunning?.steps ?? [];
  assert.equal(step?.action, 'Fee');
  assert.equal(step?.component, line.name);
  assert.equal(Number(step?.amount), 75.5);
  assertClean();
});
