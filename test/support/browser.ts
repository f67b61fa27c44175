// A real browser for tests of the console, driven by Playwright.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumProgram } from './chromium.ts';
import { adminPassword, type Scene } from './scene.ts';

/**
 * The browser's program; undefined where the machine has none. Under CI that is a failure. Each file
 * asks once: files share a process, and the browser is closed after the tests of each.
 */
export function findBrowser(): string | undefined {
  after(closeBrowser);
  const found = chromiumProgram();
  if (found === undefined) {
    const advice = 'No Chromium was found: install one, or name it in CHROMIUM_PATH.';
    if (process.env.CI === 'true') throw new Error(advice);
    console.error(`TESTS OF THE CONSOLE ARE SKIPPED. ${advice}`);
  }
  return found;
}

export type Visit = {
  page: Page;
  /** The address of the workspace's console. */
  address: string;
  /** Asserts that no script failed and no other host was asked, but for faults that are named. */
  assertClean(expected?: readonly string[]): void;
};

let browser: Browser | undefined;

async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = undefined;
}

/** A browser of its own, without cookies, at the console of a workspace. */
export async function visit(scene: Pick<Scene, 'baseUrl'>, workspace: string): Promise<Visit> {
  browser ??= await chromium.launch({
    executablePath: chromiumProgram() ?? '',
    args: [
      '--no-sandbox',
      // Chromium knows *.localhost by itself; the machine's resolver may not.
      '--host-resolver-rules=MAP *.localhost 127.0.0.1',
      // The console draws nothing that needs a graphics card, and to imitate one takes long.
      '--disable-gpu',
      '--disable-software-rasterizer',
    ],
  });
  const { port } = new URL(scene.baseUrl);
  const address = `http://${workspace}.localhost:${port}`;
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('request', (request) => {
    // The viewer of a PDF is the browser's own: chrome: and chrome-extension:.
    const isOwn = /^(blob|data|chrome[\w-]*):/.test(request.url());
    if (!isOwn && !request.url().startsWith(address)) faults.push(request.url());
  });
  return { page, address, assertClean: (expected = []) => assert.deepEqual(faults, expected) };
}

/** What breaks the rules of WCAG 2.2 A and AA, as far as axe can see. */
export async function accessFaults(page: Page): Promise<string[]> {
  const asked = {
    // The viewer of a PDF is the browser's own.
    context: { exclude: [['iframe']] },
    options: {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      // Only broken rules are looked at, and no rule of these tags reads stylesheets.
      resultTypes: ['violations'],
      preload: { assets: ['media'] },
    } satisfies axe.RunOptions,
  };
  // It stays in a page until another is loaded: reading it takes as long as a look around.
  const isThere = await page.evaluate(() => 'axe' in globalThis);
  if (!isThere) await page.evaluate(axe.source);
  return page.evaluate(async ({ context, options }) => {
    const { axe: inPage } = globalThis as unknown as { axe: { run: typeof axe.run } };
    const { violations } = await inPage.run(context, options);
    return violations.flatMap(({ nodes }) =>
      nodes.map(({ html, failureSummary }) => `${failureSummary} ${html}`),
    );
  }, asked);
}

export async function assertAccessible(page: Page): Promise<void> {
  assert.deepEqual(await accessFaults(page), [], await page.title());
}

/** The figures of a card, by its label. */
export function figure(page: Page, label: string) {
  return page.locator('dt', { hasText: new RegExp(`^${label}$`) }).locator('xpath=../dd');
}

export async function logIn(page: Page, username: string, password = adminPassword): Promise<void> {
  await page.getByLabel('User name or e-mail').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}
