// Import and export in a real browser: a file with other names of columns and a wrong row.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { importKinds } from '../../console/screens/files/import-columns.ts';
import { importPermissions, loaders } from '../../src/operations/imports/kind-fields.ts';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;

test('the import screen knows the kinds, columns and permissions of the server', () => {
  assert.deepEqual(Object.keys(importKinds).sort(), Object.keys(loaders).sort());
  for (const [kind, known] of Object.entries(importKinds)) {
    const name = kind as keyof typeof loaders;
    const { columns, requiredColumns } = loaders[name]({} as never);
    assert.deepEqual([...known.columns].sort(), [...columns].sort(), kind);
    assert.deepEqual([...known.required].sort(), [...requiredColumns].sort(), kind);
    assert.deepEqual(known.permissions, importPermissions[name], kind);
  }
});

test('an operator maps columns, corrects a rejected row, imports and exports', {
  skip,
}, async () => {
  const client = await scene.workspace('console-files');
  const { page, assertClean } = await openScreen(scene, 'console-files', '/files');
  await page.getByLabel('What the file holds').selectOption('Meters');
  const text =
    'Meter No;brand;meterType;purchaseDate;Shelf\r\n' +
    '40019001;Itron;Electric single phase;15/01/2024;A\r\n' +
    '40019002;Itron;Electric single phase;2024-13-15;B\r\n';
  const file = { name: 'meters.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
  const bad = { ...file, name: 'bad.csv', buffer: Buffer.from('number,brand\r\n1,5" pipe\r\n') };
  await page.locator('input[type=file]').setInputFiles(bad);
  await page.getByRole('alert').getByText('Around line 2').waitFor();
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByText('Choose a column of the file for: number').waitFor();
  await page.getByLabel('Meter No').selectOption('number');
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Check the file' }).click();

  // The row is rejected at its cell; its correction is checked, then imported.
  await page.getByRole('heading', { name: '1 row is rejected' }).waitFor();
  const cell = page.getByLabel('purchaseDate of line 3');
  assert.equal(await cell.getAttribute('aria-invalid'), 'true');
  await assertAccessible(page);
  await cell.fill('15/03/2024');
  // Another kind has other columns; what was corrected stays.
  await page.getByLabel('What the file holds').selectOption('Readings');
  await page.getByLabel('What the file holds').selectOption('Meters');
  await page.getByLabel('Meter No').selectOption('number');
  await page.getByRole('button', { name: 'Check the file' }).click();
  await page.getByRole('tabpanel').getByText('2 rows can be imported').waitFor();
  assert.equal((await client.getMeters({})).data.meters.meters.length, 0);
  await page.getByRole('button', { name: 'Import the file' }).click();
  await page.getByText('2 rows imported').first().waitFor();
  assert.equal((await client.getMeters({})).data.meters.meters.length, 2);

  await page.getByRole('tab', { name: 'Export' }).click();
  await page.getByRole('tabpanel').getByLabel('What the file holds').selectOption('Meters');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as CSV file' }).click();
  const saved = readFileSync(await (await download).path(), 'utf8');
  assert.match(saved, /40019002,Itron/);
  await assertAccessible(page);
  assertClean();
});
