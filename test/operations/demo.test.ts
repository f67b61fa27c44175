// The demo workspace: what it holds, as its API shows it, and the bill run through it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { RequestOf } from '../../sdk/client.ts';
import { openDatabase } from '../../src/base/db/pool.ts';
import { billCommand } from '../../src/commands/bill.ts';
import { demo, makeDemo } from '../../src/commands/demo/workspace.ts';
import { makeYear } from '../../src/commands/demo/year.ts';
import { readConfig } from '../../src/config.ts';
import { openContext } from '../../src/context.ts';
import { letterheadProblems } from '../../src/domain/documents/check-letterhead.ts';
import { pageCount, readPdf } from '../documents/pdf-reader.ts';
import { assertChecks } from '../support/checks.ts';
import { environmentOf } from '../support/cluster.ts';
import { openScene } from '../support/scene.ts';
import { root } from '../support/source.ts';

const scene = await openScene({ ownDatabase: true });
const config = readConfig({ ...environmentOf(scene.cluster, scene.databaseName) });
const opened = await openContext(config, { use: 'join', quiet: true });
const context = { ...opened, clock: scene.clock };
const owner = openDatabase({ ...context.owner, name: 'demo', max: 2 });

const subscriptions = 180;
for (const workspace of ['demo', 'again']) {
  await makeDemo(context, owner, { workspace, subscriptions });
}
await owner.close();
const admin = scene.visitor('demo');
const { username, password } = demo;
admin.useToken((await admin.login({ username, password })).data.accessToken);

test('five households in nine have parties with an account each', async () => {
  const { data, headers } = await admin.listUsers({ page: { pageNumber: 0, size: 1000 } });
  assert.equal(headers.get('x-total-count'), '100');
  assert.ok(data.users.every((user) => /^[A-Z][a-z]+ [A-Z][a-z]+$/.test(user.name ?? '')));
  const { user } = (await admin.getUsers({ partyNumber: 100_001 })).data;
  assert.equal(user.subscriptionGroups.length, 1);
  assert.deepEqual(
    user.subscriptions.map((one) => one.serviceCode),
    ['ELEC', 'WATER', 'SOC'],
  );
});

test('three contexts and their plans count every subscription', async () => {
  const services = (await admin.getServices({})).data.services;
  assert.deepEqual(
    services.map((service) => service.serviceCode),
    ['ELEC', 'WATER', 'SOC'],
  );
  const { tariffs } = (await admin.getTariffs({})).data;
  assert.deepEqual(Object.fromEntries(tariffs.map((plan) => [plan.tariffCode, plan.connCount])), {
    'RES-BASE': 0,
    'RES-A1': 90,
    'RES-A1-PRV': 10,
    'WAT-MET': 45,
    'WAT-TAP': 15,
    'SOC-FLAT': 20,
  });
});

test('meters are installed where they are read', async () => {
  const { headers } = await admin.getMeters({ status: 'Active', page: { pageNumber: 0, size: 1 } });
  assert.equal(headers.get('x-total-count'), '145');
  const { rows } = await scene.sql.query(
    `select count(*)::integer as readings, count(distinct assignment_id)::integer as meters,
       bool_and(consumption >= 0 or reading_type = 'Installation') as rising,
       count(*) filter (where consumption = 0)::integer as idle
     from readings where tenant_id = 1`,
  );
  // Of the meters whose number has the remainder 5 by 97, one reading is missing: 5 and 102.
  assert.deepEqual(rows, [{ readings: 145 * 13 - 2, meters: 145, rising: true, idle: 0 }]);
});

test('the same numbers give the same data', async () => {
  const tables = ['parties', 'billing_accounts', 'subscriptions', 'meters', 'readings'];
  for (const table of tables) {
    const { rows } = await scene.sql.query(
      `select count(distinct facts)::integer as kinds from (
         select md5(string_agg(fact, ',' order by fact)) as facts
         from ${table} t, lateral (
           select (to_jsonb(t) - '{tenant_id,created_at,modified_at,ts}'::text[])::text as fact
         ) one
         group by tenant_id
       ) each_tenant`,
    );
    assert.deepEqual(rows, [{ kinds: 1 }], table);
  }
});

