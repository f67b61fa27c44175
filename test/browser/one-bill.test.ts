// Two people at one bill: what is typed stays until the person lets it go, and nothing is done
// twice unseen.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { generate, post } from '../support/bill-run.ts';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();
const skip = findBrowser() === undefined;
const changed = 'Another person changed this meanwhile';

/** A term with one draft of 500. */
async function openDraft(workspace: string) {
  const place = await openOwing(scene, workspace);
  const subscription = await place.connectOld();
  const termID = await place.openMonth({ [subscription]: 500 });
  await generate(place, termID);
  const [bill] = (await place.client.getBills({ termID })).data.bills;
  return { place, termID, billID: bill?.billID ?? 0 };
}

async function openDialog(page: Page, action: string) {
  await page.getByRole('button', { name: action, exact: true }).click();
  const dialog = page.getByRole('dialog', { name: action });
  await dialog.waitFor();
  return { dialog, send: dialog.getByRole('button', { name: action, exact: true }) };
}

/** What the server said, not the dialog. */
function refusal(dialog: Locator): Locator {
  return dialog.getByRole('alert').filter({ hasNotText: 'Nothing was sent yet' });
}

const creditNotes = async ({ client }: Owing, billID: number) =>
  (await client.getCreditNotes({ billID })).data.creditNotes.length;

test('a hold that is typed while another person posts the bill is neither lost nor done', {
  skip,
}, async () => {
  const { place, termID, billID } = await openDraft('bill-posted');
  const { page } = await openScreen(scene, 'bill-posted', `/bills/${billID}`);
  const { dialog, send } = await openDialog(page, 'Hold');
  const reason = dialog.getByLabel('Reason');
  await reason.fill('The meter was exchanged');
  await post(place, termID);
  await send.click();
  await dialog.getByText(changed).waitFor();
  assert.equal(await reason.inputValue(), 'The meter was exchanged');
  await assertAccessible(page);
  await send.click();
  await refusal(dialog).waitFor();
  assert.equal(await reason.inputValue(), 'The meter was exchanged');

  const asked: string[] = [];
  page.on('dialog', (one) => {
    asked.push(one.message());
    void one.accept();
  });
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.match(asked[0] ?? '', /What you typed will be lost/);
  await page.getByRole('button', { name: 'Cancel the bill' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Hold', exact: true }).count(), 0);
  const [bill] = (await place.client.getBills({ billID })).data.bills;
  assert.deepEqual([bill?.status, bill?.hold], ['Posted', 0]);
});

test('a hold that another person set is not released by the one who meant to set it', {
  skip,
}, async () => {
  const { place, billID } = await openDraft('bill-held');
  const { page } = await openScreen(scene, 'bill-held', `/bills/${billID}`);
  const { dialog, send } = await openDialog(page, 'Hold');
  await dialog.getByLabel('Reason').fill('To be looked at');
  await place.client.holdBill({ data: { billID, hold: true, reason: 'First' } });
  await send.click();
  await dialog.getByText(changed).waitFor();
  await send.click();
  await refusal(dialog).waitFor();
  const [bill] = (await place.client.getBills({ billID })).data.bills;
  assert.deepEqual([bill?.hold, bill?.holdReason], [1, 'First']);
});

test('what is typed about a draft stays when another person cancels its term', {
  skip,
}, async () => {
  const { place, termID, billID } = await openDraft('bill-gone');
  const { page } = await openScreen(scene, 'bill-gone', `/bills/${billID}`);
  const { dialog, send } = await openDialog(page, 'Hold');
  await dialog.getByLabel('Reason').fill('To be looked at');
  const reason = 'Wrong dates';
  await place.client.cancelTerm({ operation: 'schedule', data: { termID, reason } });
  await send.click();
  await dialog.getByRole('alert').waitFor();
  assert.equal(await dialog.getByLabel('Reason').inputValue(), 'To be looked at');
});

test('a credit that another person gave meanwhile is given again only after a warning', {
  skip,
}, async () => {
  const place = await openOwing(scene, 'bill-credit');
  const [bill] = await place.bill({ [await place.connectOld()]: 500 });
  const billID = bill?.billID ?? 0;
  const { page } = await openScreen(scene, 'bill-credit', `/bills/${billID}`);
  const { dialog, send } = await openDialog(page, 'Credit');
  await dialog.getByLabel('What is credited').selectOption('fee');
  await dialog.getByLabel('Amount').fill('100');
  await dialog.getByLabel('Reason').fill('Complaint 7');
  const given = { billID, reason: 'Complaint 7', lines: [{ component: 'fee', amount: '100' }] };
  await place.client.makeCreditNotes({ creditNotes: [given] });
  await send.click();
  await dialog.getByText(changed).waitFor();
  assert.equal(await creditNotes(place, billID), 1);
  assert.equal(await dialog.getByLabel('Amount').inputValue(), '100');
  await send.click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await creditNotes(place, billID), 2);
  assert.equal(await place.owed(), 300);
});

test('two people who cancel one bill cancel it once', { skip }, async () => {
  const place = await openOwing(scene, 'bill-cancel');
  const [bill] = await place.bill({ [await place.connectOld()]: 500 });
  const billID = bill?.billID ?? 0;
  const pages = await Promise.all(
    [1, 2].map(() => openScreen(scene, 'bill-cancel', `/bills/${billID}`)),
  );
  const dialogs = [];
  for (const { page } of pages) {
    const one = await openDialog(page, 'Cancel the bill');
    await one.dialog.getByLabel('Reason').fill('Wrong plan');
    dialogs.push(one);
  }
  await dialogs[0]?.send.click();
  await dialogs[0]?.dialog.waitFor({ state: 'detached' });
  await dialogs[1]?.send.click();
  await dialogs[1]?.dialog.getByText(changed).waitFor();
  await dialogs[1]?.send.click();
  if (dialogs[1]) await refusal(dialogs[1].dialog).waitFor();
  assert.equal(await dialogs[1]?.dialog.getByLabel('Reason').inputValue(), 'Wrong plan');
  assert.equal(await creditNotes(place, billID), 1);
  assert.equal(await place.owed(), 0);
});
