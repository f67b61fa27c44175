// node bench/million.ts [--parties 1000000]: a workspace with a million parties. The whole list is
// streamed, and pages, searches and filters are asked for, from a real server process; then the
// plans of the same statements are shown as PostgreSQL runs them for the role that serves calls.
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type Client, createClient } from '../sdk/client.ts';
import type { Statement } from '../src/base/db/batch.ts';
import { type Tx, txOn } from '../src/base/db/tx.ts';
import {
  countParties,
  listPartiesAt,
  type PartyFilter,
  type PartySort,
} from '../src/domain/parties/store.ts';
import {
  type Cluster,
  cloneDatabase,
  dropDatabase,
  stopOwnCluster,
  theCluster,
} from '../test/support/cluster.ts';
import { adminPassword, makeWorkspace } from '../test/support/scene.ts';
import { ask, launchServer, type Server, say, seconds, stopServer, streamAll } from './served.ts';

const { values } = parseArgs({ options: { parties: { type: 'string', default: '1000000' } } });
const total = Number(values.parties);
const batch = 50_000;
const pageSize = 100;
/** Memory above idle that streaming the whole list may take. */
const memoryMb = 150;
const middle = Math.floor(total / 2);

type Place = {
  cluster: Cluster;
  databaseName: string;
  tenantId: number;
  owner: pg.Client;
};

async function main(): Promise<boolean> {
  const cluster = await theCluster();
  const databaseName = await cloneDatabase(cluster);
  const now = Temporal.Now.instant();
  const tenantId = await makeWorkspace(cluster, databaseName, now, 'million', {});
  const owner = new pg.Client({ ...cluster.owner, database: databaseName });
  const place = { cluster, databaseName, tenantId, owner };
  let server: Server | undefined;
  try {
    await owner.connect();
    await fill(place);
    server = await launchServer(cluster, databaseName);
    const { billing, token } = await loggedIn(server.port);
    const isFlat = await streamParties(server, token);
    const { rows } = await owner.query('select name from parties where party_id = $1', [middle]);
    for (const [name, body] of questions(rows[0].name)) {
      await ask(name, async () => {
        const { data, headers } = await billing.listUsers(body);
        return { found: data.users.length, total: headers.get('x-total-count') };
      });
    }
    await showPlans(place, rows[0].name);
    return isFlat;
  } finally {
    if (server) await stopServer(server);
    await owner.end();
    await dropDatabase(cluster, databaseName);
    await stopOwnCluster();
  }
}

/** As the owner, in one statement a batch: the triggers keep row_blocks as they do for calls. */
async function fill({ owner, tenantId }: Place): Promise<void> {
  const began = performance.now();
  await owner.query("select set_config('app.tenant', $1, false)", [String(tenantId)]);
  // Entries added one by one to these take most of the time; made at the end they are the same.
  const { rows: indexes } = await owner.query(
    `select indexname, indexdef from pg_indexes
     where tablename = 'parties' and indexdef like '%USING gin%'`,
  );
  for (const { indexname } of indexes) await owner.query(`drop index ${indexname}`);
  for (let first = 1; first <= total; first += batch) {
    const last = Math.min(total, first + batch - 1);
    await owner.query(insertBatch(), [tenantId, first, last]);
  }
  await owner.query(
    `insert into counters (tenant_id, series, last_number)
     values ($1, 'party', $2::bigint), ($1, 'party-number', 100000 + $2::bigint)`,
    [tenantId, total],
  );
  for (const { indexdef } of indexes) await owner.query(indexdef);
  await owner.query('vacuum analyze parties');
  await owner.query('analyze row_blocks');
  const { rows } = await owner.query(
    `select sum(live_rows) as live, sum(all_rows) as all, count(*) as blocks from row_blocks`,
  );
  const size = await owner.query(
    `select pg_size_pretty(pg_table_size('parties')) as heap,
       pg_size_pretty(pg_indexes_size('parties')) as indexes`,
  );
  say(`filled          ${total} parties in ${seconds(began)} s; ${JSON.stringify(rows[0])}`);
  say(`size            ${JSON.stringify(size.rows[0])}`);
}

async function loggedIn(port: number): Promise<{ billing: Client; token: string }> {
  const baseUrl = `http://127.0.0.1:${port}`;
  const billing = createClient({ baseUrl, headers: { 'X-Workspace': 'million' } });
  const username = 'admin@million.example';
  const { data } = await billing.login({ username, password: adminPassword });
  billing.useToken(data.accessToken);
  // Idle is after the first calls: code that every server loads once is not the list's.
  for (let i = 0; i < 50; i += 1) await billing.listUsers({ page: { pageNumber: i, size: 1000 } });
  return { billing, token: data.accessToken };
}

/** The whole list; true when it came whole and the server's memory stayed where it was. */
async function streamParties(server: Server, token: string): Promise<boolean> {
  const body = {
    method: 'Retrieve',
    action: 'List Parties',
    apiVersion: 'v2',
    page: null,
    metaData: { includeArchived: true },
  };
  const path = '/billing/users/list-users';
  const list = { workspace: 'million', token, path, body, marker: '"partyID":' };
  const { rows, announced, grownMb } = await streamAll(server, list);
  return rows === total && announced === total && grownMb <= memoryMb;
}

type Question = Parameters<Client['listUsers']>[0] & object;

