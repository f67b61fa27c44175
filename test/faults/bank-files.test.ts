// A bank file is posted while the worker, the whole program and PostgreSQL are killed with -9. The
// work goes on by itself, each line is posted once, and the totals are those of an undisturbed run.
//
//   FAULT_SEED=1 BANK_KILLS=60 BANK_LINES=100000 node --test test/faults/bank-files.test.ts
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../sdk/client.ts';
import { csvOf, type SampleRow } from '../support/bank.ts';
import { assertChecks } from '../support/checks.ts';
import { clientOf, type FullTerm, jobOf, makeFullTerm, mayKill } from '../support/full-term.ts';
import { isLinux, until } from '../support/program.ts';
import { openSupervisor, type Supervisor, type Target, targets } from '../support/supervisor.ts';

const seed = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 1e9));
const lines = Number(process.env.BANK_LINES ?? 3_500);
const kills = Number(process.env.BANK_KILLS ?? 4);
const overlap = lines >= 100_000 ? 500 : 50;
/** In hundredths: ten lines that come to 1,234.56. */
const unknown = [...Array(9).fill(12_346), 12_342];
const endsMs = 10 * 60_000;

function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Bank = { term: FullTerm; rows: SampleRow[] };

async function openBank(supervisor: Supervisor, workspace: string): Promise<Bank> {
  const term = await makeFullTerm(supervisor.place, supervisor.baseUrl(), workspace, 20);
  const { tenantId } = term;
  await supervisor.rows(
    `insert into bank_accounts (tenant_id, bank_account_id, context_id, title, is_default)
     select $1, 1, min(context_id), 'Collections', true from pricing_contexts where tenant_id = $1
     returning bank_account_id`,
    [tenantId],
  );
  const found = await supervisor.rows(
    'select subscription_number from subscriptions where tenant_id = $1 order by subscription_id',
    [tenantId],
  );
  const numbers = found.map((row) => row.subscription_number as string);
  const columns = { date: 'date', amount: 'amount', reference: 'reference', bankID: 'id' };
  const mapping = { ...columns, text: 'text', dateFormat: 'DD/MM/YYYY', decimal: '.' as const };
  await clientOf(supervisor.baseUrl(), term).makeMappings({
    mappings: [{ name: 'usual', columns: mapping }],
  });
  const known = Array.from({ length: lines - unknown.length - 2 }, (_, index) => ({
    ...{ date: '17/08/2025', reference: numbers[index % numbers.length] ?? '' },
    ...{ amount: `${(index % 90) + 1}.25`, id: `TX-${index}` },
  }));
  const twin = { date: '17/08/2025', reference: numbers[0] ?? '', amount: '50.00' };
  const strange = unknown.map((minor, index) => ({
    ...{ date: '17/08/2025', amount: (minor / 100).toFixed(2), text: `unknown ${index}` },
  }));
  return { term, rows: [...known, twin, twin, ...strange] };
}

/** Asked again, with the same key, while the server has lost its database. */
async function send(supervisor: Supervisor, { term }: Bank, rows: readonly SampleRow[]) {
  const contentBase64 = Buffer.from(csvOf(rows)).toString('base64');
  const file = { bankAccountID: 1, format: 'CSV', mappingName: 'usual', contentBase64 } as const;
  const idempotencyKey = randomUUID();
  const importFile = (client: Client) => client.importBankFile(file, { idempotencyKey });
  const { headers, message } = await until(
    () => importFile(clientOf(supervisor.baseUrl(), term)).catch(() => undefined),
    'the file is accepted',
    endsMs,
  );
  return { jobId: Number(headers.get('x-job-id')), message };
}

async function ended(supervisor: Supervisor, { term }: Bank, jobId: number): Promise<string> {
  const job = await until(
    async () => {
      const now = await jobOf(supervisor.rows, term, jobId);
      return now.finished_at && now;
    },
    `seed ${seed}: the lines of ${term.workspace} are posted`,
    endsMs,
  );
  assert.equal(job.status, 'Succeeded', `seed ${seed}: ${JSON.stringify(job.error)}`);
  return job.message;
}

