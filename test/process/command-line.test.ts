// The command line: workspaces beside a running server and alone, and what it says to bad input.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '../../sdk/client.ts';
import { billCommand } from '../../src/commands/bill.ts';
import { exportCommand, routeSheetCommand } from '../../src/commands/export.ts';
import { importCommand } from '../../src/commands/import.ts';
import { UsageError } from '../../src/commands/usage.ts';
import { verifyCommand } from '../../src/commands/verify.ts';
import { workspaceCommand } from '../../src/commands/workspace.ts';
import { ConfigError, readConfig } from '../../src/config.ts';
import { refuses } from '../support/client.ts';
import {
  assertNothingRuns,
  demoClient,
  finish,
  openPlace,
  type Program,
  takePort,
} from '../support/program.ts';
import { root } from '../support/source.ts';

const place = await openPlace('file');
/** The server beside which commands run, from the test that starts it to the one that ends it. */
let server: Program | undefined;

function command(line: string[], env: Record<string, string> = {}) {
  return finish(place.run(line, env));
}

const inside = new Map([
  ['workspace', workspaceCommand],
  ['import', importCommand],
  ['export', exportCommand],
  ['route-sheet', routeSheetCommand],
  ['verify', verifyCommand],
  ['bill', billCommand],
]);

/** The same for a line that is refused before anything is opened: it needs no process. */
async function refusal([name = '', ...args]: string[]): Promise<{ code: number; output: string }> {
  const run = inside.get(name);
  assert.ok(run, `'${name}' is not run inside of the test`);
  const config = readConfig({ BILLWRIGHT_DATA: place.dataFolder });
  const error = await run(config, args).then(() => assert.fail('not refused'), asError);
  return { code: error instanceof UsageError ? 2 : 1, output: error.message };
}

function asError(error: unknown): Error {
  assert.ok(error instanceof Error);
  return error;
}

const password = 'a long pass phrase';
const acme = ['workspace', 'create', 'Acme', '--admin', 'You@acme.example', '--password', password];

test('version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const word of ['version', '--version']) {
    assert.deepEqual(await command([word]), { code: 0, output: `${version}\n` });
  }
});

test('workspace create and list work alone, and leave no PostgreSQL behind', async () => {
  const empty = await command(['workspace', 'list']);
  assert.deepEqual(empty, { code: 0, output: 'There are no workspaces yet.\n' });
  const zone = ['--timezone', 'Asia/Karachi', '--currency', 'pkr', '--country', 'PAK'];
  const made = await command([...acme, ...zone, '--name', 'Acme Water', '--sandbox']);
  assert.deepEqual(made, {
    code: 0,
    output:
      `Workspace acme is ready. No server runs on ${place.dataFolder}: once one listens on port 0, ` +
      'the workspace is at http://acme.localhost:0; log in as You@acme.example.\n',
  });
  const listed = await command(['workspace', 'list']);
  assert.equal(listed.output, 'acme\tActive\tAsia/Karachi\tPKR\tAcme Water (sandbox)\n');
  await assertNothingRuns(place.folder);
});

test('workspace create does not believe the address of a server that is gone', async () => {
  const { port, free } = await takePort();
  await free();
  const note = { host: '127.0.0.1', port, pid: 1 };
  writeFileSync(join(place.dataFolder, 'server.json'), JSON.stringify(note));
  const gone = ['workspace', 'create', 'gone', '--admin', 'g@g.example', '--password', password];
  const { code, output } = await command(gone);
  assert.equal(code, 0);
  assert.match(output, /^Workspace gone is ready\. No server runs on /);
  assert.ok(!output.includes(String(port)), output);
});

let listed = '';