function questions(name: string): [string, Question][] {
  const page = { pageNumber: 0, size: pageSize };
  const lastPage = Math.ceil(total / pageSize) - 1;
  const all = { includeArchived: true };
  return [
    ['first page', { page }],
    ['page in the middle', { page: { ...page, pageNumber: Math.floor(lastPage / 2) } }],
    ['last page, archived too', { page: { ...page, pageNumber: lastPage }, metaData: all }],
    ['page past the end', { page: { ...page, pageNumber: lastPage + 1 } }],
    ['name, few match', { page, name: name.slice(3) }],
    ['name, one in 8 matches', { page, name: 'qureshi' }],
    ['name, none match', { page, name: 'Xylophonist' }],
    ['name, two letters', { page, name: 'qu' }],
    ['search, a number', { page, metaData: { search: String(100_000 + middle) } }],
    ['email', { page, email: `PARTY${middle}@example.com` }],
    ['contactValue', { page, contactValue: contactOf(middle) }],
    ['partyID', { page, partyID: middle }],
    ['userType, 1 in 50', { page, userType: 'vendor' }],
    ['sorted by name', { page, metaData: { sortBy: 'name' } }],
    ['sorted by ts, newest first', { page, metaData: { sortBy: 'ts', sortOrder: 'desc' } }],
    ['changed lately', { page, metaData: { updatedSince: newestTs() - 1_000 } }],
  ];
}

function newestTs(): number {
  return 1_700_000_000_000 + total;
}

function contactOf(party: number): string {
  return `+92 3${String(party * 7_919)
    .padStart(9, '0')
    .slice(-9)}`;
}

/** The statements that the operation itself sends, explained as the role that serves calls. */
async function showPlans(place: Place, wanted: string): Promise<void> {
  const none: PartyFilter = {
    kind: null,
    name: null,
    email: null,
    contactValue: null,
    partyId: null,
    search: null,
    includeArchived: false,
    updatedSince: null,
  };
  const sort: PartySort = { by: 'partyID', descending: false };
  const cases: [string, PartyFilter, number][] = [
    ['page deep in the list', none, Math.floor(total * 0.98)],
    ['name, few match', { ...none, name: wanted.slice(3) }, 0],
    ['email', { ...none, email: `party${middle}@example.com` }, 0],
    ['contactValue', { ...none, contactValue: contactOf(middle) }, 0],
    ['partyID', { ...none, partyId: middle }, 0],
  ];
  for (const [name, filter, offset] of cases) {
    const sent: Statement[] = [];
    const tx = recorder(sent);
    await countParties(tx, place.tenantId, filter);
    await listPartiesAt(tx, place.tenantId, filter, sort, { offset, limit: pageSize });
    for (const { text, values } of sent) {
      say(`\n--- ${name}: ${text.replace(/\s+/g, ' ').trim().slice(0, 90)} ...`);
      await explain(place, 'billwright_api', text, [...values]);
    }
  }
  say('\n--- inside search_parties(), which runs as a role of its own');
  const inside = 'select party_id from parties where tenant_id = $1 and search_text like $2';
  await explain(place, 'billwright_search', inside, [
    place.tenantId,
    `%${wanted.slice(3).toLowerCase()}%`,
  ]);
}

/** Notes what the stores would send and sends nothing. */
function recorder(sent: Statement[]): Tx {
  return txOn({
    run: async (statement) => {
      sent.push(statement);
      return { command: '', rows: [], count: 0 };
    },
  });
}

async function explain(
  { owner, tenantId }: Place,
  role: 'billwright_api' | 'billwright_search',
  text: string,
  parameters: unknown[],
): Promise<void> {
  try {
    await owner.query('begin');
    await owner.query("select set_config('role', $1, true)", [role]);
    await owner.query("select set_config('app.tenant', $1, true)", [String(tenantId)]);
    const { rows } = await owner.query(
      `explain (analyze, buffers, costs off, timing off) ${text}`,
      parameters,
    );
    for (const row of rows) say(row['QUERY PLAN']);
  } finally {
    await owner.query('rollback');
  }
}

/** Names of three words: a common first and second one, and a third that few share. */
function insertBatch(): string {
  return `
    insert into parties (
      tenant_id, party_id, party_number, kind, name, email, country, contacts, search_text, archived,
      created_at, created_by, modified_at, modified_by, ts
    )
    select $1::bigint, i, 100000 + i,
      case when i % 50 = 0 then 'Vendor' when i % 20 = 1 then 'Employee' else 'Customer' end,
      name, email, 'PK',
      jsonb_build_array(jsonb_build_object('contactType', 'Mobile', 'contactValue', contact)),
      lower(concat_ws(E'\\n', name, 100000 + i, email, contact)), i % 100 = 99,
      now(), 'bench', now(), 'bench', 1700000000000 + i
    from generate_series($2::bigint, $3::bigint) i
    cross join lateral (
      select concat_ws(' ',
          (array['Ayesha', 'Bilal', 'Chen', 'Dana', 'Emeka', 'Fatima', 'Goran', 'Hina', 'Imran',
            'José', 'Kiran', 'Lars', 'Maryam', 'Noor', 'Omar', 'Priya', 'Rania', 'Sana', 'Tariq',
            'Uzma', 'Viktor', 'Wei', 'Yusuf', 'Zainab'])[1 + (i * 7) % 24],
          (array['Ahmed', 'Qureshi', 'Khan', 'Malik', 'Siddiqui', 'Butt', 'Chaudhry', 'Ó Briain'])
            [1 + (i * 31 / 24) % 8],
          initcap(translate(substr(md5(i::text), 1, 7), '0123456789abcdef', 'bakelimonurstwyz'))) as name,
        'party' || i || '@example.com' as email,
        '+92 3' || right('000000000' || (i * 7919), 9) as contact
    ) facts`;
}

const isGood = await main();
process.exit(isGood ? 0 : 1);
