// A browser that takes pictures of the console and keeps them small.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type Client, createClient } from '../../sdk/client.ts';
import { chromiumProgram } from '../support/chromium.ts';
import { root } from '../support/source.ts';
import { shrink } from './picture.ts';

const desk = { width: 1280, height: 800 };
export const phone = { width: 360, height: 740 };

const bytesMax = 150_000;

export type Login = { username: string; password: string };

export type Camera = {
  /** A browser of its own, logged in to a workspace. */
  enter(workspace: string, login: Login, options?: Look): Promise<Visitor>;
  close(): Promise<void>;
};

export type Look = { size?: { width: number; height: number }; colours?: 'light' | 'dark' };

export type Visitor = {
  page: Page;
  /** Opens a path of the console and waits until nothing more is loaded. */
  open(path: string): Promise<void>;
  /** Stores what is seen as docs/images/NAME.png. */
  shoot(name: string, size?: { width: number; height: number }): Promise<void>;
  leave(): Promise<void>;
};

/** Nothing is loaded, no text waits for its font, no chart still moves. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.evaluate('document.fonts.ready');
  const waiting = page.locator('.mantine-Skeleton-root:visible, .mantine-Loader-root:visible');
  await waiting.first().waitFor({ state: 'hidden' });
  await page.waitForTimeout(400);
}

export async function openCamera(port: number): Promise<Camera> {
  const program = chromiumProgram();
  if (program === undefined) throw new Error('No Chromium was found: name it in CHROMIUM_PATH.');
  const browser = await chromium.launch({
    executablePath: program,
    args: ['--no-sandbox', '--lang=en-GB', '--host-resolver-rules=MAP *.localhost 127.0.0.1'],
  });
  return {
    enter: (workspace, login, look) =>
      enter(browser, `http://${workspace}.localhost:${port}`, login, look),
    close: () => browser.close(),
  };
}

async function enter(
  browser: Browser,
  address: string,
  login: Login,
  { size = desk, colours = 'light' }: Look = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: size,
    colorScheme: colours,
    reducedMotion: 'reduce',
    // Pictures are put into pages.
    bypassCSP: true,
    locale: 'en-GB',
    timezoneId: 'Asia/Karachi',
  });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  await page.goto(address);
  const visitor: Visitor = {
    page,
    async open(path) {
      await page.goto(`${address}${path}`);
      await settle(page);
    },
    async shoot(name, wanted = size) {
      await page.setViewportSize(wanted);
      await settle(page);
      store(name, await page.screenshot({ animations: 'disabled', caret: 'hide' }));
      await page.setViewportSize(size);
    },
    leave: () => context.close(),
  };
  if (login.username === '') return visitor;
  await page.getByLabel('User name or e-mail').fill(login.username);
  await page.getByLabel('Password', { exact: true }).fill(login.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor({ state: 'detached' });
  await settle(page);
  return visitor;
}

/** The API of a workspace, logged in. */
export async function clientOf(port: number, workspace: string, login: Login): Promise<Client> {
  const baseUrl = `http://127.0.0.1:${port}`;
  const client = createClient({ baseUrl, headers: { 'X-Workspace': workspace } });
  const { username, password } = login;
  const { data } = await client.login({ username, password });
  client.useToken(data.accessToken);
  return client;
}

/** Refuses pictures that would make the repository heavy. */
export function store(name: string, png: Buffer): void {
  const small = shrink(png);
  if (small.length > bytesMax) throw new Error(`${name} has ${small.length} bytes`);
  writeFileSync(join(root, 'docs', 'images', `${name}.png`), small);
  console.log(`${name}.png  ${Math.round(small.length / 1000)} kB`);
}
