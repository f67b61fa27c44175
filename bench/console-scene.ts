// A workspace of a large utility, with a term whose bills are generated, and what serves it.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Client, createClient } from '../sdk/client.ts';
import { migrate, readMigrations } from '../src/base/db/migrate.ts';
import { openDatabase } from '../src/base/db/pool.ts';
import { demo, makeDemo } from '../src/commands/demo/workspace.ts';
import { readConfig } from '../src/config.ts';
import { openContext } from '../src/context.ts';
import {
  asSuperuser,
  type Cluster,
  cloneDatabase,
  dropDatabase,
  environmentOf,
  startCluster,
  stopOwnCluster,
  theCluster,
} from '../test/support/cluster.ts';
import { end, launchWorker } from './billrun-scene.ts';
import { launchServer, type Server, say, seconds, stopServer } from './served.ts';

export const workspace = 'large';
const unlimited = '1000000/1000000';
const lookMs = 1000;

export type LargeScene = {
  port: number;
  client: Client;
  termID: number;
  bills: number;
  databaseUrl: string;
  close(): Promise<void>;
};

export type LargeSizes = { subscriptions: number; parties: number };

const keptName = 'large_console';

/**
 * The term is that of the larger half of the electricity meters. With a folder the data stay there,
 * and the next call finds them.
 */
