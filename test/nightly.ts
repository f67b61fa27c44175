// npm run nightly: the long stories of the console in a browser, the npm package, the files that
// `npm test` leaves out, and the random and the killing tests with many more cases than it has time
// for, one after the other. Numbers that are given in the environment win.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nightlyFiles } from './support/nightly-files.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

type Night = { files: readonly string[]; environment: Record<string, string> };

const nights: Night[] = [
  { files: globSync('test/browser/*.test.ts', { cwd: root }), environment: {} },
  { files: ['test/packaging/npm-package.test.ts'], environment: {} },
  { files: filesInForms(), environment: { ALL_FORMS: '1' } },
  { files: ['test/attacks.test.ts'], environment: { ATTACK_PROBES: 'all' } },
  { files: ['test/documents/hostile-length.test.ts'], environment: { HOSTILE_SHARE: '1' } },
  { files: ['test/random-calls.test.ts'], environment: { RANDOM_CALLS: '20000' } },
  { files: ['test/rating/fuzz.test.ts'], environment: { FUZZ_INPUTS: '1000000' } },
  {
    files: [
      'test/rating/bill-agreement.test.ts',
      'test/rating/bill-order.test.ts',
      'test/rating/bill-properties.test.ts',
      'test/rating/interpreter-agreement.test.ts',
      'test/rating/number-properties.test.ts',
    ],
    environment: { RATING_RUNS: '50000' },
  },
  {
    files: ['test/billrun/random-months.test.ts'],
    environment: { MONTHS_RUNS: '100', MONTHS_LENGTH: '25' },
  },
  { files: ['test/billrun/explain-random.test.ts'], environment: { EXPLAIN_BILLS: '5000' } },
  { files: ['test/billrun/calendars.test.ts'], environment: { CALENDARS: '40' } },
  { files: ['test/billrun/clock-changes.test.ts'], environment: { CLOCK_CHANGES: 'all' } },
  { files: ['test/operations/meter-races.test.ts'], environment: { RACE_SECONDS: '30' } },
  {
    files: ['test/faults/kills.test.ts', 'test/faults/contention.test.ts'],
    environment: { FAULT_KILLS: '5', FAULT_SUBSCRIPTIONS: '5000', FAULT_MINUTES: '60' },
  },
  {
    files: ['test/faults/receivables-kills.test.ts'],
    environment: { BANK_KILLS: '60', BANK_LINES: '100000', NIGHT_KILLS: '60' },
  },
  {
    files: ['test/operations/payment-histories.test.ts'],
    environment: {
      HISTORIES: '1000',
      HISTORY_MONTHS: '6',
      HISTORY_METHODS: 'Chronology,Component Priority,Latest First,Proportional,Manual',
    },
  },
  { files: ['test/ledger/settle.test.ts'], environment: { SETTLEMENT_RUNS: '100000' } },
  {
    files: ['test/faults/webhook-kills.test.ts'],
    environment: { WEBHOOK_CHANGES: '100000', WEBHOOK_KILLS: '60', WEBHOOK_FULL_DISK: '1' },
  },
  { files: ['test/faults/payment-crowd.test.ts'], environment: { CROWD_SECONDS: '30' } },
  { files: ['test/process/jobs.test.ts'], environment: { FAULT_SUBSCRIPTIONS: '5000' } },
  { files: ['test/faults/shortage.test.ts'], environment: { FAULT_SUBSCRIPTIONS: '250' } },
];

const enlarged = nights.flatMap(({ files }) => files);
nights.push({ files: nightlyFiles.filter((file) => !enlarged.includes(file)), environment: {} });

/** Files with stories of which `npm test` runs one form. */
function filesInForms(): string[] {
  return globSync('test/**/*.test.ts', { cwd: root }).filter((file) =>
    readFileSync(join(root, file), 'utf8').includes("/support/forms.ts'"),
  );
}

/** A run that does not end within hours fails. */
const timeoutMs = 3 * 3_600_000;

const failed = nights.filter(({ files, environment }) => {
  const given = Object.entries(environment).map(([name, value]) => [
    name,
    process.env[name] ?? value,
  ]);
  console.log(`\n${given.map((pair) => pair.join('=')).join(' ')} ${files.join(' ')}`);
  const { status } = spawnSync(process.execPath, ['test/run.ts', ...files], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, TEST_TIMEOUT_MS: String(timeoutMs), ...Object.fromEntries(given) },
  });
  return status !== 0;
});
for (const { files } of failed) console.log(`failed: ${files.join(' ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
