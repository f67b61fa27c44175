// Two operators who change the same thing in two browsers: both see it, and nothing is lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { newService, newTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;

function formula(page: Page) {
  return page.getByRole('textbox', { name: 'Formula', exact: true });
}

/** Replaces the text of an editor, as a person does. */
async function type(page: Page, text: string): Promise<void> {
  await formula(page).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.keyboard.type(text);
}

async function openRule(page: Page, name: RegExp): Promise<void> {
  await page.getByRole('region', { name: 'Rules' }).getByRole('button', { name }).click();
  await formula(page).waitFor();
}

async function save(page: Page, version: number): Promise<void> {
  await page.getByRole('button', { name: 'Save a version' }).click();
  await page.getByRole('button', { name: `Save version ${version}` }).click();
}

test('two people who change one plan choose what stays, and lose nothing', { skip }, async () => {
  const client = await scene.workspace('console-two');
  const serviceCode = await newService(client);
  const { tariffID } = await newTariff(client, serviceCode);
  const at = `/plans/${tariffID}`;
  const first = await openScreen(scene, 'console-two', at);
  const second = await openScreen(scene, 'console-two', at);
  await openRule(first.page, /^Energy/);
  await openRule(second.page, /^Energy/);
  await type(first.page, 'usage.energy * 40');
  await type(second.page, 'usage.energy * 50');
  await second.page.getByLabel('Description').last().fill('For shops');
  await save(first.page, 2);
  await first.page.getByText(/Version 2 from/).waitFor();

  await save(second.page, 2);
  const merge = second.page.getByRole('dialog', { name: 'Two people changed this plan' });
  const rule = merge.getByRole('region', { name: 'Rule energyCharge' });
  await rule.getByText('changed by both').waitFor();
  assert.match(await rule.innerText(), /usage\.energy \* 50[\s\S]*usage\.energy \* 40/);
  await assertAccessible(second.page);
  await rule.locator('label', { hasText: 'admin@' }).click();
  await merge.getByRole('button', { name: 'Continue with these choices' }).click();
  await save(second.page, 3);
  await second.page.getByText(/Version 3 from/).waitFor();
  const [saved] = (await client.getTariffs({ tariffID })).data.tariffs;
  assert.deepEqual(
    [saved?.componentRules?.[0]?.formula, saved?.description],
    ['usage.energy * 40', 'For shops'],
  );
});
