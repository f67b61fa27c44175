// Bank files are posted and nightly jobs run while the worker, the whole program and PostgreSQL are
// killed with -9. The work goes on by itself, each line and each fee is booked once, and the totals
// are those of an undisturbed run.
//
//   FAULT_SEED=1 BANK_KILLS=60 BANK_LINES=100000 NIGHT_KILLS=60 \
//     node --test test/faults/receivables-kills.test.ts
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Client } from '../../sdk/client.ts';
import { csvOf, type SampleRow } from '../support/bank.ts';
import { assertChecks } from '../support/checks.ts';
import {
  clientOf,
  type FullTerm,
  jobOf,
  makeFullTerm,
  mayKill,
  noonZone,
} from '../support/full-term.ts';
import { isLinux, until } from '../support/program.ts';
import { openSupervisor, type Supervisor, type Target, targets } from '../support/supervisor.ts';

const seed = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 1e9));
const lines = Number(process.env.BANK_LINES ?? 2_900);
const kills = Number(process.env.BANK_KILLS ?? 3);
const nightKills = Number(process.env.NIGHT_KILLS ?? 3);
const overlap = lines >= 100_000 ? 500 : 50;
/** In hundredths: ten lines that come to 1,234.56. */
const unknown = [...Array(9).fill(12_346), 12_342];
const endsMs = 10 * 60_000;
const random = randomFrom(seed);
/** The kills need /proc. */
const supervisor = isLinux ? await openSupervisor() : (undefined as unknown as Supervisor);

function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Bank = { term: FullTerm; numbers: string[] };

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
  const columns = { date: 'date', amount: 'amount', reference: 'reference', bankID: 'id' };
  const mapping = { ...columns, text: 'text', dateFormat: 'DD/MM/YYYY', decimal: '.' as const };
  await clientOf(supervisor.baseUrl(), term).makeMappings({
    mappings: [{ name: 'usual', columns: mapping }],
  });
  return { term, numbers: found.map((row) => row.subscription_number as string) };
}

