// Lists: in the order of a column, also where they are longer than a page, and saved in that order.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;
const customers = 130;

test('a list is put in the order of a column, up and down, and saved in that order', {
  skip,
}, async () => {
  const client = await scene.workspace('lists');
  const users = Array.from({ length: customers }, (_, index) => ({
    name: `Customer ${(index * 37) % customers}`,
  }));
  await client.makeUsers({ userType: 'customer', users });
  const { page, assertClean } = await openScreen(scene, 'lists', '/customers');
  const table = page.getByRole('table', { name: 'Customers' });
  const firstRow = table.locator('tbody tr:not([aria-hidden])').first();
  const head = table.getByRole('columnheader', { name: 'Name' });
  await page.getByText(`${customers} in all`).waitFor();
  assert.equal(await head.getAttribute('aria-sort'), null);
  await head.getByRole('button').click();
  await firstRow.getByText('Customer 0', { exact: true }).waitFor();
  assert.equal(await head.getAttribute('aria-sort'), 'ascending');
  await assertAccessible(page);
  await head.getByRole('button').press('Enter');
  await firstRow.getByText(`Customer ${customers - 1}`, { exact: true }).waitFor();
  assert.equal(await head.getAttribute('aria-sort'), 'descending');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as CSV' }).click();
  const lines = readFileSync(await (await download).path(), 'utf8')
    .trim()
    .split('\r\n');
  assert.equal(lines.length, customers + 1);
  assert.match(lines[1] ?? '', /^Customer 129,/);
  assert.match(lines.at(-1) ?? '', /^Customer 0,/);
  await head.getByRole('button').press('Enter');
  assert.equal(await head.getAttribute('aria-sort'), null);
  assertClean();
});
