// Files on the command line: taken in, refused with every bad row, and written out again.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { exportCommand, routeSheetCommand } from '../../src/commands/export.ts';
import { importCommand } from '../../src/commands/import.ts';
import { ledgerCommand } from '../../src/commands/ledger.ts';
import { trialBalanceLines } from '../../src/commands/trial-balance.ts';
import { UsageError } from '../../src/commands/usage.ts';
import { readConfig } from '../../src/config.ts';
import { assertNothingRuns, finish, openPlace } from '../support/program.ts';

const place = await openPlace();
const folder = await mkdtemp(join(tmpdir(), 'billwright-files-'));
after(() => rm(folder, { recursive: true, force: true }));

function command(...line: string[]) {
  return finish(place.run(line));
}

async function file(name: string, ...lines: string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `${lines.join('\r\n')}\r\n`);
  return path;
}

const made = await command(
  ...[
    'workspace',
    'create',
    'acme',
    '--admin',
    'a@acme.example',
    '--password',
    'a long pass phrase',
  ],
);
assert.equal(made.code, 0, made.output);
const header = 'number,brand,meterType,purchaseDate';
const into = ['--workspace', 'acme'];

test('a dry run stores nothing, the real run does, and the same file again is refused', async () => {
  const path = await file('meters.csv', header, '1,Itron,1,15/01/2024', '2,=x,Water,2024-01-15');
  const dry = await command('import', 'meters', path, ...into, '--dry-run');
  assert.equal(dry.code, 0, dry.output);
  assert.match(dry.output, /^2 rows can be imported, in [\d.]+ s/m);
  const real = await command('import', 'meters', path, ...into);
  assert.match(real.output, /^2 rows imported, in/m);
  const again = await command('import', 'meters', path, ...into);
  assert.equal(again.code, 1);
  assert.match(again.output, /This file was imported on .* by command line; nothing was changed/);
  const listed = join(folder, 'out.csv');
  const out = await command('export', 'meters', ...into, '--to', listed);
  assert.equal(out.code, 0, out.output);
  assert.equal(
    await readFile(listed, 'utf8'),
    '\ufeffnumber,brand,meterType,purchaseDate,mf,status,meterHealth\r\n' +
      '1,Itron,Electric single phase,15/01/2024,1,InActive,ok\r\n' +
      "2,'=x,Water,15/01/2024,1,InActive,ok\r\n",
  );
});

test('every rejected row is in the file of errors, and nothing is stored', async () => {
  const rows = Array.from({ length: 30 }, (_, index) => `x${index},Itron,1,15/01/2024`);
  const path = await file('bad.csv', header, '3,Itron,1,15/01/2024', ...rows);
  const errors = join(folder, 'errors.csv');
  const done = await command('import', 'meters', path, ...into, '--errors', errors);
  assert.equal(done.code, 1);
  assert.match(done.output, /Nothing was imported: .*bad\.csv has 30 bad rows\./);
  assert.match(done.output, /line 3, number: .*INVALID_TYPE/);
  assert.match(done.output, /and 10 more/);
  const lines = (await readFile(errors, 'utf8')).trim().split('\r\n');
  assert.equal(lines.length, 31);
  assert.match(lines[1] ?? '', /^3,number,INVALID_TYPE,.*,x0$/);
  const { output } = await command('export', 'meters', ...into);
  assert.doesNotMatch(output, /^3,/m);
});

test('journals, bills and the audit trail are written as CSV files', async () => {
  const heads = [
    ['journals', /^\ufeffjournalID,lineNo,postingDate,valueDate,.*\r\n$/],
    ['bills', /^\ufeffbillID,billNumber,.*postingDate,issueDate,dueDate,.*\r\n$/],
    ['audit', /^\ufeffat,requestID,actor,.*before,after\r\n/],
  ] as const;
  for (const [kind, head] of heads) {
    const path = join(folder, `${kind}.csv`);
    const days = ['--from', '01/01/2020', '--until', '31/12/2099'];
    const done = await command('export', kind, ...into, ...days, '--to', path);
    assert.equal(done.code, 0, done.output);
    assert.match(await readFile(path, 'utf8'), head);
  }
});

