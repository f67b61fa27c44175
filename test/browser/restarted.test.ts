// The server dies while bills are generated and comes back: the page that stayed open shows the truth,
// and the bills are generated once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../sdk/client.ts';
import { demoLogin } from '../../src/domain/access/demo-login.ts';
import { findBrowser, logIn, visit } from '../support/browser.ts';
import { putToWork } from '../support/demo-at-work.ts';
import { freePort } from '../support/free-port.ts';
import { demoClient, openPlace, type Program, until } from '../support/program.ts';

const skip = findBrowser() === undefined;
const place = await openPlace();
const subscriptions = 2_000;
const longMs = 300_000;
/** Longer than a page would try by itself, if it gave up at all. */
const awayMs = 8_000;

test('a page stays open over a restart during generate, and nothing is done twice', {
  skip,
}, async () => {
  const env = {
    PORT: String(await freePort()),
    DEMO_SUBSCRIPTIONS: String(subscriptions),
    LOG_LEVEL: 'info',
    SCHEDULE_WAIT_SECONDS: '50',
  };
  const first = place.run(['start'], env);
  const baseUrl = await first.ready();
  const client = await atWork(first, baseUrl);
  const termID = (await client.getTerms({ status: 'Open' })).data.terms[0]?.termID ?? 0;
  const jobsOf = async (asking: Client) => {
    const { jobs } = (await asking.getJobs({ termID })).data;
    return jobs.filter(({ operation }) => operation === 'generate-bills');
  };
  await until(
    async () => (await jobsOf(client)).every(({ finishedAt }) => finishedAt),
    'the first run',
    longMs,
  );
  const runs = (await jobsOf(client)).length;

  const { page, address } = await visit({ baseUrl }, demoLogin.workspace);
  await page.goto(`${address}/terms/${termID}/generate`);
  await logIn(page, demoLogin.username, demoLogin.password);
  await page.getByRole('button', { name: 'Generate again' }).click();
  await until(async () => (await jobsOf(client)).length > runs, 'the job is there');
  await first.end('SIGKILL');
  // The page stays as it was for as long as that takes.
  await page.getByRole('status').getByText('The server does not answer').waitFor();
  await sleep(awayMs);
  await page.getByRole('heading', { name: 'Generate the bills' }).waitFor();

  const second = place.run(['start'], env);
  await second.ready();
  const after = await demoClient(baseUrl);
  await until(
    async () => (await jobsOf(after)).every(({ finishedAt }) => finishedAt),
    'it ends',
    longMs,
  );
  const jobs = await jobsOf(after);
  assert.deepEqual(
    jobs.map(({ status }) => status),
    Array.from({ length: runs + 1 }, () => 'Succeeded'),
  );
  // Without a reload: the same page, in the same session.
  const { summary } = (await after.getBillTerm({ billTermID: termID })).data;
  await page
    .getByRole('button', { name: 'Generate again' })
    .and(page.locator(':enabled'))
    .waitFor();
  await page.getByRole('tab', { name: 'Overview' }).click();
  const bills = page.locator('dt', { hasText: /^Bills$/ }).locator('xpath=../dd');
  await bills.getByText(String(summary.bills), { exact: true }).waitFor();
});

/** The demo with its year, and a term whose bills were generated. */
async function atWork(program: Program, baseUrl: string): Promise<Client> {
  const hasYear = () => program.output().includes('the demo has a year of bills');
  await until(hasYear, 'the demo has its year', longMs);
  const client = await demoClient(baseUrl);
  await putToWork(client);
  return client;
}