/** Payments of known customers, two alike of 50.00, and ten whose payer is unknown. */
function rowsOf({ numbers }: Bank, file: number): SampleRow[] {
  const date = '17/08/2025';
  const known = Array.from({ length: lines - unknown.length - 2 }, (_, index) => ({
    ...{ date, reference: numbers[index % numbers.length] ?? '' },
    ...{ amount: `${(index % 90) + 1}.25`, id: `TX-${file}-${index}` },
  }));
  const twin = { date, reference: numbers[0] ?? '', amount: '50.00', text: `file ${file}` };
  const strange = unknown.map((minor, index) => ({
    ...{ date, amount: (minor / 100).toFixed(2), text: `unknown ${file}-${index}` },
  }));
  return [...known, twin, twin, ...strange];
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

/** Kills while the lines of a file are posted, until that ends or there were enough. */
async function disturb(
  supervisor: Supervisor,
  { term }: Bank,
  job: { jobId: number; afterChunk: number; before: number },
): Promise<number> {
  const { jobId, afterChunk, before } = job;
  const isReached = async () => {
    const [row] = await supervisor.rows(
      `select j.status, (select count(*)::integer from job_chunks k
         where k.tenant_id = $1 and k.job_id = $2 and k.is_done) as done
       from jobs j where j.tenant_id = $1 and j.job_id = $2`,
      [term.tenantId, jobId],
    );
    return row.status !== 'Scheduled' && (row.status !== 'Running' || row.done >= afterChunk);
  };
  await until(isReached, `chunk ${afterChunk} is done`, endsMs);
  for (let met = 0; ; met += 1) {
    while (!(await mayKill(supervisor.rows, term, jobId))) await sleep(20);
    const { finished_at } = await jobOf(supervisor.rows, term, jobId);
    if (finished_at || before + met === kills) return met;
    await supervisor.kill(targets[(before + met) % targets.length] as Target, random);
    await supervisor.recovered();
    await sleep(random() * 200);
  }
}

async function postCalmly(supervisor: Supervisor, bank: Bank, file: number): Promise<void> {
  const { jobId } = await send(supervisor, bank, rowsOf(bank, file));
  const posted = lines - unknown.length;
  const message = `${posted} lines posted, 0 suggested, 10 unmatched, 0 duplicate`;
  assert.equal(await ended(supervisor, bank, jobId), message);
}

/** Files are sent until each kill has met one that is being posted. Returns how many files. */
async function postDisturbed(supervisor: Supervisor, bank: Bank): Promise<number> {
  const posted = lines - unknown.length;
  let met = 0;
  for (let file = 1; ; file += 1) {
    const { jobId } = await send(supervisor, bank, rowsOf(bank, file));
    // The first one dies at chunk 37 of a hundred.
    const afterChunk = file > 1 ? 0 : Math.floor((lines * 0.36) / 1_000);
    met += await disturb(supervisor, bank, { jobId, afterChunk, before: met });
    assert.equal(
      await ended(supervisor, bank, jobId),
      `${posted} lines posted, 0 suggested, 10 unmatched, 0 duplicate`,
    );
    if (met === kills) return file;
  }
}

test('killed workers, programs and databases leave each line posted once', {
  skip: !isLinux,
}, async (t) => {
  const bank = await openBank(supervisor, 'bank-killed');
  const files = await postDisturbed(supervisor, bank);
  const calm = await openBank(supervisor, 'bank-calm');
  for (let file = 1; file <= files; file += 1) await postCalmly(supervisor, calm, file);
  t.diagnostic(`seed ${seed}: ${kills} kills while ${files} files of ${lines} lines were posted`);
  const before = await totalsOf(supervisor, bank);
  assert.deepEqual(before, await totalsOf(supervisor, calm));
  const [suspense] = await supervisor.rows(
    `select -sum(amount)::integer as held from journal_lines
     where tenant_id = $1 and ledger_account_id = 1000003`,
    [bank.term.tenantId],
  );
  // 9 x 123.46 + 123.42 = 1,234.56 of each file
  assert.equal(suspense.held, 123_456 * files);
  const rows = rowsOf(bank, 1);
  const again = await send(supervisor, bank, rows);
  assert.match(again.message, /^The file was imported before: /);
  assert.deepEqual(await totalsOf(supervisor, bank), before);
  const late = await send(supervisor, bank, rows.slice(0, overlap));
  assert.equal(late.message, `0 lines posted, 0 suggested, 0 unmatched, ${overlap} duplicate`);
  for (const { term } of [calm, bank]) await assertChecks(supervisor.place, term.tenantId);
});

/** A plan has at most so many steps; every night does one. */
const nightsMax = 20;

/** Ten customers with an old debt, who are charged a fee every night. */
async function openNights(workspace: string): Promise<FullTerm> {
  const options = { sandbox: true };
  const { place } = supervisor;
  const term = await makeFullTerm(place, supervisor.baseUrl(), workspace, 20, options);
  const steps = Array.from({ length: nightsMax }, (_, index) => ({
    ...{ daysAfterDue: index + 1, action: 'Fee' as const, component: 'meterRent', amount: 10 },
  }));
  const service = { code: 'ELEC', dunning: { steps } };
  await clientOf(supervisor.baseUrl(), term).updateService({ service });
  return term;
}

/** What a night locks before it books the fees. Wallets and balances are there after the first. */
const nightLocks = [
  'select from subscriptions where tenant_id = $1 for update',
  'select from party_wallets where tenant_id = $1 for update',
  'select from subscription_balances where tenant_id = $1 for update',
];

async function goToNight(term: FullTerm, night: number): Promise<string> {
  const day = Temporal.Now.plainDateISO(noonZone).add({ days: night }).toString();
  const move = (client: Client) => client.moveClock({ data: { to: `${day}T02:00:00` } });
  await move(clientOf(supervisor.baseUrl(), term));
  return day;
}

/** The books are checked last, but a job that a kill has failed is done after them. */
async function nightEnds({ workspace, tenantId }: FullTerm, day: string): Promise<void> {
  const isDone = async () => {
    const [night] = await supervisor.rows(
      `select count(*) filter (where job = 'books') = 1
         and count(*) = (select count(distinct job) from daily_runs) as is_over
       from daily_runs
       where tenant_id = $1 and local_date = $2 and finished_at is not null`,
      [tenantId, day],
    );
    return night.is_over;
  };
  await until(isDone, `the night of ${day} in ${workspace} is over`, endsMs);
}

/** Kills when the night waits for what is locked. */
async function killAt(term: FullTerm, night: number, target: Target, lock: string) {
  const locker = new pg.Client({ ...supervisor.place.cluster.superuser, database: 'billwright' });
  // It is killed with the others where PostgreSQL is.
  locker.on('error', () => {});
  await locker.connect();
  await locker.query('begin');
  await locker.query(lock, [term.tenantId]);
  const { rows } = await locker.query('select pg_backend_pid() as pid');
  const day = await goToNight(term, night);
  const waits = async () => {
    const found = await supervisor.rows(
      'select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
      [rows[0].pid],
    );
    return found.length > 0;
  };
  await until(waits, `night ${night} waits for ${lock}`, endsMs);
  await supervisor.kill(target, random);
  await locker.end().catch(() => {});
  await supervisor.recovered();
  await nightEnds(term, day);
}

/** What the nights booked; the same however often anything was killed. */
async function nightsOf({ tenantId }: FullTerm): Promise<object[]> {
  const read = (query: string) => supervisor.rows(query, [tenantId]);
  return [
    await read(
      `select i.kind, i.issue_date::text, count(*)::integer, sum(i.amount)::text
       from open_items i where i.tenant_id = $1 group by 1, 2 order by 1, 2`,
    ),
    await read(
      `select source_type, count(*)::integer from journals where tenant_id = $1
       group by 1 order by 1`,
    ),
    await read(
      `select step_number, done_on::text, count(*)::integer from dunning_actions
       where tenant_id = $1 group by 1, 2 order by 1, 2`,
    ),
    await read(
      `select job, local_date::text, count(*)::integer from daily_runs
       where tenant_id = $1 and finished_at is not null group by 1, 2 order by 1, 2`,
    ),
  ];
}

test('nights that are killed where they wait charge each fee once', {
  skip: !isLinux,
}, async (t) => {
  const nights = Math.min(nightKills, nightsMax);
  const calm = await openNights('nights-of-calm');
  for (let night = 1; night <= nights; night += 1) {
    await nightEnds(calm, await goToNight(calm, night));
  }
  const expected = await nightsOf(calm);
  const [items] = expected as { kind: string; count: number }[][];
  const fees = items?.filter((item) => item.kind === 'Fee') ?? [];
  assert.deepEqual(
    fees.map((fee) => fee.count),
    Array(nights).fill(10),
  );
  let done = 0;
  for (let place = 1; done < nightKills; place += 1) {
    const term = await openNights(`nights-of-kills-${place}`);
    for (let night = 1; night <= nights; night += 1) {
      const target = targets[done % targets.length] as Target;
      // Over three rounds of the targets, each of them is killed at each lock.
      const round = Math.floor(done / targets.length);
      const lock = nightLocks[night === 1 ? 0 : (done + round) % nightLocks.length] ?? '';
      await killAt(term, night, target, lock);
      done += 1;
    }
    assert.deepEqual(await nightsOf(term), expected);
    await assertChecks(supervisor.place, term.tenantId);
  }
  t.diagnostic(`seed ${seed}: ${done} kills, each while a night was at work`);
});
