// node bench/documents-run.ts [--bills 2000]: steps 8 and 9 as they run in production, with a server,
// a worker and a mail server in processes of their own. Publishing is compared with the bare
// rendering of the same bills in as many threads, sending with handing over mails that are ready.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type Client, createClient } from '../sdk/client.ts';
import { openDatabase, tenantTransact } from '../src/base/db/pool.ts';
import { createMailer } from '../src/base/mail/mailer.ts';
import type { StoredBill } from '../src/domain/delivery/bill-input.ts';
import { listBillsByIds } from '../src/domain/delivery/documents-store.ts';
import { type FrozenSetting, getNewestSetting } from '../src/domain/delivery/freeze-setting.ts';
import { openRenderer } from '../src/domain/delivery/renderer.ts';
import { tariffCases } from '../test/rating/tariff-cases.ts';
import type { TestClient } from '../test/support/client.ts';
import {
  type Cluster,
  cloneDatabase,
  dropDatabase,
  environmentOf,
  stopOwnCluster,
  theCluster,
} from '../test/support/cluster.ts';
import { adminPassword, makeWorkspace } from '../test/support/scene.ts';
import { saveTariffs } from '../test/support/tariffs.ts';
import { fillSubscriptions } from './billrun-rows.ts';
import { launchServer, type Server, say, stopServer } from './served.ts';

const { values } = parseArgs({ options: { bills: { type: 'string', default: '2000' } } });
const bills = Number(values.bills);
const connections = 10;
const threads = availableParallelism();
const workspace = 'bench';
const termID = 1;

