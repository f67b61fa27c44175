// Webhooks and payment gateways in a real browser: an administrator connects a program.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openBank } from '../support/bank.ts';
import { assertAccessible, figure, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { openReceiver } from '../support/receiver.ts';
import { openScene } from '../support/scene.ts';
import { allowLoopback, startSender } from '../support/webhooks.ts';

allowLoopback();
const scene = await openScene();
const skip = findBrowser() === undefined;
const closing: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closing) await close();
});

test('an administrator makes a webhook, sees a failed message, and sends it again', {
  skip,
}, async () => {
  const { tenantId, ...owing } = await openBank(scene, 'console-hooks');
  const receiver = await openReceiver(Buffer.alloc(0), () => Date.now());
  receiver.answer = () => ({ status: 503 });
  // One attempt alone, so that the message is given up at once.
  const sender = startSender(scene, tenantId, { retryAfter: () => null });
  closing.push(
    () => sender.stop(),
    () => receiver.close(),
  );
  const { page, assertClean } = await openScreen(scene, 'console-hooks', '/settings?tab=webhooks');
  await makeWebhook(page, receiver.url);
  await owing.pay({ amount: 25 });
  const messages = page.getByRole('table', { name: 'Messages' });
  await messages.getByText('Given up').waitFor();
  const row = messages.getByRole('row', { name: /payment\.created/ });
  await row.getByText('503', { exact: true }).waitFor();
  await assertAccessible(page);
  await row.getByRole('button', { name: '1 attempt' }).click();
  const attempts = page.getByRole('dialog', { name: 'Attempts of message 1' });
  await attempts.getByText('HTTP status 503').waitFor();
  await assertAccessible(page);
  await page.keyboard.press('Escape');

  receiver.answer = () => ({ status: 204 });
  await row.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('1 message will be sent').waitFor();
  await row.getByText('204', { exact: true }).waitFor();
  assert.equal(receiver.received.length, 2);
  assert.equal(receiver.received[0]?.id, receiver.received[1]?.id);
  await page.getByText('Given up', { exact: true }).last().click();
  await page.getByText('No message here').waitFor();
  await turnWebhook(page);
  await lookNarrow(page);
  await makeGateway(page);
  assertClean();
});

/** What the form refuses is at its field; the secret is made by the browser, and shown once. */
async function makeWebhook(page: Page, url: string): Promise<void> {
  await page.getByText('No webhook yet').waitFor();
  await assertAccessible(page);
  await page.getByRole('button', { name: 'New webhook' }).click();
  const form = page.getByRole('dialog', { name: 'New webhook' });
  const field = form.getByLabel('URL');
  await field.fill('https://10.1.2.3/hooks');
  await form.getByRole('button', { name: 'Create the webhook' }).click();
  await form.getByRole('alert').waitFor();
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  await assertAccessible(page);
  assert.match(await form.getByLabel('Secret').inputValue(), /^whsec_[A-Za-z0-9+/]{43}=$/);
  await field.fill(url);
  await form.getByLabel('Description').fill('The ERP');
  await form.getByRole('combobox', { name: 'Types of events' }).fill('payment.created');
  await form.getByRole('option', { name: 'payment.created' }).click();
  await form.getByRole('button', { name: 'Create the webhook' }).click();
  await page.getByRole('heading', { name: 'Webhook 1' }).waitFor();
  await page.getByText('The ERP').waitFor();
  assert.equal(await figure(page, 'Types of events').innerText(), 'payment.created');
}

async function turnWebhook(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Pause' }).click();
  await figure(page, 'Status').getByText('Paused').waitFor();
  await page.getByRole('button', { name: 'New secret' }).click();
  const form = page.getByRole('dialog', { name: 'New secret' });
  await form.getByLabel('Hours until the old secret ends').fill('999');
  await form.getByRole('button', { name: 'Use the new secret' }).click();
  await form.getByRole('alert').waitFor();
  await assertAccessible(page);
  await form.getByLabel('Hours until the old secret ends').fill('48');
  await form.getByRole('button', { name: 'Use the new secret' }).click();
  await figure(page, 'The old secret is valid until').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await figure(page, 'Status').getByText('Active').waitFor();
}

/** At 360 pixels nothing but tables is wider than the page; in Urdu it is read from the right. */
async function lookNarrow(page: Page): Promise<void> {
  await page.setViewportSize({ width: 360, height: 780 });
  for (const place of ['tab=webhooks', 'tab=gateways']) {
    await page.goto(new URL(`/settings?${place}`, page.url()).href);
    await page.getByRole('tabpanel').waitFor();
    await assertFits(page);
  }
  await page.goto(new URL('/settings/webhooks/1', page.url()).href);
  await page.getByRole('table', { name: 'Messages' }).waitFor();
  await assertFits(page);
  await assertAccessible(page);
  await page.setViewportSize({ width: 1440, height: 900 });
}

async function assertFits(page: Page): Promise<void> {
  const width = await page.evaluate('document.documentElement.scrollWidth');
  assert.ok(Number(width) <= 360, `${page.url()} is ${width} pixels wide`);
}

async function makeGateway(page: Page): Promise<void> {
  await page.goto(new URL('/settings?tab=gateways', page.url()).href);
  await page.getByRole('button', { name: 'New gateway' }).click();
  const form = page.getByRole('dialog', { name: 'New gateway' });
  await form.getByRole('button', { name: 'Create the gateway' }).click();
  const list = page.getByRole('table', { name: 'Payment gateways' });
  await list.waitFor();
  const url = await list.getByLabel('Notice URL').inputValue();
  assert.match(url, /^http:\/\/console-hooks\.localhost:\d+\/gateways\/console-hooks\/standard$/);
  await list.getByRole('button', { name: 'Pause' }).click();
  await list.getByText('Paused').waitFor();
  await list.getByRole('button', { name: 'New secret' }).click();
  await page.getByRole('button', { name: 'Use the new secret' }).click();
  await list.getByText('The old secret is valid until').waitFor();
  await assertAccessible(page);
}
