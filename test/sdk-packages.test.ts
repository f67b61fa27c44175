// The packages for clients, as a developer gets them: made by the one command, installed in an
// empty project, and used against the server.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { operations } from '../src/operations/catalogue.ts';
import { adminPassword, openScene } from './support/scene.ts';
import { root } from './support/source.ts';

const scene = await openScene();
const folder = mkdtempSync(join(tmpdir(), 'clients-'));
const project = join(folder, 'project');
/** The name itself, which Node's own fetch cannot look up on every system. */
const workspace = 'packaged';
const { port } = new URL(scene.baseUrl);
const address = `http://${workspace}.localhost:${port}`;
const username = `admin@${workspace}.example`;

before(async () => {
  await scene.workspace(workspace);
  await run(process.execPath, [join(root, 'sdk/make/main.ts'), folder]);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }\n');
  const packed = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  const install = ['install', '--offline', '--no-audit', '--no-fund', join(folder, packed ?? '')];
  await runNpm(install, { cwd: project });
});
after(() => rmSync(folder, { recursive: true, force: true }));

type Place = { cwd?: string; env?: NodeJS.ProcessEnv };

/** Not the synchronous form: the server answers in this process. */
async function run(program: string, args: readonly string[], place: Place = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, place);
  return stdout;
}

/** The Node and the npm of the machine, not those of this project. */
const machineNode = process.env.npm_node_execpath ?? process.execPath;

async function runNpm(args: readonly string[], place: Place): Promise<void> {
  const npm = process.env.npm_execpath;
  await (npm ? run(machineNode, [npm, ...args], place) : run('npm', args, place));
}

const story = `
import { BillingError, createClient } from '@billwright/client';

const billing = createClient({ baseUrl: '${address}' });
const { data } = await billing.login({ username: '${username}', password: '${adminPassword}' });
billing.useToken(data.accessToken);
const users = [{ name: 'Made in JavaScript' }];
const made = await billing.makeUsers({ userType: 'customer', users });
const partyNumber = Number(made.headers.get('X-Party-Number'));
const { data: found } = await billing.getUsers({ partyNumber });
const refused = await billing.getUsers({ partyNumber: 1 }).catch((error: unknown) => error);
if (!(refused instanceof BillingError)) throw new Error('not refused');
console.log(JSON.stringify([found.user.name, refused.code, refused.statusCode]));
`;

test('a program in an empty project installs the client, logs in and makes a party', async () => {
  const file = join(project, 'story.mjs');
  writeFileSync(file, story.replace('(error: unknown)', '(error)'));
  const printed = await run(machineNode, [file], { cwd: project });
  assert.deepEqual(JSON.parse(printed), ['Made in JavaScript', 'PARTY_NOT_FOUND', 404]);
});

test('the browser build of the client has no code of Node', () => {
  const built = readFileSync(join(folder, 'javascript/index.js'), 'utf8');
  assert.doesNotMatch(built, /node:|require\(/);
});

test('the client types its operations, and a wrong field does not compile', async () => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--target', 'es2022'];
  const language = ['--module', 'nodenext', '--lib', 'es2023,dom', '--types', ''];
  const compile = async (name: string, text: string): Promise<string> => {
    writeFileSync(join(project, name), text);
    try {
      return await run(process.execPath, [compiler, ...options, ...language, name], {
        cwd: project,
      });
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  };
  assert.equal(await compile('right.ts', story), '');
  const wrong = story.replace("{ name: 'Made in JavaScript' }", "{ nam: 'Made in JavaScript' }");
  assert.match(await compile('wrong.ts', wrong), /wrong\.ts\(\d+,\d+\): error TS/);
  const misread = story.replace('found.user.name', 'found.user.nam');
  assert.match(await compile('misread.ts', misread), /'nam' does not exist/);
});

const pythonStory = `
import json
from billwright import BillingError, Client

billing = Client("${address}")
billing.token = billing.login(username="${username}", password="${adminPassword}").data["accessToken"]
made = billing.make_users(userType="customer", users=[{"name": "Made in Python"}])
number = int(made.headers["X-Party-Number"])
found = billing.get_users(partyNumber=number).data["user"]["name"]
try:
    billing.get_users(partyNumber=1)
    code = "not refused"
except BillingError as error:
    code = error.code
print(json.dumps([found, code]))
`;

/** The client needs Python 3.11; a machine without it skips the test. */
const isNewPython = 'import sys; print(sys.version_info >= (3, 11))';
const hasPython = await run('python3', ['-c', isNewPython]).then(
  (printed) => printed.trim() === 'True',
  () => false,
);

test('a Python program logs in and makes a party by the client', { skip: !hasPython }, async () => {
  const file = join(folder, 'story.py');
  writeFileSync(file, pythonStory);
  const env = { ...process.env, PYTHONPATH: join(folder, 'python') };
  const printed = await run('python3', [file], { env });
  assert.deepEqual(JSON.parse(printed), ['Made in Python', 'PARTY_NOT_FOUND']);
});

test('the Postman collection has every operation once, with an example that can be sent', () => {
  type Item = { name: string; item?: Item[]; request?: { body: { raw: string } } };
  const collection = join(folder, 'billwright.postman_collection.json');
  const { item: groups } = JSON.parse(readFileSync(collection, 'utf8')) as { item: Item[] };
  const requests = groups.flatMap(({ item }) => item ?? []);
  assert.equal(requests.length, operations.length);
  for (const { name, request } of requests) {
    assert.equal(JSON.parse(request?.body.raw ?? 'null').action, name);
  }
});