async function main(): Promise<void> {
  const cluster = await theCluster();
  const databaseName = await cloneDatabase(cluster);
  const owner = new pg.Client({ ...cluster.owner, database: databaseName });
  await owner.connect();
  const children: ChildProcess[] = [];
  let server: Server | undefined;
  const folder = mkdtempSync(join(tmpdir(), 'billwright-bench-'));
  try {
    server = await launchServer(cluster, databaseName);
    const sink = spawn(process.execPath, [scriptOf('./mail-sink.ts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(sink);
    const smtpUrl = `smtp://127.0.0.1:${await firstLine(sink)}`;
    const env = { SMTP_URL: smtpUrl, SMTP_CONNECTIONS: String(connections) };
    children.push(await launchWorker(cluster, databaseName, { ...env, BILLWRIGHT_DATA: folder }));
    const { client, tenantId } = await fill(cluster, databaseName, owner, server);
    const steps = await runSteps(client, owner);
    const material = await readMaterial(cluster, databaseName, tenantId);
    const rendering = await renderBare(material);
    const mailing = await mailBare(material, smtpUrl, folder);
    say(`generate     ${steps.generate} bills a second`);
    say(`post         ${steps.post}`);
    say(`publish      ${steps.publish}`);
    say(`distribute   ${steps.distribute}`);
    say(`bare rendering in ${threads} threads        ${rendering}`);
    say(`bare mailing over ${connections} connections  ${mailing}`);
    say(`publish_vs_rendering   ${(steps.publish / rendering).toFixed(2)}`);
    say(`distribute_vs_mailing  ${(steps.distribute / mailing).toFixed(2)}`);
  } finally {
    for (const child of children.reverse()) await end(child);
    if (server) await stopServer(server);
    await owner.end();
    await dropDatabase(cluster, databaseName);
    await stopOwnCluster();
    rmSync(folder, { recursive: true, force: true });
  }
}

function scriptOf(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

async function firstLine(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout);
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error('it ended without a word');
}

async function launchWorker(
  cluster: Cluster,
  databaseName: string,
  env: Record<string, string>,
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [scriptOf('../src/main.ts'), 'work'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environmentOf(cluster, databaseName), ...env },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('worker ready')) break;
  }
  child.stdout.resume();
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Subscriptions of the residential plan with a term whose readings are locked. */
async function fill(
  cluster: Cluster,
  databaseName: string,
  owner: pg.Client,
  server: Server,
): Promise<{ client: Client; tenantId: number }> {
  const now = Temporal.Now.instant();
  const tenantId = await makeWorkspace(cluster, databaseName, now, workspace, {});
  const baseUrl = `http://127.0.0.1:${server.port}`;
  const client = createClient({ baseUrl, headers: { 'X-Workspace': workspace } });
  const username = `admin@${workspace}.example`;
  const { data } = await client.login({ username, password: adminPassword });
  client.useToken(data.accessToken);
  const one = tariffCases.cases.find((found) => found.id === 'ELEC');
  assert.ok(one);
  await saveTariffs(client as TestClient, one);
  const { rows } = await owner.query(
    `select c.context_id, b.batch_id, p.plan_id
     from pricing_contexts c
     join batches b on b.tenant_id = c.tenant_id and b.context_id = c.context_id
     join plans p on p.tenant_id = c.tenant_id and p.code = 'RES-A1'
     where c.tenant_id = $1 and b.code = 'DEFAULT'`,
    [tenantId],
  );
  const [contextId, batchId, planId] = ['context_id', 'batch_id', 'plan_id'].map((name) =>
    Number(rows[0][name]),
  ) as [number, number, number];
  await owner.query(
    `insert into terms (tenant_id, term_id, context_id, batch_id, billing_period_id, term_type,
       label, start_date, end_date, due_date, post_type, status, stage, readings_posted_at,
       created_at, created_by, modified_at, modified_by, ts)
     values ($1, $2, $3, $4, 1, 'Regular', 'Jul-2025', '2025-07-01', '2025-07-31', '2025-08-15',
       'Post Subscription', 'Open', 'ReadingsPosted', now() - interval '1 day', now(), 'bench',
       now(), 'bench', 1)`,
    [tenantId, termID, contextId, batchId],
  );
  await fillSubscriptions(owner, { tenantId, contextId, batchId, planId }, bills);
  await owner.query('analyze');
  return { client, tenantId };
}

type Rates = Record<'generate' | 'post' | 'publish' | 'distribute', number>;

async function runSteps(client: Client, owner: pg.Client): Promise<Rates> {
  const body = { operation: 'schedule' as const, data: { termID } };
  const rateOf = async (ask: () => Promise<{ headers: Headers }>) => {
    const jobId = Number((await ask()).headers.get('x-job-id'));
    for (;;) {
      const { rows } = await owner.query(
        `select status, error, outcome, extract(epoch from finished_at - started_at) as seconds
         from jobs where job_id = $1`,
        [jobId],
      );
      const [job] = rows;
      assert.notEqual(job.status, 'Failed', JSON.stringify(job.error));
      if (job.status === 'Succeeded') return Math.floor(bills / Number(job.seconds));
      await sleep(50);
    }
  };
  return {
    generate: await rateOf(() => client.generateBills(body)),
    post: await rateOf(() => client.postBills({ ...body, data: { termID, skipErrors: true } })),
    publish: await rateOf(() => client.publishBills(body)),
    distribute: await rateOf(() => client.distributeBills(body)),
  };
}

type Material = { setting: FrozenSetting; bills: StoredBill[] };

async function readMaterial(
  cluster: Cluster,
  databaseName: string,
  tenantId: number,
): Promise<Material> {
  const connection = { ...cluster.owner, database: databaseName };
  const database = openDatabase({ connection, name: 'bench', max: 1 });
  try {
    return await tenantTransact(database, tenantId, async (tx) => ({
      setting: await getNewestSetting(tx, tenantId, termID),
      bills: await listBillsByIds(
        tx,
        tenantId,
        Array.from({ length: bills * 2 }, (_, index) => index + 1),
      ),
    }));
  } finally {
    await database.close();
  }
}

async function renderBare({ setting, bills: some }: Material): Promise<number> {
  const renderer = openRenderer({ threads });
  await renderer.render(setting, some.slice(0, threads * 20), null);
  const began = performance.now();
  await renderer.render(setting, some, null);
  const rate = (some.length * 1_000) / (performance.now() - began);
  await renderer.close();
  return Math.floor(rate);
}

async function mailBare(material: Material, smtpUrl: string, folder: string): Promise<number> {
  const renderer = openRenderer({ threads: 1 });
  const [bill] = material.bills;
  assert.ok(bill);
  const { results } = await renderer.render(
    material.setting,
    [bill],
    new Map([[bill.bill_id, null]]),
  );
  await renderer.close();
  const made = results.get(bill.bill_id);
  assert.ok(made && 'bytes' in made && made.bytes);
  const content = Buffer.from(made.bytes);
  const mailFrom = { address: 'billing@example.com' };
  const mailer = createMailer({
    smtpUrl,
    smtpConnections: connections,
    mailFrom,
    dataFolder: folder,
  });
  const send = (index: number) =>
    mailer.send({
      key: { tenantId: 1, deliveryId: index },
      messageId: `<${index}@example.com>`,
      to: `c${index}@example.com`,
      subject: 'Your bill',
      text: made.mail?.text ?? '',
      attachments: [{ filename: 'bill.pdf', contentType: 'application/pdf', content }],
      date: Temporal.Now.instant(),
    });
  const began = performance.now();
  let next = 0;
  const lane = async () => {
    while (next < bills) assert.equal((await send(next++)).outcome, 'Sent');
  };
  await Promise.all(Array.from({ length: connections }, lane));
  const rate = (bills * 1_000) / (performance.now() - began);
  mailer.close();
  return Math.floor(rate);
}

await main();
