// A term of any size that is ready to be billed, made inside PostgreSQL, and what it came to as a
// few hashes: two terms of the same size that were billed properly have the same.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { BillingError, type Client, createClient } from '../../sdk/client.ts';
import { tariffCase } from './bill-run.ts';
import type { Place } from './checks.ts';
import type { TestClient } from './client.ts';
import { withPastDueDates } from './due-dates.ts';
import { until } from './program.ts';
import { fillTerm, termID } from './residential-rows.ts';
import { adminPassword, makeWorkspace } from './scene.ts';
import { saveTariffs } from './tariffs.ts';

export type FullTerm = { workspace: string; tenantId: number; token: string };

/**
 * Where it is about noon. The day of the posting is on documents and in books, and two terms that
 * are compared must not be on both sides of midnight.
 */
export const noonZone = zoneAtNoon(new Date().getUTCHours());

/** West of Greenwich the names of these zones have a plus. */
function zoneAtNoon(hour: number): string {
  const ahead = 12 - hour;
  return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

/** Whose rows are worth counting: all tables would take longer than making a small term does. */
const filledTables = `parties, billing_accounts, subscriptions, meters, meter_assignments,
  assignment_registers, readings, term_readings, usage_histories, terms, journals, journal_lines,
  subledger_entries, bills, bill_runs, jobs, job_chunks, subscription_balances`;
/** Subscriptions of which it pays: counting the rows of a smaller term takes longer than billing. */
const countedFrom = 500;

/** Metered subscriptions of the residential electricity plan, each of a party with an address. */
export async function makeFullTerm(
  place: Place,
  baseUrl: string,
  workspace: string,
  subscriptions: number,
  { sandbox = false }: { sandbox?: boolean } = {},
): Promise<FullTerm> {
  const now = Temporal.Now.instant();
  // The name is printed on the documents, which are compared.
  const options = { name: 'City Power', timezone: noonZone, sandbox };
  const tenantId = await makeWorkspace(place.cluster, place.databaseName, now, workspace, options);
  const client = createClient({ baseUrl, headers: { 'X-Workspace': workspace } });
  const username = `admin@${workspace}.example`;
  const { data } = await client.login({ username, password: adminPassword });
  client.useToken(data.accessToken);
  await saveTariffs(client as TestClient, tariffCase('ELEC'));
  const owner = new pg.Client({ ...place.cluster.owner, database: place.databaseName });
  await owner.connect();
  try {
    await fillTerm(owner, tenantId, subscriptions);
    // Every third is billed for the first time here: posting begins its history.
    await owner.query(
      'delete from usage_histories where tenant_id = $1 and subscription_id % 3 = 0',
      [tenantId],
    );
    await owner.query(
      `insert into counters (tenant_id, series, last_number)
       select tenant_id, 'party-number', max(party_number) from parties where tenant_id = $1
       group by tenant_id
       on conflict (tenant_id, series) do update set last_number = excluded.last_number`,
      [tenantId],
    );
    if (subscriptions >= countedFrom) await owner.query(`analyze ${filledTables}`);
  } finally {
    await owner.end();
  }
  return { workspace, tenantId, token: data.accessToken };
}

export function clientOf(baseUrl: string, { workspace, token }: FullTerm): Client {
  const client = createClient({ baseUrl, headers: { 'X-Workspace': workspace } });
  client.useToken(token);
  return Object.assign(client, withPastDueDates(client));
}

export const stepNames = ['generate', 'post', 'publish', 'distribute'] as const;
export type StepName = (typeof stepNames)[number];

/**
 * Asks for a step, without waiting for its end where the server does not, and returns its job. A
 * server that has just lost its database says that it may be asked again, and is: with the same
 * key, so that the step is asked for once.
 */
export async function ask(client: Client, step: StepName): Promise<number> {
  const body = { operation: 'schedule' as const, data: { termID } };
  const options = { idempotencyKey: randomUUID() };
  const call = {
    generate: () => client.generateBills(body, options),
    post: () => client.postBills({ ...body, data: { termID, skipErrors: false } }, options),
    publish: () => client.publishBills(body, options),
    distribute: () => client.distributeBills(body, options),
  }[step];
  const reply = await until(
    () =>
      call().catch((error) => {
        if (error instanceof BillingError && error.code === 'UNAVAILABLE') return undefined;
        throw error;
      }),
    `${step} is taken`,
  );
  const jobId = Number(reply.headers.get('x-job-id'));
  assert.ok(jobId > 0, `${step} has a job`);
  return jobId;
}

// biome-ignore lint/suspicious/noExplicitAny: rows are whatever the statement says.
type Rows = (text: string, values: readonly unknown[]) => Promise<any[]>;

export async function jobOf(rows: Rows, { tenantId }: FullTerm, jobId: number) {
  const [job] = await rows(
    `select status, error, outcome ->> 'message' as message, finished_at from jobs
     where tenant_id = $1 and job_id = $2`,
    [tenantId, jobId],
  );
  return job;
}

/**
 * A part that takes its worker down three times is given up, which is another promise with a test
 * of its own. Whoever kills on purpose leaves alone what has died once and is tried again: by the
 * time of the kill it may be tried a third time.
 */
export async function mayKill(
  rows: Rows,
  { tenantId }: { tenantId: number },
  jobId: number,
): Promise<boolean> {
  const [row] = await rows(
    `select coalesce(max(tries), 0)::integer as most from (
       select count(*) as tries from chunk_attempts
       where tenant_id = $1 and job_id = $2 group by chunk
     ) t`,
    [tenantId, jobId],
  );
  return row.most < 2;
}

export async function jobEnds(rows: Rows, term: FullTerm, jobId: number) {
  return until(async () => {
    const job = await jobOf(rows, term, jobId);
    return job.finished_at && job;
  }, `job ${jobId} of ${term.workspace} ends`);
}

/**
 * What is compared, by what it is called when it differs; all of it in the order of its keys. Ids of
 * journals and entries have gaps where a process was killed: their order is compared.
 */
const aspects: Record<string, string> = {
  bills: `select count(*)::text || ' ' || count(distinct subscription_id) || ' '
      || count(distinct bill_number) || ' ' || sum(bill_amount) || ' ' || sum(payable)
    from bills where tenant_id = $1`,
  'bytes of bills': `select md5(string_agg(concat_ws(' ', subscription_id, bill_id, bill_number,
      status, posting, first_run, encode(hash, 'hex'), bill_amount, payable, due_date), ','
      order by subscription_id)) from bills where tenant_id = $1`,
  numbers: `select md5(string_agg(concat_ws(' ', bill_number, bill_id, term_id, retired_reason,
      retired_at is null), ',' order by bill_number)) from bill_numbers where tenant_id = $1`,
  entries: `select md5(string_agg(concat_ws(' ', journal, ledger_account_id, party_id,
      subscription_id, bill_id, posting, kind, amount), ',' order by entry_id))
    from (
      select *, dense_rank() over (order by journal_id) as journal
      from subledger_entries where tenant_id = $1
    ) e`,
  ledger: `select md5(string_agg(concat_ws(' ', journal, line_number, ledger_account_id, amount),
      ',' order by journal, line_number))
    from (
      select *, dense_rank() over (order by journal_id) as journal
      from journal_lines where tenant_id = $1
    ) l`,
  balances: `select md5(string_agg(concat_ws(' ', subscription_id, party_id, receivable, deposit,
      disputed), ',' order by subscription_id, party_id))
    from subscription_balances where tenant_id = $1`,
  histories: `select md5(string_agg(concat_ws(' ', subscription_id, terms, brought_forward,
      received), ',' order by subscription_id)) from usage_histories where tenant_id = $1`,
  subscriptions: `select md5(string_agg(concat_ws(' ', subscription_id, status, billed_through), ','
      order by subscription_id)) from subscriptions where tenant_id = $1`,
  documents: `select md5(string_agg(concat_ws(' ', bill_id, size, encode(sha256, 'hex'),
      error is null), ',' order by bill_id)) from bill_documents where tenant_id = $1`,
  deliveries: `select md5(string_agg(concat_ws(' ', bill_id, channel, recipient), ','
      order by bill_id, channel)) from deliveries where tenant_id = $1`,
  run: `select string_agg(concat_ws(' ', run_number, totals,
      reserved - 'firstEntry' - 'firstJournal'), ',' order by run_number)
    from bill_runs where tenant_id = $1`,
};

export type Digest = Record<string, string>;

export async function digestOf(place: Place, tenantId: number): Promise<Digest> {
  const owner = new pg.Client({ ...place.cluster.superuser, database: place.databaseName });
  await owner.connect();
  try {
    const digest: Digest = {};
    for (const [name, text] of Object.entries(aspects)) {
      const { rows } = await owner.query(text, [tenantId]);
      digest[name] = String(Object.values(rows[0] ?? {})[0]);
    }
    return digest;
  } finally {
    await owner.end();
  }
}
