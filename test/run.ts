// npm test [-- FILES]: runs all test files, or those that are named. Most load the whole server,
// and that takes longer than many of their tests: files of a folder share a process, one after the
// other.
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const groupsFolder = join(root, 'node_modules', '.cache', 'tests');

/** Many programs at a time, of which each waits for PostgreSQL again and again. */
const processes = 4;
const filesPerProcess = 10;
/** For a file or a group of them: one that does not end in time fails. */
const timeoutMs = 600_000;
/** Files here start and kill programs, or measure their own: each has a process to itself. */
const apart = ['test/embedded', 'test/faults', 'test/http', 'test/process'];

const named = process.argv.slice(2).map((file) => resolve(file));
const options: Parameters<typeof run>[0] & { globalSetupPath: string } = {
  files: named.length > 0 ? named : everything(),
  concurrency: processes,
  timeout: timeoutMs,
  globalSetupPath: join(root, 'test', 'support', 'setup.ts'),
  // A young heap that begins with a megabyte is collected all the time.
  execArgv: ['--min-semi-space-size=16'],
};
const stream = run(options);
stream.on('test:fail', () => {
  process.exitCode = 1;
});
stream.compose(new spec()).pipe(process.stdout);

/**
 * Files that wait for programs take turns with groups that keep the processors busy, the longest
 * first: at the end all processes have something to do.
 */
function everything(): string[] {
  rmSync(groupsFolder, { recursive: true, force: true });
  mkdirSync(groupsFolder, { recursive: true });
  const files = globSync('{test,src}/**/*.test.ts', { cwd: root }).sort();
  const byFolder = Map.groupBy(files, roomOf);
  const alone: string[] = [];
  const groups: string[] = [];
  for (const [room, members] of byFolder) {
    if (apart.includes(room)) alone.push(...members.map((file) => join(root, file)));
    else groups.push(...cut(members).map((group, index) => writeGroup(room, index + 1, group)));
  }
  return inTurns(alone, groups);
}

function inTurns(alone: readonly string[], groups: readonly string[]): string[] {
  const turns = Math.max(alone.length, groups.length);
  const each = (files: readonly string[], turn: number) => {
    const from = Math.floor((files.length * turn) / turns);
    return files.slice(from, Math.floor((files.length * (turn + 1)) / turns));
  };
  return Array.from({ length: turns }, (_, turn) => [
    ...each(groups, turn),
    ...each(alone, turn),
  ]).flat();
}

/** Files of the program's own folders are few each. */
function roomOf(file: string): string {
  return file.startsWith('src/') ? 'src' : dirname(file);
}

function cut(files: readonly string[]): string[][] {
  const groups: string[][] = [];
  for (let first = 0; first < files.length; first += filesPerProcess) {
    groups.push(files.slice(first, first + filesPerProcess));
  }
  return groups;
}

/**
 * A file that runs others: each is a suite, with its own hooks, that ends before the next begins.
 */
function writeGroup(room: string, number: number, files: readonly string[]): string {
  const suites = files.map((file) => {
    const url = pathToFileURL(join(root, file)).href;
    return `await describe(${JSON.stringify(file)}, () => import(${JSON.stringify(url)}));\n`;
  });
  const path = join(groupsFolder, `${basename(room)}-${number}.mjs`);
  writeFileSync(path, `import { describe } from 'node:test';\n${suites.join('')}`);
  return path;
}
