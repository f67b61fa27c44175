// Bills on hold when a term is posted. Calls answer at once here and jobs go on by themselves: the
// page of the term shows each outcome without a reload.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { july, openOffer } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ scheduleWaitSeconds: 0 });
const equipment = openTestEquipment();
scene.runJobs({ equipment });
after(() => equipment.close());
const skip = findBrowser() === undefined;

test('chosen bills are left for the next term, and a changed sum is confirmed anew', {
  skip,
}, async () => {
  const place = await openOffer(
    scene,
    'held-bills',
    { components: [{ name: 'fee', label: 'Fee', type: 'Charge' }] },
    { componentRules: [{ component: 'fee', formula: '310', prorate: 'Days' }] },
  );
  for (let index = 0; index < 3; index += 1) await place.connectOld();
  const termID = await place.open({ ...july, label: 'July', dueDate: '31/12/2027' });
  const { page } = await openScreen(scene, 'held-bills', `/terms/${termID}`);
  await page.getByRole('button', { name: 'Generate bills' }).click();
  const post = page.getByRole('button', { name: 'Post bills', exact: true });
  await post.and(page.locator(':enabled')).waitFor();

  const { bills } = (await place.client.getBills({ termID })).data;
  const choose = (index: number) => page.getByLabel(`Choose ${bills[index]?.billRefNo}`);
  await choose(0).check();
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Hold 1 bill' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Reason').fill('Rent is disputed');
  await form.getByRole('button', { name: /^Hold 1 bill, .*310\.00/ }).click();
  await form.waitFor({ state: 'detached' });

  await post.click();
  await form.getByLabel(/^Type the sum/).fill('620.00');
  const confirm = form.getByRole('button', { name: /^Post 2 bills/ });
  assert.equal(await confirm.isDisabled(), true);
  await form.getByLabel('Leave 1 bill for the next term').check();
  await assertAccessible(page);
  // Another operator holds one more bill.
  const billID = bills[1]?.billID ?? 0;
  await place.client.holdBill({ data: { billID, hold: true, reason: 'Reading to be checked' } });
  await confirm.click();
  await form
    .getByRole('alert')
    .getByText(/It now has 1 bills with charges of .*310\.00/)
    .waitFor();
  await form.getByLabel(/^Type the sum/).fill('310.00');
  await form.getByRole('button', { name: /^Post 1 bills/ }).click();
  await page.getByRole('button', { name: 'Publish bills' }).and(page.locator(':enabled')).waitFor();
  const posted = (await place.client.getBills({ termID })).data.bills;
  assert.deepEqual(
    posted.map(({ status }) => status),
    ['Hold', 'Hold', 'Posted'],
  );
  await page.getByRole('button', { name: 'Take the posting back' }).click();
  await form.getByRole('button', { name: /^Take back 1 bills, .*310\.00/ }).waitFor();
});