/** What must be the same however often anything was killed. */
async function totalsOf({ rows }: Supervisor, { term }: Bank): Promise<object> {
  const [totals] = await rows(
    `select
       (select count(*) || ' ' || count(distinct reference) || ' ' || sum(amount)
        from payments where tenant_id = $1) as payments,
       (select string_agg(status || ' ' || n, ', ' order by status) from (
          select status, count(*) as n from bank_lines where tenant_id = $1 group by status
        ) s) as lines,
       (select sum(balance)::text from party_wallets where tenant_id = $1) as wallets,
       (select string_agg(account || ' ' || total, ', ' order by account) from (
          select ledger_account_id as account, sum(amount) as total from journal_lines
          where tenant_id = $1 group by 1
        ) a) as accounts`,
    [term.tenantId],
  );
  return totals;
}

async function disturb(supervisor: Supervisor, { term }: Bank, jobId: number): Promise<number> {
  const random = randomFrom(seed);
  const victims: Target[] = Array.from(
    { length: kills },
    (_, index) => targets[index % targets.length] ?? 'worker',
  );
  let met = 0;
  for (const [index, victim] of victims.entries()) {
    await supervisor.recovered();
    // The first one dies at chunk 37 of a hundred, or when a third of the chunks is done.
    const chunk = lines >= 100_000 ? 36 : Math.floor(lines / 3_000);
    const isReached = async () => {
      const [row] = await supervisor.rows(
        `select j.status, (select count(*)::integer from job_chunks k
           where k.tenant_id = $1 and k.job_id = $2 and k.is_done) as done
         from jobs j where j.tenant_id = $1 and j.job_id = $2`,
        [term.tenantId, jobId],
      );
      return row.status !== 'Scheduled' && (row.status !== 'Running' || row.done >= chunk);
    };
    if (index === 0) await until(isReached, `chunk ${chunk} is done`, endsMs);
    else await sleep(random() * 300);
    while (!(await mayKill(supervisor.rows, term, jobId))) await sleep(20);
    const { finished_at } = await jobOf(supervisor.rows, term, jobId);
    await supervisor.kill(victim, random);
    if (!finished_at) met += 1;
  }
  await supervisor.recovered();
  return met;
}

test('killed workers, programs and databases leave each line posted once', {
  skip: !isLinux,
}, async (t) => {
  const supervisor = await openSupervisor();
  const calm = await openBank(supervisor, 'bank-calm');
  const { jobId: calmJob } = await send(supervisor, calm, calm.rows);
  const message = await ended(supervisor, calm, calmJob);
  const posted = lines - unknown.length;
  assert.equal(message, `${posted} lines posted, 0 suggested, 10 unmatched, 0 duplicate`);
  const bank = await openBank(supervisor, 'bank-killed');
  const { jobId } = await send(supervisor, bank, bank.rows);
  const met = await disturb(supervisor, bank, jobId);
  assert.equal(await ended(supervisor, bank, jobId), message);
  t.diagnostic(`seed ${seed}: ${met} of ${kills} kills met the job running`);
  assert.deepEqual(await totalsOf(supervisor, bank), await totalsOf(supervisor, calm));
  const before = await totalsOf(supervisor, bank);
  const [suspense] = await supervisor.rows(
    `select -sum(amount)::integer as held from journal_lines
     where tenant_id = $1 and ledger_account_id = 1000003`,
    [bank.term.tenantId],
  );
  // 9 x 123.46 + 123.42 = 1,234.56
  assert.equal(suspense.held, 123_456);
  const again = await send(supervisor, bank, bank.rows);
  assert.match(again.message, /^The file was imported before: /);
  assert.deepEqual(await totalsOf(supervisor, bank), before);
  const late = await send(supervisor, bank, bank.rows.slice(0, overlap));
  assert.equal(late.message, `0 lines posted, 0 suggested, 0 unmatched, ${overlap} duplicate`);
  for (const { term } of [calm, bank]) await assertChecks(supervisor.place, term.tenantId);
});
