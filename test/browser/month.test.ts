// A metered month by keyboard alone: Tab, arrows, Enter, and the keys of the console.
import { after, test } from 'node:test';
import { findBrowser, visit } from '../support/browser.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { assertFocused, withKeyboard } from '../support/hands.ts';
import { openStreet } from '../support/metered-month.ts';
import { tellMoney } from '../support/month-money.ts';
import { monthReadings, tellMonth } from '../support/month-story.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene();
const equipment = openTestEquipment();
scene.runJobs({ equipment });
after(() => equipment.close());
const skip = findBrowser() === undefined;

test('an operator bills a metered month by keyboard alone and closes it', { skip }, async () => {
  const street = await openStreet(scene, 'month-by-key', monthReadings);
  const { page, address, assertClean } = await visit(scene, 'month-by-key');
  const hands = withKeyboard(page);
  await page.goto(address);
  await hands.type(page.getByLabel('User name or e-mail'), 'admin@month-by-key.example');
  await hands.type(page.getByLabel('Password', { exact: true }), adminPassword);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Bill runs' }).waitFor();
  const story = { hands, page, street, look: assertFocused };
  await tellMonth(story);
  await tellMoney(story);
  assertClean();
});
