// Every role at every address of the console and the portal.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { permissionsOf, roleNames } from '../../src/domain/access/roles.ts';
import { findBrowser, logIn, visit } from '../support/browser.ts';
import { openOwing } from '../support/owing.ts';
import { adminPassword, openScene } from '../support/scene.ts';
import { addressesOf, type Found, screens } from '../support/screens.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;

/** But for the term, what they show is not there; whether they may be opened is asked before. */
const anything = {
  ...{ billID: 1, partyNumber: 1, connectionNumber: 'X', meterNumber: 1, paymentID: 1 },
  ...{ bankFileID: 1, planID: 1, serviceCode: 'X', webhookID: 1, billingGroupID: 1 },
};
const staffScreens = screens.filter((screen) => screen.for === 'staff');

test('no role sees or opens a screen that it may not use', { skip }, async () => {
  const place = await openOwing(scene, 'sweep-roles');
  const { client: admin, party: partyNumber } = place;
  const found = { ...anything, termID: await place.openMonth({}) };
  await admin.makeLogins({
    logins: roleNames.map((role) => ({
      username: usernameOf(role),
      name: role,
      password: adminPassword,
      roles: [role],
      ...(role === 'Customer' ? { partyNumber } : {}),
    })),
  });
  for (const role of roleNames) {
    const { page, address } = await visit(scene, 'sweep-roles');
    await page.goto(`${address}/login`);
    await logIn(page, usernameOf(role));
    await page.waitForURL((url) => url.pathname !== '/login');
    if (role === 'Customer') await assertPortalOnly(page, found);
    else await assertOwnScreens(page, role, found);
    await page.context().close();
  }
});

function usernameOf(role: string): string {
  return `${role.replace(' ', '-').toLowerCase()}@sweep-roles.example`;
}

async function assertOwnScreens(
  page: Page,
  role: (typeof roleNames)[number],
  found: Found,
): Promise<void> {
  const permissions = permissionsOf([role]) as ReadonlySet<string>;
  const navigation = page.getByRole('navigation', { name: 'Main' });
  await navigation.waitFor();
  const places = await navigation.getByRole('link').all();
  const offered = await Promise.all(places.map((place) => place.getAttribute('href')));
  for (const screen of staffScreens) {
    const [path = ''] = addressesOf({ ...screen, parts: [''] }, found);
    const isTerm = path.startsWith('/terms/');
    const needed = [screen.permission ?? '', ...(isTerm ? ['bills:read'] : [])];
    // From the start page a role is led to the first place that it may open.
    const mayOpen = screen.route === '/' || needed.every((name) => permissions.has(name));
    // What is shown is of this address and not of the one before.
    await goTo(page, '/nowhere');
    await page.getByText('No such page').waitFor();
    await goTo(page, path);
    const refusal = page.getByText('Your login may not open this page');
    const shown = page.locator('main h1, main [role=alert]').first();
    await refusal.or(shown).first().waitFor();
    assert.equal(await refusal.count(), mayOpen ? 0 : 1, `${role} at ${path}`);
    if (offered.includes(screen.route)) assert.ok(mayOpen, `${role} is offered ${screen.route}`);
  }
  await goTo(page, '/portal');
  await page.waitForURL((url) => url.pathname !== '/portal');
}

async function assertPortalOnly(page: Page, found: Found): Promise<void> {
  for (const screen of staffScreens) {
    const [path = ''] = addressesOf({ ...screen, parts: [''] }, found);
    await goTo(page, path);
    await page.waitForURL((url) => url.pathname === '/portal');
  }
}

/** As a link does: the page stays, and the map of the console decides. */
async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState({}, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
  await page.waitForLoadState('networkidle');
}