test('a trial balance is printed, of some days or of one account', async () => {
  const whole = await command('ledger', 'trial-balance', ...into);
  assert.deepEqual(whole.code, 0, whole.output);
  assert.match(whole.output, /^Trial balance of acme, as of \d\d\/\d\d\/\d{4}, in USD$/m);
  assert.match(whole.output, /^ {2}Total +0\.00 +0\.00 +0\.00$/m);
  const days = ['--from', '01/07/2026', '--until', '31/07/2026'];
  const one = await command('ledger', 'trial-balance', ...into, ...days, '--account', 'CASH');
  assert.match(one.output, /^Trial balance of acme, from 01\/07\/2026 to 31\/07\/2026, in USD$/m);
  assert.match(one.output, /^ {2}CASH +Cash and bank +0\.00 +0\.00 +0\.00$/m);
  const none = await command('ledger', 'trial-balance', ...into, '--account', 'NONE');
  assert.equal(none.code, 1);
  assert.match(none.output, /acme has no ledger account with the code NONE/);
});

test('amounts of a trial balance are exact, and grouped by thousands', () => {
  const account = { code: 'CASH', name: 'Cash and bank', kind: 'Asset' };
  const amounts = { debit: 900719925474099301n, credit: 1234n, balance: 900719925474098067n };
  const totals = { debit: amounts.debit, credit: amounts.credit, difference: amounts.balance };
  const balance = { accounts: [{ ...account, ...amounts }], totals };
  const [, line = ''] = trialBalanceLines(balance, { decimals: 2, withEmpty: false });
  assert.deepEqual(line.trim().split(/\s{2,}/), [
    ...['CASH', 'Cash and bank', '9,007,199,254,740,993.01', '12.34', '9,007,199,254,740,980.67'],
  ]);
});

test('a workspace or service that does not exist is reported in a sentence', async () => {
  const path = await file('one.csv', header, '9,Itron,1,15/01/2024');
  const nowhere = await command('import', 'meters', path, '--workspace', 'nowhere');
  assert.deepEqual(nowhere, {
    code: 1,
    output: "billwright: There is no workspace named 'nowhere'.\n",
  });
  const none = await command('route-sheet', ...into, '--service', 'NONE');
  assert.equal(none.code, 1);
  assert.match(none.output, /No pricing context has the code NONE/);
  await assertNothingRuns(place.folder);
});

test('an invalid word or date is reported before anything is opened', async () => {
  const path = await file('two.csv', header);
  const config = readConfig({});
  const wrong: [() => Promise<void>, RegExp][] = [
    [() => importCommand(config, ['things', path, ...into]), /Say what to import/],
    [() => importCommand(config, ['meters', path]), /--workspace is needed/],
    [
      () => importCommand(config, ['meters', path, ...into, '--encoding', 'x']),
      /--encoding is one of/,
    ],
    [() => exportCommand(config, ['things', ...into]), /Say what to export/],
    [
      () => exportCommand(config, ['readings', ...into, '--from', '2026-01-01']),
      /--from must be a date/,
    ],
    [
      () => exportCommand(config, ['meters', ...into, '--until', '01/01/2026']),
      /Meters have no days/,
    ],
    [() => routeSheetCommand(config, into), /--service is needed/],
    [() => ledgerCommand(config, into), /'ledger' needs the word 'trial-balance'/],
    [() => ledgerCommand(config, ['trial-balance']), /--workspace is needed/],
    [
      () => ledgerCommand(config, ['trial-balance', ...into, '--until', '31/02/2026']),
      /a day that does not exist/,
    ],
  ];
  for (const [call, message] of wrong) {
    await assert.rejects(
      call,
      (error) => error instanceof UsageError && message.test(error.message),
    );
  }
});