export async function openLarge(sizes: LargeSizes, folder?: string): Promise<LargeScene> {
  const stopKept = folder === undefined ? undefined : await startCluster({}, folder);
  const cluster = await theCluster();
  const isMade = stopKept !== undefined && (await hasDatabase(cluster, keptName));
  const databaseName = isMade ? keptName : await cloneDatabase(cluster);
  const owner = new pg.Client({ ...cluster.owner, database: databaseName });
  await owner.connect();
  let server: Server | undefined;
  let worker: ChildProcess | undefined;
  let isWhole = isMade;
  const close = async () => {
    if (worker) await end(worker);
    if (server) await stopServer(server);
    await owner.end();
    if (!stopKept || !isWhole) await dropDatabase(cluster, databaseName);
    else if (!isMade) await renameDatabase(cluster, databaseName, keptName);
    await stopKept?.();
    await stopOwnCluster();
  };
  try {
    if (isMade) await migrateAgain({ ...cluster.owner, database: databaseName });
    else await fill(cluster, databaseName, owner, sizes);
    const env = {
      SCHEDULE_WAIT_SECONDS: '0',
      RATE_LIMIT_TOKEN: unlimited,
      RATE_LIMIT_WORKSPACE: unlimited,
    };
    server = await launchServer(cluster, databaseName, env);
    worker = await launchWorker(cluster, databaseName, {});
    const client = await logIn(server.port);
    const { termID, bills } = isMade ? await findTerm(client) : await generateTerm(client);
    if (!isMade) await owner.query('vacuum analyze');
    isWhole = true;
    const databaseUrl = environmentOf(cluster, databaseName).DATABASE_URL ?? '';
    return { port: server.port, client, termID, bills, databaseUrl, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function migrateAgain(at: Cluster['owner']): Promise<unknown> {
  return readMigrations(new URL('../migrations/', import.meta.url)).then((all) => migrate(at, all));
}

async function hasDatabase(cluster: Cluster, name: string): Promise<boolean> {
  return asSuperuser(cluster, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    return rowCount === 1;
  });
}

async function renameDatabase(cluster: Cluster, name: string, to: string): Promise<void> {
  await asSuperuser(cluster, (client) => client.query(`alter database ${name} rename to ${to}`));
}

async function fill(
  cluster: Cluster,
  databaseName: string,
  owner: pg.Client,
  sizes: LargeSizes,
): Promise<void> {
  const began = performance.now();
  // Indexes for searching are made at the end: they come out the same, and sooner.
  const { rows: indexes } = await owner.query(
    `select indexname, indexdef from pg_indexes where indexdef like '%gin_trgm_ops%'`,
  );
  for (const { indexname } of indexes) await owner.query(`drop index ${indexname}`);
  const config = readConfig({ ...environmentOf(cluster, databaseName) });
  const context = await openContext(config, { use: 'join', quiet: true });
  const database = openDatabase({ ...context.owner, name: 'bench', max: 2 });
  const { subscriptions } = sizes;
  const tenantId = await makeDemo(context, database, { workspace, subscriptions });
  await database.close();
  await addParties(owner, tenantId, sizes.parties);
  say(`generated       ${subscriptions} subscriptions in ${seconds(began)} s`);
  for (const { indexdef } of indexes) await owner.query(indexdef);
  await owner.query('vacuum analyze');
  say(`indexed         after ${seconds(began)} s`);
}

/** Copies of customers, without subscriptions, until there are so many. */
async function addParties(owner: pg.Client, tenantId: number, parties: number): Promise<void> {
  await owner.query(`select set_config('app.tenant', $1, false)`, [String(tenantId)]);
  const { rows } = await owner.query(
    `select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
     where attrelid = 'parties'::regclass and attnum > 0 and not attisdropped
       and attgenerated = '' and attname not in ('party_id', 'party_number', 'search_text')`,
  );
  const { columns } = rows[0] as { columns: string };
  await owner.query(
    `with known as (select max(party_id) as last, max(party_number) as number from parties)
     insert into parties (party_id, party_number, search_text, ${columns})
     select last + n, number + n,
       lower(concat_ws(E'\\n', name, number + n, coalesce(email, ''))), ${columns}
     from known cross join lateral generate_series(1, $1::bigint - last) n
     join parties p on p.party_id = 1 + (n - 1) % last`,
    [parties],
  );
}

async function logIn(port: number): Promise<Client> {
  const baseUrl = `http://127.0.0.1:${port}`;
  const client = createClient({ baseUrl, headers: { 'X-Workspace': workspace } });
  const { username, password } = demo;
  const { data } = await client.login({ username, password });
  client.useToken(data.accessToken);
  return client;
}

async function findTerm(client: Client): Promise<{ termID: number; bills: number }> {
  const page = { pageNumber: 0, size: 1 };
  const termID = (await client.getTerms({ page })).data.terms[0]?.termID ?? 0;
  const { summary } = (await client.getBillTerm({ billTermID: termID, page })).data;
  return { termID, bills: summary.bills };
}

async function generateTerm(client: Client): Promise<{ termID: number; bills: number }> {
  const { settings } = (await client.getSettings()).data;
  const day = Temporal.PlainDate.from(settings.now.slice(0, 10)).with({ day: 1 });
  const start = day.subtract({ months: 1 });
  const text = (date: Temporal.PlainDate) => date.toString().split('-').reverse().join('/');
  const data = { serviceCode: 'ELEC', batchCode: 'B01', label: start.toString().slice(0, 7) };
  const days = { startDate: text(start), endDate: text(day.subtract({ days: 1 })) };
  const made = await client.makeTerm({ operation: 'schedule', data: { ...data, ...days } });
  const termID = Number(made.headers.get('x-term-id'));
  await run(client, termID, 'readings', () =>
    client.postMeterReadings({ operation: 'schedule', data: { termID, reading: 'estimated' } }),
  );
  await run(client, termID, 'bills', () =>
    client.generateBills({ operation: 'schedule', data: { termID } }),
  );
  const page = { pageNumber: 0, size: 1 };
  const { summary } = (await client.getBillTerm({ billTermID: termID, page })).data;
  return { termID, bills: summary.bills };
}

async function run(
  client: Client,
  termID: number,
  what: string,
  ask: () => Promise<{ headers: Headers }>,
): Promise<void> {
  const began = performance.now();
  const jobID = Number((await ask()).headers.get('x-job-id'));
  for (;;) {
    const page = { pageNumber: 0, size: 20 };
    const { jobs } = (await client.getJobs({ termID, page })).data;
    const job = jobs.find((one) => one.jobID === jobID);
    if (job?.status === 'Succeeded') break;
    if (job?.finishedAt) throw new Error(`${what}: ${job.error?.message}`);
    await sleep(lookMs);
  }
  say(`${what.padEnd(15)} of the term after ${seconds(began)} s`);
}
