// The files for containers, systemd and npm name commands, variables and folders that exist.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../src/config.ts';
import { root } from './support/source.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const dockerfile = read('Dockerfile');
const compose = read('compose.yaml');
const units = ['billwright.service', 'billwright-worker.service'].map((name) =>
  read(`deploy/systemd/${name}`),
);
const settings = read('deploy/systemd/billwright.env');
const launcher = read('packaging/billwright.mjs');
const own = JSON.parse(read('package.json'));

const commands = [...read('src/command-line.ts').matchAll(/^ {2}\['(\w+)', /gm)].map(([, c]) => c);
/** Of the program, by its documentation, which another test compares with what it reads. */
const variables = [...read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)`/gm)].map(
  ([, name]) => name,
);

/** Each `NAME=value` or `NAME: value`. */
function assigned(text: string): Record<string, string> {
  const found = text.matchAll(/(?<![\w-])([A-Z][A-Z_]+)(?:=|: )(\S+)/g);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]));
}

function firstOf(text: string, pattern: RegExp): string {
  const found = pattern.exec(text)?.[1];
  assert.ok(found, `${pattern} is not found`);
  return found;
}

const image = assigned(firstOf(dockerfile, /^ENV ([\s\S]+?[^\\])\n/m));

test('every command that the image, compose and the units run is one of the program', () => {
  const run = [
    firstOf(dockerfile, /^CMD \["(\w+)"\]$/m),
    ...[...compose.matchAll(/^ {4}command: (\w+)$/gm)].map(([, name]) => name),
    ...units.map((unit) => firstOf(unit, /^ExecStart=\S+\/billwright (\w+)$/m)),
  ];
  assert.deepEqual(run, ['serve', 'serve', 'work', 'serve', 'work']);
  assert.deepEqual(
    run.filter((name) => !commands.includes(name)),
    [],
  );
});

test('every variable that they set is one that the program reads', () => {
  const environment = firstOf(compose, /environment: &environment\n((?: {4}.*\n)+)/);
  const ofUnits = units.flatMap((unit) =>
    [...unit.matchAll(/^Environment=(\w+)=/gm)].map(([, name = '']) => name),
  );
  const known = [...variables, 'PATH', 'HOME'];
  const set = [image, assigned(environment), assigned(settings)].flatMap(Object.keys);
  assert.ok(set.length > 10);
  const isKnown = (name: string) =>
    known.includes(name) || known.includes(name.replace(/_FILE$/, ''));
  assert.deepEqual(
    [...set, ...ofUnits].filter((name) => !isKnown(name)),
    [],
  );
});

test('the program accepts the settings of the image and of the units', () => {
  assert.equal(readConfig(image).host, '0.0.0.0');
  const config = readConfig(assigned(settings));
  assert.deepEqual(config.trustedProxies, ['loopback']);
  assert.ok(config.databaseUrl?.startsWith('postgresql://'));
});

test('the ports of the image, its health check and compose agree', () => {
  const port = String(readConfig({}).port);
  assert.equal(image.PORT, port);
  assert.equal(firstOf(dockerfile, /^EXPOSE (\d+)$/m), port);
  assert.match(dockerfile, /127\.0\.0\.1:' \+ process\.env\.PORT \+ '\/ready'/);
  assert.match(compose, new RegExp(`ports: \\['127\\.0\\.0\\.1:${port}:${port}'\\]`));
});

test('containers and units give the program more time to stop than it takes at most', () => {
  const stopMs = Number(
    firstOf(read('src/commands/shutdown.ts'), /stopMs = ([\d_]+)/).replace('_', ''),
  );
  const seconds = [
    firstOf(compose, /stop_grace_period: (\d+)s/),
    ...units.map((unit) => firstOf(unit, /^TimeoutStopSec=(\d+)$/m)),
  ];
  for (const time of seconds) assert.ok(Number(time) * 1000 > stopMs, time);
});

test('both units are restricted in the same ways', () => {
  const [server = [], worker = []] = units.map((unit) =>
    unit.split('\n').filter((line) => !/^(#|Description|ExecStart)/.test(line)),
  );
  assert.deepEqual(server, worker);
  assert.ok(server.includes('NoNewPrivileges=yes'));
  assert.ok(server.includes('ProtectSystem=strict'));
});

test('the image is built from every folder that the package is made of', () => {
  const lines = read('.dockerignore').split('\n');
  const kept = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const script = read('scripts/package.mjs');
  const copied = [...script.matchAll(/copy\('([\w./-]+)'/g)].map(([, file = '']) => file);
  assert.ok(copied.length >= 6);
  for (const file of [...copied, 'sdk', 'scripts', 'package-lock.json', 'tsconfig.json']) {
    assert.ok(existsSync(join(root, file)) || file === 'console/dist', file);
    assert.ok(kept.includes(file.split('/')[0] ?? ''), file);
  }
});

test('the files that compose mounts exist', () => {
  const mounted = [...compose.matchAll(/- \.\/([\w./-]+):/g)].map(([, file = '']) => file);
  assert.deepEqual(mounted, ['deploy/compose/create-database.sh']);
  for (const file of mounted) assert.ok(existsSync(join(root, file)), file);
});

test('the command of the package gives Node.js the flags of a clone', () => {
  const flagsOf = (text: string) => [...text.matchAll(/--(?:no-)?[a-z]+-[a-z0-9=-]+/g)].join(' ');
  const inLauncher = (name: string) =>
    flagsOf(firstOf(launcher, new RegExp(`const ${name} = \\[([^\\]]+)\\]`)));
  assert.equal(inLauncher('serverMemory'), flagsOf(own.scripts.start));
  assert.equal(inLauncher('workerMemory'), flagsOf(own.scripts.billwright));
});

test('the command of the package finds each Node.js among the dependencies', () => {
  const major = firstOf(launcher, /neededMajor = (\d+)/);
  const named = [...launcher.matchAll(/: '(node-[\w-]+)'/g)].map(([, name = '']) => name);
  assert.equal(named.length, 3);
  for (const name of named) {
    assert.equal(own.optionalDependencies[name].split('.')[0], major, name);
  }
});
