// The database that the program is given: brought up to date by many at once, refused when it is
// not safe, and served from by processes of their own.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { createClient } from '../../sdk/client.ts';
import { migrate, readMigrations } from '../../src/base/db/migrate.ts';
import { openDatabase, transact } from '../../src/base/db/pool.ts';
import { cloneDatabase, dropDatabase, stopOwnCluster, theCluster } from '../support/cluster.ts';
import { finish, openPlace, until } from '../support/program.ts';

const cluster = await theCluster();
const place = await openPlace();
const superuser = new pg.Client({ ...cluster.superuser, database: 'postgres' });
await superuser.connect();
const made: string[] = [];

after(async () => {
  for (const name of made) await dropDatabase(cluster, name);
  await superuser.query('drop role if exists test_careless, test_member, test_plain');
  await superuser.query('drop role if exists "Test Poor"');
  await superuser.end();
  await stopOwnCluster();
});

async function emptyDatabase(name: string): Promise<string> {
  const own = `${name}_${process.pid}`;
  await superuser.query(`create database ${own} owner billwright`);
  made.push(own);
  return own;
}

async function migratedDatabase(): Promise<string> {
  const name = await cloneDatabase(cluster);
  made.push(name);
  return name;
}

/** The form of a url that names a socket's folder. */
function url(database: string, user = 'billwright'): string {
  return `postgresql://${user}@/${database}?host=${encodeURIComponent(cluster.owner.host)}`;
}

// The cluster of the tests does without fsync, which the program refuses unless told otherwise.
const lenient = { BILLWRIGHT_ALLOW_UNSAFE_DATABASE: '1' };

function command(args: string[], env: Record<string, string>) {
  return finish(place.run(args, env));
}

