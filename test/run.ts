// npm test [-- FILES]: runs all test files, or those that are named, and says which took longest.
// npm run test:browser [-- FILES]: the same for the longer stories of the console in a browser.
// Loading the server, and opening a database with it, takes longer than many tests, and a process
// runs faster once it has run for some seconds: most files share a few processes, which take them
// from one list.
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { nightlyFiles } from './support/nightly-files.ts';
import { quickTests } from './support/quick-node.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const groupsFolder = join(root, 'node_modules', '.cache', 'tests', String(process.pid));
const figuresFile = join(groupsFolder, 'figures.jsonl');

/** All files use one database there: workers of another process would take their jobs. */
const isSpread = process.env.TEST_COORDINATOR_URL !== undefined;
/** Many programs at a time, of which each waits for PostgreSQL again and again. */
const processes = isSpread ? 1 : 5;
/** So many of them run the files that most calls are made in; the others wait for programs. */
const sharing = isSpread ? 1 : 3;
/** Files that start programs or browsers, and wait for them, share processes of their own. */
const filesThatStart = {
  folders: ['test/browser', 'test/console', 'test/embedded', 'test/faults', 'test/process'],
  perProcess: 7,
};
/** These folders take longest, and begin first. */
const longest = ['test/billrun', 'test/operations', 'test/delivery'];
/** For a group of files: one that does not end in time fails. `npm run nightly` gives more. */
const timeoutMs = Number(process.env.TEST_TIMEOUT_MS ?? 1_800_000);
/** These measure their own process, or take long: each has a process to itself. */
const apart = [
  'test/attacks.test.ts',
  'test/random-calls.test.ts',
  'test/readme.test.ts',
  'test/delivery/killed-workers.test.ts',
  'test/faults/contention.test.ts',
  'test/process/jobs.test.ts',
  'test/http/large-bodies.test.ts',
  'test/http/neighbours.test.ts',
  'test/http/slow-documents.test.ts',
];
const slowestShown = 10;

rmSync(groupsFolder, { recursive: true, force: true });
mkdirSync(groupsFolder, { recursive: true });
writeFileSync(figuresFile, '');
const { values, positionals } = parseArgs({
  options: { browser: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const named = positionals.map((file) => relative(root, resolve(file)));
const files = named.length > 0 ? named : allFiles(values.browser);
const options: Parameters<typeof run>[0] & { globalSetupPath: string } = {
  files: grouped(files),
  concurrency: processes,
  timeout: timeoutMs,
  globalSetupPath: join(root, 'test', 'support', 'setup.ts'),
  execArgv: quickTests,
};
const stream = run(options);
stream.on('test:fail', ({ name }) => {
  process.exitCode = 1;
  // At once: what the reporter prints comes in the order of the files.
  console.error(`failed: ${name}`);
});
const printed = stream.compose(new spec());
printed.on('end', showSlowest);
printed.pipe(process.stdout, { end: false });

/** Stories of test/browser take minutes, and test/packaging installs: `npm test` leaves them out. */
function allFiles(isBrowser: boolean): string[] {
  if (isBrowser) return globSync('test/browser/*.test.ts', { cwd: root });
  return globSync('{test,src}/**/*.test.ts', {
    cwd: root,
    exclude: ['test/{browser,packaging}/**', ...nightlyFiles],
  });
}

/**
 * Files that make calls alone begin first, and go on to the end. Beside them run those that wait
 * for programs, so that the processors are busy all the time.
 */
function grouped(files: readonly string[]): string[] {
  const { alone = [], shared = [], ...starting } = Object.groupBy(files.toSorted(), kindOf);
  const startingGroups = Object.entries(starting).flatMap(([room, members = []]) =>
    writeGroups(room, members, Math.ceil(members.length / filesThatStart.perProcess)),
  );
  return [
    ...writeGroups('shared', shared.toSorted(longestFirst), Math.min(sharing, shared.length)),
    ...inTurns(
      alone.flatMap((file) => writeGroups(file, [file], 1)),
      startingGroups,
    ),
  ];
}

/** A folder of files that start programs shares processes. */
function kindOf(file: string): string {
  if (isApart(file)) return 'alone';
  return filesThatStart.folders.includes(dirname(file)) ? dirname(file) : 'shared';
}

function longestFirst(one: string, other: string): number {
  const rankOf = (file: string) => longest.toReversed().indexOf(dirname(file));
  return rankOf(other) - rankOf(one);
}

function isApart(file: string): boolean {
  return apart.includes(file);
}

/**
 * Files that wait for programs run beside groups that keep the processors busy. The groups that
 * take longest begin in the first half of the run: it does not end with one of them alone.
 */
function inTurns(alone: readonly string[], groups: readonly string[]): string[] {
  const between = Math.max(1, Math.floor(alone.length / 2 / Math.max(groups.length, 1)));
  const first = groups.flatMap((group, index) => [
    group,
    ...alone.slice(index * between, (index + 1) * between),
  ]);
  return [...first, ...alone.slice(groups.length * between)];
}

/** Files that run others: each is a suite, with its own hooks, that ends before the next begins. */
function writeGroups(name: string, files: readonly string[], count: number): string[] {
  const grouping = pathToFileURL(join(root, 'test', 'support', 'group.ts')).href;
  const listed = files.map((file) => [file, pathToFileURL(join(root, file)).href]);
  const group = join(groupsFolder, name.replaceAll('/', '-'));
  const list = { figuresFile, takenFolder: `${group}-taken`, files: listed };
  mkdirSync(list.takenFolder);
  return Array.from({ length: count }, (_, index) => {
    const path = `${group}-${index + 1}.mjs`;
    writeFileSync(
      path,
      `import { runFiles } from ${JSON.stringify(grouping)};
await runFiles(${JSON.stringify(list)});
`,
    );
    return path;
  });
}

type Figures = { file: string; seconds: number; processorSeconds: number };

/** Processor time is that of the tests' own process: PostgreSQL and other programs come on top. */
function showSlowest(): void {
  const figures = readFileSync(figuresFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Figures)
    .sort((a, b) => b.seconds - a.seconds);
  rmSync(groupsFolder, { recursive: true, force: true });
  if (figures.length < files.length) {
    process.exitCode = 1;
    console.error(`failed: of ${files.length} files, ${figures.length} ran to their end`);
  }
  if (figures.length < 2) return;
  console.log(`\nThe slowest of ${figures.length} files (seconds, and those of a processor):`);
  for (const { file, seconds, processorSeconds } of figures.slice(0, slowestShown)) {
    console.log(
      `${seconds.toFixed(1).padStart(6)} ${processorSeconds.toFixed(1).padStart(6)}  ${file}`,
    );
  }
}
