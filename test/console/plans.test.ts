// Plans in a real browser: an analyst changes a price, sees the bill of it, and saves a version.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { functions } from '../../console/parts/formula-language.ts';
import { formulaFunctions } from '../../src/base/formula/functions.ts';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { formula, openRule, savePlan, typeFormula } from '../support/plan-editor.ts';
import { newService, newTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;

test('the editor knows every function of the formula language', () => {
  const ofBills = ['SUMCAT', 'HIST', 'HISTMAX', 'HISTAVG', 'HISTSUM', 'SUPER'];
  const known = Object.keys(functions).sort();
  assert.deepEqual(known, [...formulaFunctions.keys(), ...ofBills].sort());
});

test('an analyst corrects a formula, tries it, saves a version and compares', {
  skip,
}, async () => {
  const client = await scene.workspace('console-plans');
  const serviceCode = await newService(client);
  const { tariffID, code } = await newTariff(client, serviceCode);
  const { page, assertClean } = await openScreen(scene, 'console-plans', '/plans');
  await page.getByRole('link', { name: code, exact: true }).click();

  // 100 units at 20 are 2,000; with 10 % GST 2,200.
  const bill = page.getByRole('table', { name: 'Simulated bill' });
  await bill.getByText('2,200.00').waitFor();
  await openRule(page, /^Energy/);
  await assertAccessible(page);

  // A mistake is shown at its place while the plan is typed; completion offers the names.
  await typeFormula(page, 'usage.enrgy * 2');
  await page.getByText('did you mean `usage.energy`?').first().waitFor();
  assert.equal(await page.locator('.cm-lintRange-error').innerText(), 'usage.enrgy');
  assert.equal(await formula(page).getAttribute('aria-invalid'), 'true');
  await assertAccessible(page);
  await typeFormula(page, 'usage.en');
  await page.getByRole('option', { name: /usage\.energy/ }).click();
  await page.keyboard.type(' * 30');
  await bill.getByText('3,300.00').waitFor();
  await page.getByRole('button', { name: 'Why Energy?' }).click();
  await page.getByText('usage.energy * 30').last().waitFor();

  await savePlan(page, 2);
  await page.getByText(/Version 2 from/).waitFor();
  const [saved] = (await client.getTariffs({ tariffID })).data.tariffs;
  assert.equal(saved?.version, 2);
  assert.equal(saved?.componentRules?.[0]?.formula, 'usage.energy * 30');
  await page.getByRole('tab', { name: 'Versions' }).click();
  const changes = page.getByRole('table', { name: 'Changes between the versions' });
  const text = await changes.innerText();
  assert.match(
    text,
    /componentRules\.energyCharge\.formula\s+usage\.energy \* rate\s+usage\.energy/,
  );
  await assertAccessible(page);
  assertClean();
});