// biome-ignore lint/suspicious/noExplicitAny: rows are whatever the statement says.
async function ask(database: string, text: string): Promise<any[]> {
  const client = new pg.Client({ ...cluster.owner, database });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

test('three programs that migrate an empty database at once all succeed, and it is done once', async () => {
  const name = await emptyDatabase('empty');
  const env = { ...lenient, DATABASE_URL: url(name) };
  const all = await Promise.all([1, 2, 3].map(() => command(['migrate'], env)));
  for (const { code, output } of all) {
    assert.match(output, /^The database is up to date\.$/m);
    assert.equal(code, 0);
  }
  const migrated = all.filter(({ output }) => output.includes('database migrated'));
  assert.equal(migrated.length, 1, 'one of them did the work');
  const rows = await ask(name, 'select version from schema_migrations order by version');
  const known = await readMigrations(new URL('../../migrations/', import.meta.url));
  assert.deepEqual(
    rows.map((row) => row.version),
    known.map((migration) => migration.version),
  );
});

test('a database newer than the program, and a migration that was changed, are refused', async () => {
  const name = await migratedDatabase();
  const env = { ...lenient, DATABASE_URL: url(name) };
  await ask(name, `insert into schema_migrations values (9001, 'from_the_future', 'x', now())`);
  const newer = await command(['serve'], env);
  assert.equal(newer.code, 1);
  assert.match(
    newer.output,
    /^billwright: The database is at version 9001 \(from_the_future\), newer than this program/m,
  );
  await ask(name, 'delete from schema_migrations where version = 9001');
  await ask(name, `update schema_migrations set checksum = 'other' where version = 2`);
  const changed = await command(['migrate'], env);
  assert.equal(changed.code, 1);
  assert.match(changed.output, /Migration 2 \(access\) was changed after this database ran it/);
  assert.match(changed.output, /Export its data with that build, or start with a new folder/);
});

test('a database that an earlier build made with other migrations is refused with what to do', async () => {
  const name = await migratedDatabase();
  const env = { ...lenient, DATABASE_URL: url(name) };
  const advice = /an earlier build\. Export its data with that build, or start with a new folder/;
  await ask(name, `insert into schema_migrations values (9060, 'routable', 'x', now())`);
  await ask(name, 'delete from schema_migrations where version = 13');
  const removed = await command(['serve'], env);
  assert.equal(removed.code, 1);
  assert.match(
    removed.output,
    /The database has run migration 9060 \(routable\), which this program/,
  );
  assert.match(removed.output, advice);
  await ask(name, `update schema_migrations set checksum = 'other' where version < 10`);
  const changed = await command(['migrate'], env);
  assert.equal(changed.code, 1);
  assert.match(changed.output, /Migration 1 \(tenancy\) was changed after this database ran it/);
  assert.match(changed.output, advice);
});

test('a migration that fails leaves nothing half done, and the next run goes on from there', async () => {
  const name = await emptyDatabase('failing');
  const connection = { ...cluster.owner, database: name };
  const first = { version: 1, name: 'good', sql: 'create table a (x integer)', checksum: 'a' };
  const bad = {
    version: 2,
    name: 'bad',
    sql: 'create table b (x integer); select 1 / 0',
    checksum: 'b',
  };
  await assert.rejects(migrate(connection, [first, bad]), /^Error: Migration 2 \(bad\) failed$/);
  const tables = await ask(name, `select relname from pg_class where relname in ('a', 'b')`);
  assert.deepEqual(tables, [{ relname: 'a' }]);
  const mended = { ...bad, sql: 'create table b (x integer)', checksum: 'c' };
  assert.deepEqual(await migrate(connection, [first, mended]), [2]);
});

test('a database without fsync is refused, and so is an API role with too many rights', async () => {
  const name = await migratedDatabase();
  await superuser.query('create role test_careless login bypassrls in role billwright_api');
  await superuser.query('create role test_member login in role billwright_api, billwright');
  await superuser.query('create role test_plain login in role billwright_api');
  const cases: [string | undefined, RegExp][] = [
    [undefined, /not safe to serve from: fsync is off: .+; full_page_writes is off/],
    ['postgres', /role postgres serves calls and must not be a superuser/],
    ['test_careless', /role test_careless serves calls and must not have BYPASSRLS/],
    ['billwright', /role billwright serves calls and must not own tables/],
    ['test_member', /role test_member serves calls and must not own tables, nor be a member/],
  ];
  const all = await Promise.all(
    cases.map(([user]) => {
      const api: Record<string, string> = user ? { API_DATABASE_URL: url(name, user) } : {};
      return command(['serve'], { DATABASE_URL: url(name), ...api });
    }),
  );
  for (const [index, [, message]] of cases.entries()) {
    assert.match(all[index]?.output ?? '', message);
    assert.equal(all[index]?.code, 1);
  }
  const api = { API_DATABASE_URL: url(name, 'test_plain') };
  const plain = await command(['migrate'], { DATABASE_URL: url(name), ...api });
  assert.doesNotMatch(plain.output, /test_plain/, 'nothing is wrong with this role');
});

test('a database whose locale knows ASCII letters alone is served from, with a warning', async () => {
  await superuser.query(
    `create database ascii_letters owner billwright template template0
     locale_provider libc locale 'C'`,
  );
  const plain = await command(['migrate'], {
    ...lenient,
    DATABASE_URL: url('ascii_letters'),
  });
  assert.match(plain.output, /knows no letters beyond A to Z: É and é are two names/);
  assert.equal(plain.code, 0);
  const usual = await command(['migrate'], {
    ...lenient,
    DATABASE_URL: url(await migratedDatabase()),
  });
  assert.doesNotMatch(usual.output, /beyond A to Z/);
});

/** Of a message: the statements, as an administrator copies them. */
function statementsOf(output: string): string[] {
  const [wanted = ''] = output.split('Once Billwright has started');
  return wanted.split('\n').flatMap((line) => /^ {2}(.+;)$/.exec(line)?.[1] ?? []);
}

test('a role that may not create roles gets the statements to run, and starts once they were run', async () => {
  await superuser.query('create role "Test Poor" login');
  const name = await emptyDatabase('poor');
  const env = { ...lenient, DATABASE_URL: url(name, 'Test%20Poor') };
  const refused = await command(['migrate'], env);
  assert.equal(refused.code, 1);
  assert.match(
    refused.output,
    /^billwright: The role Test Poor may not set up the database poor_/m,
  );
  assert.doesNotMatch(refused.output, /\n {4}at |Migration/, 'no story of the program');
  const statements = statementsOf(refused.output);
  assert.deepEqual(statements, [
    'alter role "Test Poor" createrole bypassrls;',
    'grant billwright_api, billwright_bulk, billwright_search, billwright_worker to "Test Poor" ' +
      'with admin option;',
    `alter database "${name}" owner to "Test Poor";`,
  ]);
  assert.match(refused.output, /^ {2}alter role "Test Poor" nocreaterole;$/m);
  const left = await ask(name, `select 1 from pg_class where relname = 'schema_migrations'`);
  assert.deepEqual(left, [], 'nothing was begun');
  for (const statement of statements) await superuser.query(statement);
  const done = await command(['migrate'], env);
  assert.match(done.output, /^The database is up to date\.$/m);
  assert.equal(done.code, 0);
  await superuser.query('alter role "Test Poor" nocreaterole');
  assert.equal((await command(['migrate'], env)).code, 0, 'the right was needed once');
});

test("start makes no demo workspace on a database of one's own, unless asked for it", async () => {
  const name = await migratedDatabase();
  const env = { ...lenient, DATABASE_URL: url(name) };
  const plain = place.run(['start'], env);
  await plain.ready();
  assert.match(plain.output(), /There is no workspace yet\. Make one, in another terminal:\n/);
  assert.doesNotMatch(plain.output(), /billwright-demo/);
  await plain.end('SIGTERM');
  const listed = await command(['workspace', 'list'], env);
  assert.match(listed.output, /^There are no workspaces yet\.$/m);
  const run = await command(['demo', 'run'], env);
  assert.match(run.output, /There is no workspace named 'demo'\. 'billwright demo' makes it\./);
  const asked = place.run(['start', '--demo'], env);
  await asked.ready();
  assert.match(asked.output(), /billwright-demo/);
  await asked.end('SIGTERM');
  assert.match((await command(['workspace', 'list'], env)).output, /^demo\tActive/m);
});

test('every warning at start says what to do', async () => {
  const name = await migratedDatabase();
  const { output } = await command(['migrate'], { ...lenient, DATABASE_URL: url(name) });
  const warnings = output.split('\n').filter((line) => line.includes('"level":40'));
  const told = warnings.map((line) => JSON.parse(line).msg as string);
  assert.ok(told.length >= 3, output);
  for (const warning of told)
    assert.match(warning, /\. (Set|Stop|Install) |: alter role /, warning);
});

test('serve and work are processes of their own on one DATABASE_URL', async () => {
  const name = await migratedDatabase();
  const env = { ...lenient, DATABASE_URL: url(name) };
  const password = 'a long pass phrase';
  const admin = ['--admin', 'a@ext.example', '--password', password];
  const created = await command(['workspace', 'create', 'ext', ...admin], env);
  assert.equal(created.code, 0, created.output);
  const servers = [place.run(['serve'], env), place.run(['serve'], env)];
  const worker = place.run(['work'], env);
  const [one, other] = await Promise.all(servers.map((server) => server.ready()));
  const headers = { 'X-Workspace': 'ext' };
  const first = createClient({ baseUrl: one ?? '', headers });
  const second = createClient({ baseUrl: other ?? '', headers });
  const { data } = await first.login({ username: 'a@ext.example', password });
  first.useToken(data.accessToken);
  second.useToken(data.accessToken);
  await first.makeUsers({ userType: 'customer', users: [{ name: 'Seen by both' }] });
  assert.equal((await second.listUsers()).data.users[0]?.name, 'Seen by both');
  await second.logout();
  await assert.rejects(first.listUsers(), /TOKEN_REVOKED/, 'what one ends, the other knows');
  await until(() => worker.output().includes('daily job done'), 'the worker works');
  const roles = await ask(
    name,
    `select distinct usename from pg_stat_activity
     where application_name in ('billwright api', 'billwright worker')`,
  );
  assert.deepEqual(roles, [{ usename: 'billwright' }], 'the lesser role is taken on inside');
  const exits = await Promise.all([...servers, worker].map((program) => program.end('SIGTERM')));
  assert.deepEqual(exits, Array(3).fill({ code: 0, signal: null }));
});

test('a role that is taken on inside a transaction brings its time limits with it', async () => {
  const connection = { ...cluster.owner, database: await migratedDatabase() };
  for (const [role, limit] of [
    ['billwright_api', '30s'],
    ['billwright_worker', '10min'],
  ] as const) {
    const database = openDatabase({ connection, name: 'limits', max: 1, role });
    const opening = {
      text: `select current_user as role, current_setting('statement_timeout') as statement`,
      values: [],
    };
    const seen = await transact(database, { opening }, async (_, row) => row);
    const after = await transact(
      { ...database, role: undefined },
      { opening },
      async (_, row) => row,
    );
    await database.close();
    assert.deepEqual({ ...seen }, { role, statement: limit });
    assert.deepEqual({ ...after }, { role: 'billwright', statement: '0' }, 'and gives them back');
  }
});
