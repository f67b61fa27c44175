// Services in a real browser: a manager changes the days to pay and adds a batch.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { newService, shownService } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;

test('a manager changes the days to pay of a service and adds a batch', { skip }, async () => {
  const client = await scene.workspace('console-services');
  const code = await newService(client);
  const { page, assertClean } = await openScreen(scene, 'console-services', '/services');
  await page.getByRole('link', { name: code, exact: true }).click();
  await page.getByLabel('Days to pay after the term').fill('soon');
  await page.getByRole('button', { name: 'Save the service' }).click();
  await page.getByRole('alert').waitFor();
  await assertAccessible(page);
  await page.getByLabel('Days to pay after the term').fill('21');
  await page.getByRole('button', { name: 'Add a batch' }).click();
  await page.getByRole('region', { name: 'Batches' }).getByLabel('Code').last().fill('B02');
  await page.getByRole('button', { name: 'Save the service' }).click();
  await page.getByText('The service is saved').waitFor();
  const { dueDateOffset, batches = [] } = await shownService(client, code);
  assert.equal(dueDateOffset, 21);
  assert.ok(batches.some(({ batchCode }) => batchCode === 'B02'));
  assertClean();
});
