// What the server refuses is said in the dialog where it was typed, and goes through once it is
// corrected.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();
const skip = findBrowser() === undefined;

test('a plan with the code of another is refused in the dialog, and made with its own', {
  skip,
}, async () => {
  const { client, offer } = await openOwing(scene, 'taken-code');
  const { page, assertClean } = await openScreen(scene, 'taken-code', '/plans');
  await page.getByRole('button', { name: 'New plan' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Code').fill(offer.tariffCode);
  await dialog.getByLabel('Name').fill('Second plan');
  await dialog.getByRole('button', { name: 'Create the plan' }).click();
  await dialog
    .getByText(/already/)
    .first()
    .waitFor();
  await assertAccessible(page);
  assert.equal((await client.getTariffs({})).data.tariffs.length, 1);
  await dialog.getByLabel('Code').fill('SECOND');
  await dialog.getByRole('button', { name: 'Create the plan' }).click();
  await page.waitForURL(/\/plans\/\d+$/);
  const { tariffs } = (await client.getTariffs({})).data;
  assert.deepEqual(
    tariffs.map(({ tariffCode }) => tariffCode).sort(),
    [offer.tariffCode, 'SECOND'].sort(),
  );
  assertClean();
});

test('a dispute that another person has settled is not settled again', { skip }, async () => {
  const place = await openOwing(scene, 'settled-before');
  const [bill] = await place.bill({ [await place.connectOld()]: 500 });
  const disputes = [{ billID: bill?.billID ?? 0, amount: 300, reason: 'Read wrong' }];
  const { headers } = await place.client.makeDisputes({ disputes });
  const disputeID = Number(headers.get('x-resource-id'));
  const { page } = await openScreen(scene, 'settled-before', '/collections?tab=disputes');
  const row = page.getByRole('table', { name: 'Disputes' });
  await row.getByRole('button', { name: 'Resolve' }).click();
  await place.client.resolveDispute({ data: { disputeID, outcome: 'Rejected' } });
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Outcome').selectOption('Upheld');
  await dialog.getByLabel('Remark').fill('Read again');
  await dialog.getByRole('button', { name: 'Resolve' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('status').waitFor();
  await assertAccessible(page);
  assert.equal(await dialog.getByLabel('Remark').inputValue(), 'Read again');
  await page.reload();
  await row.getByText('Rejected').first().waitFor();
  assert.equal(await place.owed(), 500);
});
