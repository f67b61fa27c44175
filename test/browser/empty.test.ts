// Pages of one thing that has nothing yet, and addresses that name nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { findBrowser, logIn, visit } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { fee } from '../support/house.ts';
import { july, openOffer } from '../support/offer-place.ts';
import { openOwing } from '../support/owing.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;

async function assertSays(page: Page, address: string, says: Record<string, string>) {
  for (const [path, words] of Object.entries(says)) {
    await page.goto(`${address}${path}`);
    const said = page.getByText(words).first().waitFor({ timeout: 20_000 });
    await said.catch(() => assert.fail(`${path} does not say ${words}`));
  }
}

test('an empty term and a new customer say on each of their pages that nothing is there yet', {
  skip,
}, async () => {
  const place = await openOwing(scene, 'empty-pages');
  const termID = await place.openMonth({});
  const subscription = await place.connectOld();
  const username = 'customer@empty-pages.example';
  const login = { username, name: 'New', password: adminPassword, roles: ['Customer' as const] };
  await place.client.makeLogins({ logins: [{ ...login, partyNumber: place.party }] });
  const term = `/terms/${termID}`;
  const customer = `/customers/${place.party}`;
  const { page, address, assertClean } = await openScreen(scene, 'empty-pages', term);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  await assertSays(page, address, {
    [term]: 'No bills here',
    [`${term}?status=Hold`]: 'No bills here',
    [`${term}/population?show=Gone`]: 'No subscription here',
    [`${term}/readings`]: 'No register is left to be read',
    [`${term}/generate`]: 'Generate as often as you like',
    [`${term}/send`]: 'Generate the bills first',
    [`${term}/entry`]: 'Every meter of the batch is read',
    [`${term}/review`]: 'No reading waits for a decision',
    [`${term}/exceptions`]: 'Nothing keeps these bills from being posted',
    [`${term}/register`]: 'Nothing is generated yet',
    [`${customer}?tab=bills`]: 'No bills here',
    [`${customer}?tab=payments`]: 'No payments yet',
    [`${customer}?tab=deposits`]: 'No deposit',
    [`${customer}?tab=notes`]: 'No notes',
    [`/subscriptions/${subscription}?tab=bills`]: 'No bills here',
  });
  assertClean();
  const portal = await visit(scene, 'empty-pages');
  await portal.page.goto(portal.address);
  await logIn(portal.page, username);
  await portal.page.waitForURL((url) => url.pathname === '/portal');
  await assertSays(portal.page, portal.address, {
    '/portal': 'You owe nothing',
    '/portal/bills': 'Your first bill appears here when it is published.',
    '/portal/usage': 'No usage yet',
    '/portal/details': 'You reported no problem',
  });
});

test('a term whose service takes nothing by hand says so where values are typed', {
  skip,
}, async () => {
  const components = [{ name: 'fee', label: 'Fee', type: 'Charge' as const }];
  const tariff = { componentRules: [fee], usageData: [] };
  const { open } = await openOffer(scene, 'nothing-by-hand', { components }, tariff);
  const path = `/terms/${await open(july)}/values`;
  const { page } = await openScreen(scene, 'nothing-by-hand', path);
  await page.getByText('Nothing is entered by hand').waitFor();
});

test('an address that names nothing says so, and offers the way on', { skip }, async () => {
  const place = await openOwing(scene, 'no-such');
  await place.openMonth({});
  const { page, address } = await openScreen(scene, 'no-such', '/');
  await page.getByRole('heading', { name: 'Bill runs' }).waitFor();
  const paths = [
    ...['', '/readings', '/population', '/send'].map((tab) => `/terms/99999${tab}`),
    ...['/bills/99999', '/customers/99999', '/subscriptions/NONE-1', '/payments/99999'],
    ...['/bank/99999', '/plans/99999', '/services/NONE', '/settings/webhooks/99999'],
    ...['/groups/99999', '/meters/99999', '/readings/99999'],
  ];
  for (const path of paths) {
    await page.goto(`${address}${path}`);
    const said = page.getByRole('alert').or(page.getByText('No webhook has this number'));
    const isSaid = said.first().waitFor({ timeout: 20_000 });
    await isSaid.catch(() => assert.fail(`${path} says nothing`));
    assert.ok((await page.getByRole('navigation', { name: 'Main' }).count()) > 0, path);
    assert.doesNotMatch(await page.locator('main').innerText(), /undefined|NaN|\[object/, path);
  }
});
