// Services in a real browser: a manager changes the days to pay and adds a batch.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf, draftOf, placesInDraft } from '../../console/screens/services/service-draft.ts';
import { BillingError } from '../../sdk/client.ts';
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
  await page.getByRole('alert').first().waitFor();
  await assertAccessible(page);
  await page.getByLabel('Days to pay after the term').fill('21');
  await page.getByLabel('Reconnect when nothing is overdue any more').check();
  await page.getByRole('button', { name: 'Add a batch' }).click();
  await page.getByRole('region', { name: 'Batches' }).getByLabel('Code').last().fill('B02');
  await page.getByRole('button', { name: 'Save the service' }).click();
  await page.getByText('The service is saved').waitFor();
  const { dueDateOffset, dunning, batches = [] } = await shownService(client, code);
  assert.equal(dueDateOffset, 21);
  assert.equal(dunning?.reconnect, 1);
  assert.ok(batches.some(({ batchCode }) => batchCode === 'B02'));
  assertClean();
});

test('prepaid values without a balance to warn below are refused at that field', async () => {
  const client = await scene.workspace('console-prepaid');
  const service = await shownService(client, await newService(client));
  const draft = draftOf(service as never);
  const change = changesOf(service as never, { ...draft, prepaidDisconnect: true });
  const refused = await client.updateService({ service: change }).catch((error) => error);
  assert.ok(refused instanceof BillingError);
  const named = refused.error.details.map(({ field, message }) => [field ?? '', message]);
  const fields = named.map(([field = '', message]) => [field.replace('service.', ''), message]);
  assert.ok('prepaidLowBalance' in placesInDraft(Object.fromEntries(fields)), String(fields));
  // A balance that is emptied switches the watch off.
  const prepaid = { lowBalance: 100, templateID: 2, disconnect: 1, graceDays: 2 };
  const watched = { ...service, prepaid } as never;
  const off = changesOf(watched, { ...draftOf(watched), prepaidLowBalance: '' });
  assert.equal(off.prepaid, null);
});