test('workspace commands work while a server runs, which sees the change at once', async () => {
  // It is the first start, on a database with workspaces.
  server = place.run(['start']);
  const base = await server.ready();
  const client = createClient({ baseUrl: base, headers: { 'X-Workspace': 'acme' } });
  const { data } = await client.login({ username: 'you@ACME.example', password });
  assert.equal(data.workspace, 'acme');
  client.useToken(data.accessToken);
  await client.listUsers();

  const second = [
    'workspace',
    'create',
    'second',
    '--admin',
    'b@b.example',
    '--password',
    password,
  ];
  // PORT is 0 for both: the port that the server got is printed, not the one of the configuration.
  const { port } = new URL(base);
  assert.deepEqual(await command(second), {
    code: 0,
    output: `Workspace second is ready at http://second.localhost:${port}; log in as b@b.example.\n`,
  });
  const other = createClient({ baseUrl: base, headers: { 'X-Workspace': 'second' } });
  await other.login({ username: 'b@b.example', password });

  const suspended = await command(['workspace', 'suspend', 'ACME']);
  assert.deepEqual(suspended, { code: 0, output: 'Workspace acme is now Suspended.\n' });
  await refuses(client.listUsers(), 'WORKSPACE_SUSPENDED', { statusCode: 403 });
  await refuses(client.login({ username: 'you@acme.example', password }), 'WORKSPACE_SUSPENDED');
  await other.login({ username: 'b@b.example', password });
  listed = (await command(['workspace', 'list'])).output;
  assert.match(listed, /^acme\tSuspended\t/m);
  const resumed = await command(['workspace', 'resume', 'acme']);
  assert.deepEqual(resumed, { code: 0, output: 'Workspace acme is now Active.\n' });
  await client.listUsers();
});

test('a first start on a database with workspaces creates no demo workspace', () => {
  assert.match(listed, /^second\t/m);
  assert.doesNotMatch(listed, /demo/);
});

test('workspace create refuses bad input in a sentence and makes nothing', async () => {
  const refusals: [string[], number, RegExp][] = [
    [made('x', { '--timezone': 'Mars/Base' }), 1, /'Mars\/Base' is not an IANA time zone/],
    [made('x', { '--currency': 'XXY' }), 1, /'XXY' is not an ISO 4217 currency/],
    [made('x', { '--country': 'Atlantis' }), 1, /Not an ISO 3166-1 country code/],
    [made('x', { '--password': 'short' }), 1, /at least 12 characters/],
    [made('x', { '--password': 'p'.repeat(257) }), 1, /password may have at most 256 characters/],
    [
      made('x', { '--admin': `${'a'.repeat(120)}@b.example` }),
      1,
      /may have at most 120 characters/,
    ],
    [made('x', { '--name': ' ' }), 1, /The name is empty/],
    [made('x', { '--name': 'n'.repeat(201) }), 1, /The name may have at most 200 characters/],
    [made('x', { '--locale': 'en_PK' }), 1, /'en_PK' is not a language tag \(such as en-PK\)/],
    [made('x', { '--locale': '' }), 1, /'' is not a language tag/],
    [made('x', { '--admin': 'nobody' }), 2, /--admin must be an e-mail address, not 'nobody'/],
    [[...made('x'), '--colour', 'red'], 2, /Unknown option '--colour'/],
    [['workspace', 'resume'], 2, /workspace resume NAME/],
    [['workspace', 'destroy', 'acme'], 2, /workspace suspend NAME/],
  ];
  const printed: [string[], number, RegExp][] = [
    [acme, 1, /^billwright: A workspace named 'acme' exists already$/m],
    [made('under_score'), 1, /^billwright: .*1 to 63 letters a-z, digits and hyphens/],
    [
      ['workspace', 'create', 'x'],
      2,
      /--admin and --password are needed\s+billwright workspace create NAME/,
    ],
    [['workspace', 'suspend', 'nowhere'], 1, /^billwright: There is no workspace named 'nowhere'/m],
  ];
  const all = await Promise.all([
    ...refusals.map(([line]) => refusal(line)),
    ...printed.map(([line]) => command(line)),
  ]);
  for (const [index, [line, code, message]] of [...refusals, ...printed].entries()) {
    const done = all[index] ?? { code: null, output: '' };
    assert.match(done.output, message, line.join(' '));
    assert.equal(done.code, code, line.join(' '));
    assert.doesNotMatch(done.output, /\n\s+at /, 'no stack');
  }
  const { output } = await command(['workspace', 'list']);
  assert.deepEqual(output.match(/^\w+/gm), ['acme', 'gone', 'second']);
});

