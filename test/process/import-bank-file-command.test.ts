// Bank files on the command line: taken in without a server, posted to the end, and only once.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createClient } from '../../sdk/client.ts';
import { csvOf } from '../support/bank.ts';
import { smallService } from '../support/pricing.ts';
import { assertNothingRuns, finish, openPlace } from '../support/program.ts';

const place = await openPlace();
const folder = await mkdtemp(join(tmpdir(), 'billwright-bank-'));
after(() => rm(folder, { recursive: true, force: true }));

function command(...line: string[]) {
  return finish(place.run(line));
}

const password = 'a long pass phrase';
const username = 'a@acme.example';

test('a file of many lines is posted by the command itself, once; a dry run stores nothing', async () => {
  const made = ['create', 'acme', '--admin', username, '--password', password];
  assert.equal((await command('workspace', ...made)).code, 0);
  const server = place.run(['serve']);
  const client = createClient({
    baseUrl: await server.ready(),
    headers: { 'X-Workspace': 'acme' },
  });
  const { data } = await client.login({ username, password });
  client.useToken(data.accessToken);
  await client.createService({ service: { ...smallService, bankAccounts: [{ title: 'Bank' }] } });
  await client.makeUsers({ userType: 'customer', users: [{ name: 'Asha Rao' }] });
  const names = { date: 'date', amount: 'amount', reference: 'reference', payer: 'payer' };
  const columns = { ...names, dateFormat: 'DD/MM/YYYY', decimal: '.' as const };
  await client.makeMappings({ mappings: [{ name: 'usual', columns }] });
  await server.end('SIGTERM');
  const row = { amount: 1, reference: '100001', payer: 'Asha Rao', date: '01/08/2025' };
  const path = join(folder, 'august.csv');
  await writeFile(path, csvOf([...Array(1_500).fill(row), { ...row, payer: 'X', reference: '' }]));
  const into = ['--workspace', 'acme', '--account', '1', '--format', 'csv', '--mapping', 'usual'];
  const counts = '1500 lines posted, 0 suggested, 1 unmatched, 0 duplicate';
  const dry = await command('import-bank-file', path, ...into, '--dry-run');
  assert.match(dry.output, new RegExp(`^Nothing is stored: ${counts}, in [\\d.]+ s$`, 'm'));
  const real = await command('import-bank-file', path, ...into);
  assert.equal(real.code, 0, real.output);
  assert.match(real.output, new RegExp(`^${counts}, in [\\d.]+ s$`, 'm'));
  const again = await command('import-bank-file', path, ...into);
  assert.match(again.output, new RegExp(`^The file was imported before: ${counts}`, 'm'));
  const wrong = await command('import-bank-file', path, ...into.slice(0, 4));
  assert.equal(wrong.code, 2);
  assert.match(wrong.output, /--format is one of CSV, CAMT, MT940\./);
  const missing = await command('import-bank-file', path, ...into.with(3, '9'));
  assert.match(missing.output, /No bank account has the id 9/);
  const checked = await command('verify', '--workspace', 'acme');
  assert.equal(checked.code, 0, checked.output);
  await assertNothingRuns(place.dataFolder);
});