test('what customers owe from before balances', async () => {
  const { rows } = await scene.sql.query(
    `select (select sum(amount) from journal_lines where tenant_id = 1) as lines,
       (select sum(amount) > 0 from subledger_entries where tenant_id = 1) as owed,
       (select sum(amount) from subledger_entries where tenant_id = 1)
         = (select sum(receivable) from subscription_balances where tenant_id = 1) as agrees`,
  );
  assert.deepEqual(rows, [{ lines: '0', owed: true, agrees: true }]);
});

test('demo run passes over terms that are cancelled or for single subscriptions', async (t) => {
  const batch = { serviceCode: 'ELEC', batchCode: 'B01' };
  const dates = { startDate: '01/01/2040', endDate: '31/01/2040' };
  const ahead = { ...batch, ...dates, label: 'Far ahead' };
  const made = await admin.makeTerm({ operation: 'schedule', data: ahead });
  const termID = Number(made.headers.get('x-term-id'));
  const runner = scene.runJobs();
  await admin.cancelTerm({ data: { termID, reason: 'too early' } });
  await runner.stop();
  const { connections } = (await admin.getConnections({ filters: batch })).data;
  const connectionNumbers = [connections[0]?.connectionNumber ?? ''];
  const single = { ...ahead, type: 'OffCycle' as const, connectionNumbers };
  await admin.makeTerm({ operation: 'schedule', data: single });

  const { settings } = (await admin.getSettings({})).data;
  const month = Temporal.PlainDate.from(settings.now.slice(0, 10)).subtract({ months: 1 });
  const { year, daysInMonth } = month;
  const ending = `${month.toString().slice(5, 7)}/${year}`;

  const waiting = await askElsewhere({ ...batch, ...dates, label: 'Elsewhere' });
  const output = await demoRun(t);
  assert.equal(await waiting(), 'Scheduled', 'jobs of other workspaces are left to their workers');
  // The first term is the last whole month.
  assert.match(output, new RegExp(`^Step 1 .*: 01/${ending} to ${daysInMonth}/${ending}$`, 'm'));
  assert.match(output, /^ +\d+ bills generated, 0 in error, 0 on hold$/m);
});

const reports = [
  ...['Aging', 'Collection', 'Revenue', 'TaxSummary', 'Consumption', 'UnreadMeters'],
  'BillRegister',
] as const;

test('after its year of bills and payments, every report of the demo has something to show', async () => {
  const months: number[] = [];
  await makeYear(context, 1, { onMonth: (done) => months.push(done) });
  assert.equal(months.length, 12);
  const page = { pageNumber: 0, size: 100 };
  const count = async (reply: Promise<{ headers: Headers }>) =>
    Number((await reply).headers.get('x-total-count'));
  const shown: Record<string, number> = {};
  const { settings } = (await admin.getSettings({})).data;
  const month = Temporal.PlainDate.from(settings.now.slice(0, 10)).subtract({ months: 1 });
  const [year, number] = month.toString().split('-');
  for (const report of reports) {
    const days = report === 'UnreadMeters' ? { fromDate: `01/${number}/${year}` } : {};
    shown[report] = await count(admin.getReport({ report, page, ...days }));
  }
  const payments = (status: 'Posted' | 'Reversed') => count(admin.getPayments({ status, page }));
  const lines = (status: 'Posted' | 'Unmatched') => count(admin.getBankLines({ status, page }));
  shown.payments = await payments('Posted');
  shown.bounced = await payments('Reversed');
  shown.journals = await count(admin.getJournals({ page }));
  shown.dunning = await count(admin.getDunning({ page }));
  shown.disputes = await count(admin.getDisputes({ page }));
  shown.postedLines = await lines('Posted');
  shown.unmatchedLines = await lines('Unmatched');
  const empty = Object.entries(shown).filter(([, rows]) => !(rows > 0));
  assert.deepEqual(empty, [], JSON.stringify(shown));

  // The customer in the sixth place pays late: bills with surcharges, which are paid too.
  const late = 'ELEC-00000100';
  const { data: statement } = await admin.getStatement({ connectionNumber: late });
  const types = new Set(statement.entries.map((one) => one.type));
  assert.deepEqual([...types].sort(), ['Bill', 'Payment', 'Surcharge']);
  const { data: ahead } = await admin.getStatement({ connectionNumber: 'ELEC-00000082' });
  assert.ok(
    ahead.entries.some((one) => one.type === 'Wallet'),
    'what was paid ahead pays bills',
  );
  const { data: desks } = await admin.getCashDesks({});
  assert.notEqual(desks.cashDesks[0]?.lastClosed ?? null, null);
  const { data: ledger } = await admin.getTrialBalance({ accountCode: 'SUSPENSE' });
  // 1,500 + 820 + 64.50 are of payers that are not known.
  assert.equal(ledger.accounts[0]?.balance, -2384.5);
  await assertChecks(scene, 1);
});

