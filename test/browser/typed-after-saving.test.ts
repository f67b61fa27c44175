// Typing goes on while a form is saved, and before the page has read the new version.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { newService } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;
const slowMs = 1_500;

/** Answers of an operation come late, so that there is time to type. */
async function slow(page: Page, operation: string): Promise<void> {
  await page.route(`**/${operation}`, async (route) => {
    await pause(slowMs);
    await route.continue();
  });
}

/** The button rests: all that was typed is saved, or the form asks something. */
async function clean(page: Page): Promise<void> {
  const resting = page.locator('button[type=submit]:disabled:not([data-loading])');
  await resting.or(page.getByText('Another person saved this while you typed')).first().waitFor();
}

const asked = (page: Page) => page.getByText('Another person saved this while you typed').count();

test('what is typed before a saved service is read again is saved next, without a question', {
  skip,
}, async () => {
  const client = await scene.workspace('typed-service');
  const code = await newService(client);
  const { page } = await openScreen(scene, 'typed-service', `/services/${code}`);
  const button = page.getByRole('button', { name: 'Save the service' });
  const saved = page.getByText('The service is saved');
  await page.getByLabel('Fewest days to pay').fill('9');
  await page.getByRole('button', { name: 'Add a batch' }).click();
  const batch = page.getByRole('region', { name: 'Batches' });
  await batch.getByLabel('Code').last().fill('B02');
  await slow(page, 'get-services');
  await button.click();
  await saved.first().waitFor();
  await page.getByLabel('Days before a late surcharge').fill('4');
  await batch.getByLabel('Label').last().fill('South');
  await button.click();
  await clean(page);
  assert.equal(await asked(page), 0);
  const [service] = (await client.getServices({ serviceCode: code })).data.services;
  assert.deepEqual([service?.minimumDaysToPay, service?.graceDays], [9, 4]);
  assert.deepEqual(
    service?.batches?.filter(({ batchCode }) => batchCode === 'B02').map(({ label }) => label),
    ['South'],
  );
});

test('what is typed while the settings are being saved stays, and is saved next', {
  skip,
}, async () => {
  const client = await scene.workspace('typed-settings');
  const { page } = await openScreen(scene, 'typed-settings', '/settings?tab=workspace');
  const button = page.getByRole('button', { name: 'Save the settings' });
  const saved = page.getByText('The settings are saved');
  await page.getByLabel('Name of the workspace').fill('City Power');
  await slow(page, 'update-settings');
  await button.click();
  await page.getByLabel('Country').fill('AE');
  await saved.first().waitFor();
  assert.equal(await page.getByLabel('Country').inputValue(), 'AE');
  await button.click();
  await clean(page);
  assert.equal(await asked(page), 0);
  const { settings } = (await client.getSettings()).data;
  assert.deepEqual([settings.name, settings.country], ['City Power', 'AE']);
});

test('what another person saved in the same field meanwhile is asked about', {
  skip,
}, async () => {
  const client = await scene.workspace('typed-letterhead');
  const { page } = await openScreen(scene, 'typed-letterhead', '/settings?tab=letterhead');
  await page.getByLabel('Phone').fill('042 111 222');
  await slow(page, 'get-settings');
  await page.getByRole('button', { name: 'Save the letterhead' }).click();
  await page.getByText('The letterhead is saved').first().waitFor();
  await client.updateSettings({ data: { letterhead: { phone: '042 333 444' } } });
  await page.getByLabel('Phone').fill('042 555 666');
  const merge = page.getByRole('group', { name: 'Another person saved this while you typed' });
  await merge.getByRole('button', { name: 'Continue with these choices' }).click();
  await page.getByRole('button', { name: 'Save the letterhead' }).click();
  await clean(page);
  const { settings } = (await client.getSettings()).data;
  assert.equal((settings.letterhead as Record<string, string>).phone, '042 555 666');
});