test('demo run reports what is missing if there are no customers to bill', async () => {
  const other = await command(['demo', 'run']);
  const none = "There is no workspace named 'demo'. 'billwright demo' makes it.";
  assert.deepEqual(other, { code: 1, output: `billwright: ${none}\n` });
  const bare = { DEMO_SUBSCRIPTIONS: '0', BILLWRIGHT_DATA: place.ready('bare') };
  const empty = await command(['demo', 'run'], bare);
  assert.match(
    empty.output,
    /^billwright: The workspace demo has no sample data, .+ no customers to/,
  );
  assert.equal(empty.code, 1);
});

function made(name: string, changed: Record<string, string> = {}): string[] {
  const options = { '--admin': 'a@b.example', '--password': password, ...changed };
  return ['workspace', 'create', name, ...Object.entries(options).flat()];
}

test('unknown arguments of a command are refused, not ignored', async () => {
  const within = ['--workspace', 'acme'];
  const refusals: [string[], RegExp][] = [
    [
      ['workspace', 'list', 'acme'],
      /^'acme' is one argument too many\.\n\nbillwright workspace create/,
    ],
    [made('x').toSpliced(3, 0, 'water'), /^'water' is one argument too many/],
    [
      ['import', 'parties', 'package.json', 'more.csv', ...within],
      /^'more\.csv' is one argument too many/,
    ],
    [['export', 'parties', 'meters', ...within], /^'meters' is one argument too many/],
    [['export', 'readings', '--since', '01/01/2026', ...within], /Unknown option '--since'/],
    [['route-sheet', '--service', 'ELEC', '--from', '01/01/2026'], /Unknown option '--from'/],
    [['route-sheet', 'ELEC', ...within], /^'ELEC' is one argument too many/],
    [['bill', 'preview', 'a.pdf'], /^--workspace is needed\.\n\nbillwright bill preview/],
    [['bill', 'preview', ...within], /^Name the file to write\./],
    [['bill', 'print', 'a.pdf', ...within], /^'bill' needs the word 'preview'\./],
    [['bill', 'preview', 'a.pdf', 'b.pdf', ...within], /^'b\.pdf' is one argument too many/],
    [['bill', 'preview', 'a.pdf', '--bill', 'x', ...within], /^--bill is the id of a bill/],
    [['bill', 'preview', 'a.pdf', '--to', 'x', ...within], /Unknown option '--to'/],
    [['verify', 'acme'], /Unexpected argument 'acme'.+\n\nbillwright verify/],
  ];
  const printed: [string[], RegExp][] = [
    [['start', '--port', '9000'], /^'start' does not take '--port 9000'\.\n\nbillwright start/],
    [['serve', '--demo'], /^'serve' takes no arguments, not '--demo'\.\n\nUsage:/],
    [['migrate', '--dry-run'], /^'migrate' takes no arguments/],
  ];
  const all = await Promise.all([
    ...refusals.map(([line]) => refusal(line)),
    ...printed.map(([line]) => command(line)),
  ]);
  for (const [index, [line, message]] of [...refusals, ...printed].entries()) {
    const done = all[index] ?? { code: null, output: '' };
    assert.match(done.output, message, line.join(' '));
    assert.equal(done.code, 2, line.join(' '));
  }
  assert.equal((await command(['verify', '--workspace', 'ACME'])).code, 0);
});

test('what a command names and is not there ends with 1, whichever command it is', async () => {
  const nowhere = ['--workspace', 'nowhere'];
  const missing: [string[], string][] = [
    [['verify', ...nowhere], "There is no workspace named 'nowhere'."],
    [['import', 'meters', 'package.json', ...nowhere], "There is no workspace named 'nowhere'."],
    [['export', 'meters', ...nowhere], "There is no workspace named 'nowhere'."],
    [['import', 'meters', '/none.csv', ...nowhere], 'There is no file /none.csv.'],
    [['import', 'meters', place.folder, ...nowhere], `${place.folder} is a folder, not a file.`],
  ];
  const all = await Promise.all(missing.map(([line]) => command(line)));
  for (const [index, [line, sentence]] of missing.entries()) {
    const told = { code: 1, output: `billwright: ${sentence}\n` };
    assert.deepEqual(all[index], told, line.join(' '));
  }
});