test('bill preview writes the newest bill, or a sample, with the letterhead of the workspace', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'billwright-preview-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'bill.pdf');
  const printed = t.mock.method(process.stdout, 'write', () => true);
  const preview = async (...line: string[]) => {
    await billCommand(config, ['preview', '--workspace', ...line, file]);
    const bytes = await readFile(file);
    assert.ok(pageCount(bytes) >= 1);
    const objects = [...readPdf(bytes).objects.values()].map(({ dictionary }) => dictionary);
    assert.ok(
      objects.some((one) => one.includes('/Subtype /Image')),
      'the logo',
    );
    return String(printed.mock.calls.at(-1)?.arguments[0]).replace(file, 'FILE');
  };
  const shows = (what: string) => `FILE shows ${what} with the present letterhead and template.\n`;
  assert.equal(await preview('again', '--service', 'WATER'), shows('a sample bill'));
  const page = { pageNumber: 0, size: 100 };
  const { bills } = (await admin.getBills({ serviceCode: 'ELEC', page } as never)).data;
  const newest = bills.toSorted((a, b) => b.billID - a.billID);
  const [one, other] = [newest[0], newest.at(-1)];
  assert.ok(one && other);
  assert.match(await preview('demo', '--service', 'ELEC'), /^FILE shows bill ELEC-/);
  assert.equal(
    await preview('demo', '--bill', `${other.billID}`),
    shows(`bill ${other.billNumber}`),
  );
  await rm(file);
  const refused: [string[], RegExp][] = [
    [['demo', '--bill', '999999'], /The workspace has no bill with the id 999999/],
    [['demo', '--service', 'WATER', '--bill', `${other.billID}`], /Service WATER has no bill with/],
    [['demo', '--service', 'NONE'], /No service has the code NONE/],
    [['nowhere'], /There is no workspace named 'nowhere'/],
  ];
  for (const [line, message] of refused) await assert.rejects(preview(...line), message);
  await assert.rejects(readFile(file), 'nothing is written');
  const { letterhead } = (await admin.getSettings({})).data.settings;
  assert.deepEqual(letterheadProblems(letterhead, 'letterhead'), []);
  const keys = ['addressLines', 'logo', 'name', 'phone', 'taxNumber'];
  assert.deepEqual(
    keys.filter((key) => !(key in letterhead)),
    [],
  );
});

/** Asks for a step in another workspace, and returns how its job is to be looked at. */
async function askElsewhere(data: RequestOf<'makeTerm'>['data']) {
  const { visitor } = await scene.anotherServer({ scheduleWaitSeconds: 0 });
  const client = visitor('again');
  client.useToken((await client.login({ username, password })).data.accessToken);
  const made = await client.makeTerm({ operation: 'schedule', data });
  const termID = Number(made.headers.get('x-term-id'));
  await client.postMeterReadings({ operation: 'schedule', data: { termID, reading: 'current' } });
  return async () => (await client.getJobs({ termID })).data.jobs[0]?.status;
}

/** What `billwright demo run` prints. */
async function demoRun(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'billwright-demo-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const own = { ...environmentOf(scene.cluster, scene.databaseName), BILLWRIGHT_DATA: folder };
  const options = { cwd: root, env: { ...process.env, ...own } };
  const run = promisify(execFile)(process.execPath, ['src/main.ts', 'demo', 'run'], options);
  const { stdout } = await run.catch((error) => assert.fail(`${error.message}\n${error.stdout}`));
  return stdout;
}
