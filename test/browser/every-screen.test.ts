// Every screen of the console and the portal, with the demo in the middle of a month: accessible in
// light, dark and from right to left, no wider than a phone, and without words of programs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { demoLogin } from '../../src/domain/access/demo-login.ts';
import { accessFaults, findBrowser, logIn, type Visit, visit } from '../support/browser.ts';
import { demoCustomer } from '../support/demo-at-work.ts';
import { type DemoProgram, startDemo } from '../support/demo-program.ts';
import { desk, excessWidth, phone, textFaults } from '../support/screen-faults.ts';
import { addressesOf, type Screen, screens, settled } from '../support/screens.ts';

const skip = findBrowser() === undefined;
const looks = [
  { language: 'en', schemes: ['light', 'dark'] },
  { language: 'ur', schemes: ['light'] },
] as const;
type Look = (typeof looks)[number];

let demo: DemoProgram;
before(async () => {
  if (!skip) demo = await startDemo();
});
after(() => demo?.stop());

test('the demo has something to show on every screen', { skip }, () => {
  const bare = screens.filter((screen) => addressesOf(screen, demo.found).length === 0);
  assert.deepEqual(bare, []);
});

for (const look of looks) {
  for (const person of ['visitor', 'staff', 'customer'] as const) {
    test(`every screen of a ${person} is sound in ${look.language}`, { skip }, async () => {
      const visited = await visit(demo, demoLogin.workspace);
      await enter(visited, person, look.language);
      const faults: string[] = [];
      for (const screen of screens.filter((one) => one.for === person)) {
        for (const path of addressesOf(screen, demo.found)) {
          await visited.page.setViewportSize(desk);
          await visited.page.goto(`${visited.address}${path}`);
          await settled(visited.page);
          faults.push(...(await faultsAt(visited.page, path, look)));
          if (!screen.parts) faults.push(...(await faultsInTabs(visited.page, screen, look)));
        }
      }
      assert.deepEqual(faults, []);
      visited.assertClean();
    });
  }
}

async function enter(visited: Visit, person: Screen['for'], language: string): Promise<void> {
  const { page, address } = visited;
  await page.goto(`${address}/login`);
  if (person !== 'visitor') {
    const { username, password } = person === 'staff' ? demoLogin : demoCustomer;
    await logIn(page, username, password);
    await page.waitForURL((url) => url.pathname !== '/login');
    await settled(page);
  }
  await page.evaluate(`localStorage.setItem('billwright-language', '${language}')`);
}

/** The tabs of a screen that have no entry of their own in the list of addresses. */
async function faultsInTabs(page: Page, screen: Screen, look: Look): Promise<string[]> {
  const faults: string[] = [];
  if (screen.route.startsWith('/terms/')) return faults;
  const tabs = page.locator('main').getByRole('tab');
  for (let index = 0; index < (await tabs.count()); index += 1) {
    const tab = tabs.nth(index);
    if ((await tab.getAttribute('aria-selected')) === 'true') continue;
    await page.setViewportSize(desk);
    await tab.click();
    await settled(page);
    faults.push(...(await faultsAt(page, `${screen.route} ${await tab.innerText()}`, look)));
  }
  return faults;
}

async function faultsAt(page: Page, place: string, look: Look): Promise<string[]> {
  const faults = await textFaults(page, look.language);
  for (const colorScheme of look.schemes) {
    await page.emulateMedia({ colorScheme });
    // On a phone the dark one, so that both widths are checked.
    await page.setViewportSize(colorScheme === 'dark' ? phone : desk);
    await settled(page);
    faults.push(...(await accessFaults(page)).map((fault) => `${colorScheme}: ${fault}`));
  }
  await page.setViewportSize(phone);
  await settled(page);
  const excess = await excessWidth(page);
  if (excess > 0) faults.push(`${excess} pixels too wide on a phone`);
  await page.emulateMedia({ colorScheme: 'light' });
  return faults.map((fault) => `${place}: ${fault}`);
}
