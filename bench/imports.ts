// Rows a second of a CSV file of customers with subscriptions and meters, checks and all, beside a
// plain COPY of the rows that come of it into the same tables, in the same run.
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { type Client, createClient } from '../sdk/client.ts';
import { dateIn } from '../src/base/calendar.ts';
import { openDatabase, tenantTransact } from '../src/base/db/pool.ts';
import { importFile } from '../src/domain/imports/import-file.ts';
import { loaders } from '../src/operations/imports/kind-fields.ts';
import { type Cluster, cloneDatabase, dropDatabase, theCluster } from '../test/support/cluster.ts';
import { newService, newTariff } from '../test/support/pricing.ts';
import { adminPassword, makeWorkspace } from '../test/support/scene.ts';
import type { BenchOptions, BenchResult } from './result.ts';
import { launchServer, stopServer } from './served.ts';

const customers = 100_000;
const customersQuick = 10_000;

/** In the order in which they refer to each other. */
const tables = [
  'parties',
  'billing_accounts',
  'meters',
  'subscriptions',
  'meter_assignments',
  'assignment_registers',
  'readings',
];

export async function benchImports(options: BenchOptions): Promise<BenchResult> {
  const rows = options.quick ? customersQuick : customers;
  const cluster = await theCluster();
  const folder = await mkdtemp(join(tmpdir(), 'billwright-bench-'));
  const databases: string[] = [];
  try {
    const file = join(folder, 'customers.csv');
    for (let copy = 0; copy < 2; copy += 1) databases.push(await prepare(cluster));
    const [one = '', other = ''] = databases;
    await writeFile(file, customerFile(rows));
    const imported = await importCustomers(cluster, one, file);
    await copyOut(cluster, one, folder);
    const copied = await copyIn(cluster, other, folder);
    return {
      ratios: { import_vs_copy: copied / imported },
      figures: {
        import_customers_per_second: Math.round(rows / imported),
        copy_customers_per_second: Math.round(rows / copied),
      },
    };
  } finally {
    for (const database of databases) await dropDatabase(cluster, database);
    await rm(folder, { recursive: true, force: true });
  }
}

/** A database with a workspace, a service and a plan, always under the same ids. */
async function prepare(cluster: Cluster): Promise<string> {
  const database = await cloneDatabase(cluster);
  await makeWorkspace(cluster, database, Temporal.Now.instant(), 'bench', {});
  const server = await launchServer(cluster, database);
  try {
    const baseUrl = `http://127.0.0.1:${server.port}`;
    const billing = createClient({ baseUrl, headers: { 'X-Workspace': 'bench' } });
    const username = 'admin@bench.example';
    const { data } = await billing.login({ username, password: adminPassword });
    billing.useToken(data.accessToken);
    await makeOffer(billing);
  } finally {
    await stopServer(server);
  }
  return database;
}

export async function makeOffer(billing: Client): Promise<void> {
  const client = billing as Parameters<typeof newService>[0];
  const connectionInputs = [{ name: 'load', type: 'Number' as const }];
  const batches = [{ batchCode: 'B1' }];
  await newService(client, { code: 'ELEC', connectionInputs, batches });
  await newTariff(client, 'ELEC', { code: 'DOM', uniqueLabel: 'DOM' });
}

export function customerFile(rows: number): string {
  const header =
    'name,email,mobile,serviceCode,tariffCode,batchCode,connectionRefNo,connectionDate,city,' +
    'street,buildingNo,input.load,meterNumber,meterType,meterBrand,initialReading';
  const lines = Array.from({ length: rows }, (_, index) => {
    const person = `Customer ${index},c${index}@example.com,+92 300 ${1_000_000 + index}`;
    const place = `Lahore,Street ${Math.floor(index / 50)},${index % 50}`;
    const meter = `${10_000_000 + index},1,Itron,${index % 100_000}`;
    return `${person},ELEC,DOM,B1,REF-${index},01/03/2020,${place},5,${meter}`;
  });
  return `${[header, ...lines].join('\r\n')}\r\n`;
}

/** As the command line does it; the file is read within the time. */
export async function importCustomers(
  cluster: Cluster,
  name: string,
  path: string,
  tenantId = 1,
): Promise<number> {
  const connection = { ...cluster.owner, database: name };
  const database = openDatabase({ connection, name: 'bench import', max: 1 });
  const now = Temporal.Now.instant();
  const stamp = { at: now, by: 'bench' };
  const money = { currency: 'PKR', currencyDecimals: 2 };
  const zone = { timezone: 'Asia/Karachi', clockOffsetMs: 0 };
  const tenant = { tenantId, workspace: 'bench', ...zone, ...money };
  const today = dateIn(now, tenant.timezone);
  try {
    const began = performance.now();
    const done = await tenantTransact(database, tenantId, (tx) => {
      const bytes = () => createReadStream(path) as AsyncIterable<Uint8Array>;
      const file = { kind: 'Customers', name: null, encoding: null, bytes };
      const loader = loaders.Customers({ tx, tenant, today, stamp });
      const options = { isDryRun: false, isAgain: false, onProgress: () => {} };
      return importFile(tx, tenant, file, loader, options, stamp);
    });
    if (done.problems.length > 0) throw new Error(JSON.stringify(done.problems[0]));
    return (performance.now() - began) / 1000;
  } finally {
    await database.close();
  }
}

async function copyOut(cluster: Cluster, name: string, folder: string): Promise<void> {
  await connected(cluster, name, async (client) => {
    for (const table of tables) {
      const text = `copy (select ${await columnsOf(client, table)} from ${table}) to stdout`;
      await pipeline(client.query(to(text)), createWriteStream(join(folder, table)));
    }
  });
}

async function copyIn(cluster: Cluster, name: string, folder: string): Promise<number> {
  return connected(cluster, name, async (client) => {
    const began = performance.now();
    await client.query('begin');
    for (const table of tables) {
      const text = `copy ${table} (${await columnsOf(client, table)}) from stdin`;
      await pipeline(createReadStream(join(folder, table)), client.query(from(text)));
    }
    await client.query('commit');
    return (performance.now() - began) / 1000;
  });
}

/** COPY takes none for columns that PostgreSQL computes. As the superuser it passes the walls. */
async function columnsOf(client: pg.Client, table: string): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''
     order by attnum`,
    [table],
  );
  return rows.map((row) => row.name).join(', ');
}

async function connected<T>(
  cluster: Cluster,
  name: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ ...cluster.superuser, database: name });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
