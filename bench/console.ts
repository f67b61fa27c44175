// The first load of the console and of the portal, in Chromium: kilobytes, and the time until they
// can be used. The sizes are those of the same files compressed by gzip and by brotli.
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type Browser, chromium, type Page } from 'playwright-core';
import { createClient } from '../sdk/client.ts';
import { openDatabase } from '../src/base/db/pool.ts';
import { demo, makeDemo } from '../src/commands/demo/workspace.ts';
import { readConfig } from '../src/config.ts';
import { openContext } from '../src/context.ts';
import { chromiumProgram } from '../test/support/chromium.ts';
import {
  type Cluster,
  cloneDatabase,
  dropDatabase,
  environmentOf,
  stopOwnCluster,
  theCluster,
} from '../test/support/cluster.ts';
import type { BenchOptions, BenchResult } from './result.ts';
import { launchServer, stopServer } from './served.ts';

const workspace = 'demo';
const subscriptions = 9;
const customer = { username: 'customer@demo.example', password: 'a long pass phrase' };
const loadMs = 120_000;

/** Nothing where the machine has no Chromium. */
export async function benchConsole(_: BenchOptions): Promise<BenchResult> {
  const program = chromiumProgram();
  if (program === undefined) return { ratios: {}, figures: {} };
  const cluster = await theCluster();
  const databaseName = await cloneDatabase(cluster);
  await fill(cluster, databaseName);
  const server = await launchServer(cluster, databaseName);
  const browser = await chromium.launch({
    executablePath: program,
    args: ['--no-sandbox', '--host-resolver-rules=MAP *.localhost 127.0.0.1'],
  });
  try {
    await makeCustomer(server.port);
    const address = `http://${workspace}.localhost:${server.port}`;
    const operator = { url: `${address}/`, login: demo, shows: 'main h1' };
    const payer = { url: `${address}/portal`, login: customer, shows: 'main' };
    return {
      ratios: {},
      figures: {
        ...(await loadOf(browser, 'console', operator)),
        ...(await loadOf(browser, 'portal', payer)),
      },
    };
  } finally {
    await browser.close();
    await stopServer(server);
    await dropDatabase(cluster, databaseName);
  }
}

async function fill(cluster: Cluster, databaseName: string): Promise<void> {
  const context = await openContext(readConfig({ ...environmentOf(cluster, databaseName) }), {
    use: 'join',
    quiet: true,
  });
  const database = openDatabase({ ...context.owner, name: 'bench', max: 2 });
  await makeDemo(context, database, { workspace, subscriptions });
  await database.close();
}

async function makeCustomer(port: number): Promise<void> {
  const baseUrl = `http://127.0.0.1:${port}`;
  const client = createClient({ baseUrl, headers: { 'X-Workspace': workspace } });
  const { username, password } = demo;
  client.useToken((await client.login({ username, password })).data.accessToken);
  const { users } = (await client.listUsers({ page: { pageNumber: 0, size: 1 } })).data;
  const roles = ['Customer' as const];
  const partyNumber = users[0]?.partyNumber ?? 0;
  await client.makeLogins({ logins: [{ ...customer, name: 'Customer', roles, partyNumber }] });
}

type Visit = { url: string; login: { username: string; password: string }; shows: string };

/** Two loads: the first with an empty cache up to the login, the second with a session. */
async function loadOf(browser: Browser, name: string, { url, login, shows }: Visit) {
  const page = await browser.newPage();
  page.setDefaultTimeout(loadMs);
  const loaded = watch(page);
  const began = performance.now();
  await page.goto(url);
  await page.getByLabel('User name or e-mail').waitFor();
  const loginMs = performance.now() - began;
  await page.getByLabel('User name or e-mail').fill(login.username);
  await page.getByLabel('Password', { exact: true }).fill(login.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator(shows).first().waitFor();
  await page.waitForLoadState('networkidle');
  const bodies = await loaded();
  const again = performance.now();
  await page.goto(url);
  await page.locator(shows).first().waitFor();
  const againMs = performance.now() - again;
  await page.context().close();
  const sum = (compress: (body: Buffer) => Buffer) =>
    Math.round(bodies.reduce((bytes, body) => bytes + compress(body).length, 0) / 1000);
  return {
    [`${name}_first_load_gzip_kb`]: sum((body) => gzipSync(body)),
    [`${name}_first_load_brotli_kb`]: sum((body) => brotliCompressSync(body)),
    [`${name}_login_usable_ms`]: Math.round(loginMs),
    [`${name}_with_session_usable_ms`]: Math.round(againMs),
  };
}

/** The files that the page loads: scripts, styles, fonts and the page itself, not calls. */
function watch(page: Page): () => Promise<Buffer[]> {
  const bodies: Promise<Buffer>[] = [];
  page.on('response', (response) => {
    const kind = response.request().resourceType();
    if (['document', 'script', 'stylesheet', 'font', 'image'].includes(kind)) {
      bodies.push(response.body().catch(() => Buffer.alloc(0)));
    }
  });
  return () => Promise.all(bodies);
}

if (import.meta.main) {
  console.table((await benchConsole({ quick: false })).figures);
  await stopOwnCluster();
}
