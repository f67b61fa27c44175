// node bench/readings.ts [--meters 100000]: a workspace whose meters are all read once a month,
// each month in one call, through a real server process: rows a second, memory, and the lists after
// it.
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type Client, createClient } from '../sdk/client.ts';
import {
  cloneDatabase,
  dropDatabase,
  stopOwnCluster,
  theCluster,
} from '../test/support/cluster.ts';
import { newService, newTariff } from '../test/support/pricing.ts';
import { adminPassword, makeWorkspace } from '../test/support/scene.ts';
import { ask, launchServer, memoryOf, type Server, say, stopServer } from './served.ts';

const { values } = parseArgs({ options: { meters: { type: 'string', default: '100000' } } });
const total = Number(values.meters);
const months = ['31/01/2026', '28/02/2026', '31/03/2026', '30/04/2026'];
const firstNumber = 1_000_000;

const cluster = await theCluster();
const databaseName = await cloneDatabase(cluster);
const now = Temporal.Now.instant();
const tenantId = await makeWorkspace(cluster, databaseName, now, 'readings', {});
const owner = new pg.Client({ ...cluster.owner, database: databaseName });
let server: Server | undefined;
try {
  await owner.connect();
  server = await launchServer(cluster, databaseName);
  const billing = await loggedIn(server.port);
  await fill(billing);
  say(`filled          ${total} meters; server ${memoryOf(server, 'VmRSS')} MB`);
  for (const [index, readingDate] of months.entries()) {
    await readAll(billing, server, readingDate, (meter) => (index + 1) * 300 + (meter % 30));
  }
  await refuseAll(billing, server);
  await askAll(billing);
} finally {
  if (server) await stopServer(server);
  await owner.end();
  await dropDatabase(cluster, databaseName);
  await stopOwnCluster();
}

async function loggedIn(port: number): Promise<Client> {
  const baseUrl = `http://127.0.0.1:${port}`;
  const billing = createClient({ baseUrl, headers: { 'X-Workspace': 'readings' } });
  const username = 'admin@readings.example';
  const { data } = await billing.login({ username, password: adminPassword });
  billing.useToken(data.accessToken);
  return billing;
}

async function fill(billing: Client): Promise<void> {
  await billing.makeUsers({ userType: 'customer', users: [{ name: 'Asma Khan' }] });
  const connectionGroups = [{ connectionGroupLabel: 'House 1' }];
  await billing.updateUser({ user: { partyID: 1, connectionGroups } });
  await newTariff(billing as never, await newService(billing as never));
  await owner.query("select set_config('app.tenant', $1, false)", [String(tenantId)]);
  const stamps = "now(), 'bench', now(), 'bench'";
  const statements = [
    `insert into subscriptions (tenant_id, subscription_id, subscription_number, context_id,
       plan_id, batch_id, account_id, party_id, status, connection_date, address, plan_history,
       status_history, users, search_text, created_at, created_by, modified_at, modified_by, ts)
     select $1, n, 'S' || n, 1, 1, 1, 1, 1, 'Active', '2026-01-01',
       jsonb_build_object('city', 'Lahore', 'street', 'Street ' || n / 100), '[{}]', '[{}]', '[]',
       'S' || n, ${stamps}, 1
     from generate_series(1, $2::bigint) n`,
    `insert into meters (tenant_id, meter_id, number, brand, meter_type_id, purchase_date, mf,
       status, search_text, created_at, created_by, modified_at, modified_by, ts)
     select $1, n, ${firstNumber} + n, 'Itron', 1, '2024-01-01', 1, 'Active', '', ${stamps}, 1
     from generate_series(1, $2::bigint) n`,
    `insert into meter_assignments (tenant_id, assignment_id, meter_id, subscription_id,
       install_date, mf, created_at, created_by, modified_at, modified_by, ts)
     select $1, n, n, n, '2026-01-01', 1, ${stamps}, 1 from generate_series(1, $2::bigint) n`,
    `insert into assignment_registers (tenant_id, assignment_id, position, subscription_id, input)
     select $1, n, 1, n, 'energy' from generate_series(1, $2::bigint) n`,
    `insert into readings (tenant_id, reading_id, assignment_id, position, reading_date, value,
       reading_type, status, created_at, created_by, modified_at, modified_by)
     select $1, n, n, 1, '2026-01-01', 0, 'Installation', 'Accepted', ${stamps}
     from generate_series(1, $2::bigint) n`,
    `insert into counters (tenant_id, series, last_number)
     values ($1, 'reading', $2::bigint), ($1, 'assignment', $2::bigint)`,
  ];
  for (const statement of statements) await owner.query(statement, [tenantId, total]);
  await owner.query('analyze');
}

function rowsOf(readingDate: string, value: (meter: number) => number) {
  return Array.from({ length: total }, (_, meter) => ({
    number: firstNumber + meter + 1,
    value: String(value(meter)),
    readingDate,
  }));
}

async function readAll(
  billing: Client,
  server: Server,
  readingDate: string,
  value: (meter: number) => number,
): Promise<void> {
  const readings = rowsOf(readingDate, value);
  const began = performance.now();
  const { message } = await billing.makeReadings({ readings });
  const took = (performance.now() - began) / 1000;
  const rate = Math.round(total / took);
  const peak = memoryOf(server, 'VmHWM');
  say(`${readingDate}      ${message} in ${took.toFixed(2)} s: ${rate} rows/s; peak ${peak} MB`);
}

/** All of the rows are bad: each is named, up to what one answer names. */
async function refuseAll(billing: Client, server: Server): Promise<void> {
  const readings = rowsOf('31/12/2025', () => 1);
  const began = performance.now();
  const refusal = await billing.makeReadings({ readings }).then(
    () => undefined,
    (error) => error.error,
  );
  const took = ((performance.now() - began) / 1000).toFixed(2);
  const peak = memoryOf(server, 'VmHWM');
  say(
    `refused         ${refusal?.code}, ${refusal?.details.length} named, in ${took} s; peak ${peak} MB`,
  );
}

async function askAll(billing: Client): Promise<void> {
  const page = { pageNumber: 0, size: 100 };
  const questions: [string, Parameters<Client['getReadings']>[0]][] = [
    ['readings, first page', { page }],
    ['readings, page in the middle', { page: { ...page, pageNumber: Math.floor(total / 50) } }],
    ['of a meter', { number: firstNumber + 77 }],
    ['of a subscription', { connectionNumber: 'S77' }],
    ['under review', { status: 'Review', page }],
    ['of a day', { fromDate: '28/02/2026', toDate: '28/02/2026', page }],
    ['accepted, not in a term', { status: 'Accepted', page }],
  ];
  for (const [name, body] of questions) {
    await ask(name, async () => {
      const { data, headers } = await billing.getReadings(body);
      return { found: data.readings.length, total: headers.get('x-total-count') };
    });
  }
}