test('a reader that ends first breaks nothing off, and a partial output is reported', async () => {
  const ended = await server?.end('SIGTERM');
  assert.deepEqual(ended, { code: 0, signal: null }, 'the server beside the commands');
  const lines = [['help'], ['workspace', 'list'], ['verify']];
  const partial = ['export', 'parties', '--workspace', 'acme'];
  const [exported, ...all] = await Promise.all([partial, ...lines].map(unread));
  for (const [index, line] of lines.entries()) {
    assert.deepEqual(all[index], { code: 0, output: '' }, line.join(' '));
  }
  assert.deepEqual(exported, {
    code: 1,
    output: 'billwright: the program that reads the output ended before all of it was written\n',
  });
  await assertNothingRuns(place.folder);
});

function unread(line: string[]) {
  const program = place.run(line);
  program.leave();
  return finish(program);
}

const wrongSettings: [Record<string, string>, RegExp][] = [
  [{ PORT: 'http' }, /^PORT must be a whole number from 0 to 65535, not 'http'$/],
  [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL must be one of fatal, error, .+, not 'loud'/],
  [{ DATABASE_URL: 'mysql://x' }, /DATABASE_URL must begin with postgresql:\/\//],
  [{ RATE_LIMIT_TOKEN: '5' }, /RATE_LIMIT_TOKEN must be CALLS-PER-SECOND\/BURST/],
  [{ SMTP_URL: 'http://mail' }, /SMTP_URL must be a url such as smtp:\/\/user:password@host:587$/],
  [{ SMTP_URL: 'smtp://user:secret word@' }, /^(?!.*secret).*SMTP_URL must be a url/],
  [{ SMTP_URL: 'smtp://' }, /^SMTP_URL must be a url such as/],
  [{ PORT: ' ' }, /^PORT must be a whole number from 0 to 65535, not ' '$/],
  [{ PORT: '0x50' }, /^PORT must be a whole number/],
  [{ API_CONNECTIONS: '1e2' }, /^API_CONNECTIONS must be a whole number/],
  [{ DATABASE_URL: 'postgresql://u:secret@' }, /^(?!.*secret).*DATABASE_URL must be a url such/],
  [{ DATABASE_URL: 'postgresql://h:99999/x' }, /^DATABASE_URL must be a url such as/],
  [
    { API_DATABASE_URL: 'postgresql://h/x' },
    /^API_DATABASE_URL needs DATABASE_URL, which is not set$/,
  ],
  [{ WORKER_DATABASE_URL: 'postgresql://h/x' }, /^WORKER_DATABASE_URL needs DATABASE_URL/],
  [
    { BILLWRIGHT_DOMAIN: 'http://example.com' },
    /^BILLWRIGHT_DOMAIN must be a host name such as .+, not 'http:\/\/example\.com'$/,
  ],
  [{ BILLWRIGHT_DOMAIN: '.example.com' }, /^BILLWRIGHT_DOMAIN must be a host name/],
  [{ BILLWRIGHT_DOMAIN: 'localhost:8080' }, /^BILLWRIGHT_DOMAIN must be a host name/],
  [
    { TRUSTED_PROXIES: '10.0.0.1, proxy' },
    /^TRUSTED_PROXIES must be addresses or ranges such as .+, not 'proxy'$/,
  ],
  [{ TRUSTED_PROXIES: '10.0.0.0/33' }, /^TRUSTED_PROXIES must be addresses or ranges/],
  [{ RATE_LIMIT_WORKSPACE: '1/2/3' }, /^RATE_LIMIT_WORKSPACE must be CALLS-PER-SECOND/],
  [{ RATE_LIMIT_TOKEN: 'Infinity/Infinity' }, /^RATE_LIMIT_TOKEN must be CALLS-PER-SECOND/],
  [{ SMTP_CONNECTIONS: '0' }, /SMTP_CONNECTIONS must be a whole number from 1 to 100, not '0'/],
  [{ MAIL_FROM: 'billing' }, /MAIL_FROM must be an address such as .+, not 'billing'/],
  [{ MAIL_FROM: '"Water" <a@b.example>' }, /such as .+ or City Water <billing@example\.com>/],
  [{ MAIL_FROM: 'a@b.example\r\nBcc: x@y.example' }, /MAIL_FROM must be an address/],
  [{ BILLWRIGHT_WORKSPACE_HEADER: 'yes' }, /BILLWRIGHT_WORKSPACE_HEADER must be 1 or 0/],
];

test('an unknown command and an invalid setting are reported at once', async () => {
  const unknown = await command(['destroy']);
  assert.equal(unknown.code, 2);
  assert.match(unknown.output, /^There is no command 'destroy'\.\n\nUsage:/);
  const help = await command(['help']);
  assert.equal(help.code, 0);
  assert.match(help.output, /billwright workspace create NAME/);
  assert.match(help.output, /billwright demo run\n +takes the workspace demo through a whole/);
  for (const line of [['--help'], ['start', '--help'], ['import', '-h'], ['demo', 'run', '-h']]) {
    assert.deepEqual(await command(line), help, line.join(' '));
  }
  for (const [env, message] of wrongSettings) {
    assert.throws(
      () => readConfig(env),
      (error) => error instanceof ConfigError && message.test(error.message),
    );
  }
  const proxies = '127.0.0.1, 10.0.0.0/8, ::1, fd00::/8';
  assert.equal(readConfig({ TRUSTED_PROXIES: proxies }).trustedProxies.length, 4);
  const socket = 'postgresql://billwright@/billwright?host=/run/postgresql';
  assert.equal(readConfig({ DATABASE_URL: socket }).databaseUrl, socket);
  assert.equal(readConfig({ BILLWRIGHT_DOMAIN: 'Example.COM' }).domain, 'example.com');
  const from = (MAIL_FROM: string) => readConfig({ MAIL_FROM }).mailFrom;
  assert.deepEqual(from(''), { address: 'billing@localhost' });
  assert.deepEqual(from('a@b.example'), { address: 'a@b.example' });
  assert.deepEqual(from('City Water <a@b.example>'), {
    address: 'a@b.example',
    name: 'City Water',
  });
  const signing = { DKIM_KEY_FILE: '/nowhere/key.pem', DKIM_SELECTOR: 's1' };
  const unsigned = await command(['start'], signing);
  assert.match(
    unsigned.output,
    /^billwright: DKIM_KEY_FILE: \/nowhere\/key\.pem cannot be read \(ENOENT\)\. Create one with/,
  );
  assert.equal(unsigned.code, 1);
  const away = await command(['verify'], { DATABASE_URL: 'postgresql://u:secret@127.0.0.1:1/x' });
  const reason = 'billwright: No connection to the database: connect ECONNREFUSED 127.0.0.1:1\n';
  assert.deepEqual(away, { code: 1, output: reason });
  const { code, output } = await command(['start'], { PORT: 'http' });
  assert.equal(output, "billwright: PORT must be a whole number from 0 to 65535, not 'http'\n");
  assert.equal(code, 1);
});

test('an address that is not of this machine is reported with the name of its setting', async () => {
  const { code, output } = await command(['serve'], { HOST: 'http://localhost' });
  const sentence =
    "billwright: HOST is 'http://localhost', which is not an address of this machine.";
  assert.ok(output.includes(`${sentence}\n`), output);
  assert.equal(code, 1);
});

test('start listens on loopback only while the demo login has its default password', async () => {
  const open = { HOST: '0.0.0.0', BILLWRIGHT_DATA: place.ready('demo') };
  const refused = await command(['start'], open);
  assert.equal(refused.code, 1);
  assert.match(refused.output, /still has its default password, .+ not on 0\.0\.0\.0/);
  await assertNothingRuns(place.folder);

  const local = place.run(['serve'], { BILLWRIGHT_DATA: open.BILLWRIGHT_DATA });
  const client = await demoClient(await local.ready());
  await client.updateLogin({ data: { username: 'admin@demo.example', password } });
  await local.end('SIGTERM');

  const data = { BILLWRIGHT_DATA: open.BILLWRIGHT_DATA };
  const sample = ['demo', '--workspace', 'sample', '--subscriptions', '1'];
  assert.equal((await command(sample, data)).code, 0);
  for (const name of ['start', 'serve']) {
    const { code, output } = await command([name], open);
    assert.match(output, /of workspace sample still has its default password/);
    assert.equal(code, 1);
  }
  await command(['workspace', 'suspend', 'sample'], data);
  const program = place.run(['start'], open);
  await program.ready();
  assert.doesNotMatch(program.output(), /billwright-demo/, 'no password that is not one');
  assert.deepEqual(await program.end('SIGTERM'), { code: 0, signal: null });
});
