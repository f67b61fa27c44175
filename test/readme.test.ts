// What README.md promises: its commands exist, its links lead somewhere, its walk works.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { quickProgram } from './support/quick-node.ts';
import { readme, readmeCommands } from './support/readme-commands.ts';
import { startProgram } from './support/running-program.ts';
import { root } from './support/source.ts';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

/** Everything that is set as code: blocks and words in backticks. */
const code = [...readme.matchAll(/```\w*\n([\s\S]*?)```|`([^`\n]+)`/g)]
  .map((match) => match[1] ?? match[2] ?? '')
  .join('\n');

test('every npm command that README.md names is in package.json', () => {
  const named = [
    ...code.matchAll(/\bnpm run (?:--?[\w-]+ )*([\w:-]+)/g),
    ...code.matchAll(/\bnpm (start|test)\b/g),
  ].map((match) => match[1] ?? '');
  assert.deepEqual(
    named.filter((name) => !scripts[name]),
    [],
  );
});

test('every command of billwright that README.md names exists', () => {
  const main = readFileSync(join(root, 'src/command-line.ts'), 'utf8');
  const commands = [...main.matchAll(/^ {2}\['(\w+)', /gm)].map((match) => match[1]);
  assert.ok(commands.includes('workspace'), 'the table of commands is found');
  const named = [...code.matchAll(/billwright -- (\w+)/g)].map((match) => match[1]);
  assert.deepEqual(
    named.filter((name) => !commands.includes(name)),
    [],
  );
});

test('no page asks to type a command that no shell finds', () => {
  const pages = readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name));
  const typed = ['README.md', 'CONTRIBUTING.md', ...pages].flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    const lines = [...text.matchAll(/```\w*\n([\s\S]*?)```/g)].flatMap((block) =>
      (block[1] ?? '').split('\n'),
    );
    return lines.filter((line) => /^\s*billwright(\s|$)/.test(line));
  });
  assert.deepEqual(typed, []);
});

test('every file that README.md links to is there', () => {
  const links = [...readme.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map((m) => m[1] ?? '');
  assert.deepEqual(
    links.filter((link) => !existsSync(join(root, link))),
    [],
  );
});

const program = await startProgram();
after(() => program.stop());
const { env } = program;

/** Runs commands of the text against the program, and gives the answers they show. */
async function walk(mark: string) {
  assert.match(readmeCommands(mark), /:8080/);
  const stdout = await program.run(readmeCommands(mark));
  const answers = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  for (const answer of answers) assert.equal(answer.success, true, JSON.stringify(answer));
  return answers;
}

test('the look around the demo workspace shows what is in it', async () => {
  const [connections, meters, tariffs] = await walk('demo');
  const [connection] = connections.data.connections;
  assert.equal(connection.connectionNumber, 'ELEC-00000001');
  assert.equal(connection.meters.length, 1);
  assert.equal(meters.data.meters.meters.length, 2);
  const counted = tariffs.data.tariffs.map((one: { connCount: number }) => one.connCount);
  assert.ok(
    counted.some((count: number) => count > 50),
    String(counted),
  );
});

test('the first steps work as they are printed', async () => {
  const answers = await walk('walk');
  assert.ok(answers.length >= 2, String(answers.length));
  const { billingGroup, connectionGroups } = answers.at(-1).data;
  assert.equal(billingGroup.accountCount, 1);
  assert.equal(connectionGroups.length, 1);
});

test('the first bills are made by all steps, readings included', async () => {
  const demo = promisify(execFile)(
    process.execPath,
    [...quickProgram, 'src/main.ts', 'demo', 'run'],
    {
      cwd: root,
      env,
    },
  );
  const { stdout } = await demo.catch((error) => assert.fail(`${error.message}\n${error.stdout}`));
  assert.match(stdout, /^Step 3 .*\n +\d+ readings? stored$/m);
  assert.match(stdout, /^ +148 bills generated, 0 in error, 0 on hold$/m);
  assert.match(stdout, /^ +148 bills published$/m);
  assert.match(stdout, /^ +Total( +[\d,]+\.\d\d){2} +0\.00$/m);
});
