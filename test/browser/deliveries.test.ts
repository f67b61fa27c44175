// Mails that failed are sent again from the page of the term.
import { afterEach, test } from 'node:test';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { schedule } from '../support/delivery.ts';
import { answer } from '../support/mail-server.ts';
import { closing, openMail, openPublished } from '../support/mail-worker.ts';
import { mailParties } from '../support/posted-term.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

test('all deliveries that failed are chosen together and sent again', { skip }, async () => {
  let isRefusing = true;
  await openMail(scene, {
    onRecipient: () => (isRefusing ? answer(550, 'No such user') : undefined),
  });
  const { client, termId } = await openPublished(scene, mailParties(3));
  await client.distributeBills(schedule(termId));
  const { page } = await openScreen(scene, client.workspace, `/terms/${termId}/send`);
  await page.getByRole('heading', { name: '3 deliveries failed' }).waitFor();
  await page.getByRole('button', { name: 'Choose all' }).click();
  await assertAccessible(page);
  isRefusing = false;
  await page.getByRole('button', { name: 'Send again (3)' }).click();
  await page.getByRole('heading', { name: '3 deliveries failed' }).waitFor({ state: 'detached' });
});
