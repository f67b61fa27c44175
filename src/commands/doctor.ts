// billwright doctor: looks at everything the program needs, changes nothing, and says what to do.
import { existsSync, statfsSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { counted } from '../base/counted.ts';
import { listPending, readMigrations } from '../base/db/migrate.ts';
import { plainOpening, transact } from '../base/db/pool.ts';
import { tryMailServer } from '../base/mail/try-server.ts';
import { tryUnseal } from '../base/secret-key.ts';
import type { Config } from '../config.ts';
import { type Context, inspectDatabase, openApiDatabase } from '../context.ts';
import { type Watched, watchOperations } from '../domain/monitoring/store.ts';
import { findOpenWorkspace, isLoopback } from './default-login.ts';
import { openForCommand } from './shutdown.ts';

type Grade = 'ok' | 'warning' | 'problem';
export type Finding = { grade: Grade; about: string; text: string };

const marks: Record<Grade, string> = { ok: 'ok     ', warning: 'warning', problem: 'PROBLEM' };

/** The exit code is 1 if there is a problem; warnings alone leave it 0. */
export async function doctorCommand(config: Config): Promise<void> {
  let problems = 0;
  let warnings = 0;
  for await (const { grade, about, text } of findings(config)) {
    if (grade === 'problem') problems += 1;
    if (grade === 'warning') warnings += 1;
    process.stdout.write(`${marks[grade]}  ${about}: ${text}\n`);
  }
  process.stdout.write(`\n${counted(problems, 'problem')}, ${counted(warnings, 'warning')}\n`);
  if (problems > 0) process.exitCode = 1;
}

async function* findings(config: Config): AsyncGenerator<Finding> {
  yield program();
  yield* ofDatabase(config);
  yield disk(config);
  yield secretKey(config);
  yield await mail(config);
}

/** Without a database there is still something to look at. */
async function* ofDatabase(config: Config): AsyncGenerator<Finding> {
  let context: Context | undefined;
  try {
    context = await openForCommand(config);
    const pending = await pendingVersions(context);
    yield* schema(pending);
    yield* await database(context);
    yield clock(await clockDifferenceMs(context));
    if (pending.length > 0) return;
    yield* await access(context);
    yield* await work(context);
    yield* await secrets(context);
  } catch (error) {
    if (error instanceof TypeError) throw error;
    const advice =
      config.databaseUrl === undefined
        ? 'Look at the log of PostgreSQL in the data folder.'
        : 'Start PostgreSQL, or check DATABASE_URL.';
    const text = `it cannot be used: ${(error as Error).message}. ${advice}`;
    yield { grade: 'problem', about: 'database', text };
  } finally {
    await context?.close();
  }
}

function program(): Finding {
  const text = `Node.js ${process.versions.node} on ${hostname()}`;
  const isNew = Number(process.versions.node.split('.')[0]) >= 26;
  const advice = `${text}. Billwright is tested with Node.js 26: npm start brings it.`;
  return { grade: isNew ? 'ok' : 'warning', about: 'program', text: isNew ? text : advice };
}

async function withOwner<Result>(
  { owner }: Context,
  use: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const { connection } = owner;
  const client = new pg.Client('url' in connection ? connection.url : connection);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

async function pendingVersions(context: Context): Promise<number[]> {
  const migrations = await readMigrations(new URL('../../migrations/', import.meta.url));
  return withOwner(context, (client) => listPending(client, migrations));
}

function* schema(pending: readonly number[]): Generator<Finding> {
  if (pending.length === 0) yield { grade: 'ok', about: 'schema', text: 'up to date' };
  else {
    const text =
      `${pending.length} migrations are to be run. ` +
      'The next start runs them, or billwright migrate.';
    yield { grade: 'warning', about: 'schema', text };
  }
}

async function database(context: Context): Promise<Finding[]> {
  const version = await withOwner(context, async (client) => {
    const { rows } = await client.query<{ version: string; room: number }>(
      `select current_setting('server_version') as version,
         current_setting('max_connections')::integer - count(*)::integer as room
       from pg_stat_activity where backend_type = 'client backend'`,
    );
    return rows[0];
  });
  const report = await inspectDatabase(context);
  const { apiConnections, workerConnections } = context.config;
  const needed = apiConnections + workerConnections;
  const room = version?.room ?? 0;
  return [
    { grade: 'ok', about: 'database', text: `PostgreSQL ${version?.version}` },
    ...report.refusals.map((text): Finding => ({ grade: 'problem', about: 'database', text })),
    ...report.warnings.map((text): Finding => ({ grade: 'warning', about: 'database', text })),
    room >= needed
      ? { grade: 'ok', about: 'connections', text: `${room} are free, a server needs ${needed}` }
      : {
          grade: 'warning',
          about: 'connections',
          text: `${room} are free, and one more server needs ${needed}. Raise max_connections.`,
        },
  ];
}

async function clockDifferenceMs(context: Context): Promise<number> {
  return withOwner(context, async (client) => {
    const before = context.clock.now().epochMilliseconds;
    const { rows } = await client.query<{ ms: number }>(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
    );
    const after = context.clock.now().epochMilliseconds;
    return (rows[0]?.ms ?? before) - (before + after) / 2;
  });
}

const clockMs = { warning: 1_000, problem: 60_000 };

function clock(differenceMs: number): Finding {
  const apart = Math.abs(differenceMs);
  const seconds = `${(apart / 1_000).toFixed(1)} s`;
  if (apart < clockMs.warning) {
    return { grade: 'ok', about: 'clocks', text: 'this machine and the database agree' };
  }
  const text = `this machine and the database are ${seconds} apart. Switch on NTP on both.`;
  return { grade: apart < clockMs.problem ? 'warning' : 'problem', about: 'clocks', text };
}

const freeBytes = { warning: 5 * 1024 ** 3, problem: 512 * 1024 ** 2 };

function disk({ dataFolder, databaseUrl }: Config): Finding {
  const about = 'disk';
  if (!existsSync(dataFolder)) {
    return { grade: 'ok', about, text: `${dataFolder} does not exist yet` };
  }
  const { bavail, bsize } = statfsSync(dataFolder);
  const free = bavail * bsize;
  const holds = databaseUrl === undefined ? 'the database and mails' : 'keys and mails';
  const text = `${(free / 1024 ** 3).toFixed(1)} GB are free at ${dataFolder}, which has ${holds}`;
  const grade = free < freeBytes.problem ? 'problem' : free < freeBytes.warning ? 'warning' : 'ok';
  return {
    grade,
    about,
    text: grade === 'ok' ? text : `${text}. Free some, or use a larger disk.`,
  };
}

function keyFileOf({ secretKeyFile, dataFolder }: Config): string {
  return secretKeyFile ?? join(dataFolder, 'secret.key');
}

function secretKey(config: Config): Finding {
  const about = 'secret key';
  const path = keyFileOf(config);
  if (!existsSync(path)) return { grade: 'ok', about, text: `${path} is made when it is needed` };
  const isOpen = (statSync(path).mode & 0o077) !== 0;
  const text = isOpen
    ? `other accounts can read ${path}. Run chmod 600 on it.`
    : `${path}. Back it up apart from the database: without it no second factor, webhook or ` +
      'payment gateway works.';
  return { grade: isOpen ? 'problem' : 'ok', about, text };
}

/** Secrets that this machine cannot decrypt: its key is not that of the installation. */
async function secrets(context: Context): Promise<Finding[]> {
  const stored = await withOwner(context, listSecrets);
  // A key that does not exist yet is not made here.
  const hasKey = existsSync(keyFileOf(context.config));
  const unreadable = stored.filter(({ secret }) => !hasKey || tryUnseal(secret) === undefined);
  if (unreadable.length === 0) return [];
  const what = unreadable.map((one) => one.what).join(', ');
  const text =
    `${what} were encrypted with another key. Copy the key file of the first machine to ` +
    `${keyFileOf(context.config)}, or set new secrets.`;
  return [{ grade: 'problem', about: 'secret key', text }];
}

/** One of each kind: all of them have the same key. */
async function listSecrets(client: pg.Client): Promise<{ what: string; secret: Buffer }[]> {
  const { rows } = await client.query<{ what: string; secret: Buffer }>(
    `(select 'webhooks' as what, secret from webhooks order by modified_at desc limit 1)
     union all
     (select 'payment gateways', secret from gateways order by modified_at desc limit 1)
     union all
     (select 'second factors', secret from login_factors order by created_at desc limit 1)`,
  );
  return rows;
}

async function access(context: Context): Promise<Finding[]> {
  const workspace = await findOpenWorkspace(context);
  if (workspace === undefined) return [];
  const text = `the demo login of workspace ${workspace} has its default password`;
  return isLoopback(context.config.host)
    ? [{ grade: 'ok', about: 'access', text: `${text}; only this machine can use it` }]
    : [
        {
          grade: 'problem',
          about: 'access',
          text: `${text}. Change it, or suspend the workspace.`,
        },
      ];
}

async function work(context: Context): Promise<Finding[]> {
  const api = openApiDatabase(context);
  try {
    const options = { opening: plainOpening, readOnly: true };
    const watched = await transact(api, options, (tx) => watchOperations(tx));
    return [workers(watched), ...waiting(watched)];
  } finally {
    await api.close();
  }
}

const workerSilentSeconds = 120;

function workers({ workers: seen }: Watched): Finding {
  const alive = seen.filter(({ seen_seconds: seconds }) => seconds < workerSilentSeconds);
  if (alive.length > 0) return { grade: 'ok', about: 'workers', text: `${alive.length} at work` };
  const text =
    'none was seen in the last two minutes. Bills are not generated and mails not sent until ' +
    'billwright start or billwright work runs.';
  return { grade: 'warning', about: 'workers', text };
}

const lateSeconds = { Due: 600, Queued: 3_600, Waiting: 3_600, Unread: 3_600 };

const waitingThings = {
  job: { about: 'jobs', advice: 'Start workers, or look at their log.' },
  delivery: { about: 'mails', advice: 'Start workers, or look at their log.' },
  webhook: { about: 'webhooks', advice: 'get-webhooks has the last error of each receiver.' },
  event: {
    about: 'events',
    advice: 'Webhooks have not read them: start workers, or see their log.',
  },
};

function waiting({ operations }: Watched): Finding[] {
  const late = operations.filter(
    ({ state, oldest_seconds: age }) =>
      (age ?? 0) > (lateSeconds[state as keyof typeof lateSeconds] ?? Infinity),
  );
  const failed = operations.filter(({ kind, state }) => kind === 'job' && state === 'Failed');
  const dead = operations.filter(({ kind, state }) => kind === 'webhook' && state === 'Dead');
  const uncertain = operations.filter(({ state }) => state === 'Uncertain');
  const found: Finding[] = [
    ...late.map(
      ({ kind, amount, oldest_seconds: age }): Finding => ({
        grade: 'warning',
        about: waitingThings[kind].about,
        text:
          `${amount} wait, the oldest for ${Math.round((age ?? 0) / 60)} minutes. ` +
          waitingThings[kind].advice,
      }),
    ),
    ...failed.map(
      ({ amount }): Finding => ({
        grade: 'warning',
        about: 'jobs',
        text: `${amount} failed within the last hour. get-jobs says why.`,
      }),
    ),
    ...dead.map(
      ({ amount }): Finding => ({
        grade: 'warning',
        about: 'webhooks',
        text:
          `${amount} messages were given up within the last hour. ` +
          'get-webhook-messages says why, redeliver-event sends them again.',
      }),
    ),
    ...uncertain.map(
      ({ amount }): Finding => ({
        grade: 'warning',
        about: 'mails',
        text:
          `${amount} are uncertain: a worker ended while it sent them. ` +
          'Decide with resolve-deliveries.',
      }),
    ),
  ];
  return found.length > 0
    ? found
    : [{ grade: 'ok', about: 'jobs, mails and webhooks', text: 'none is late' }];
}

async function mail({ smtpUrl, dataFolder, host }: Config): Promise<Finding> {
  const about = 'mail';
  if (smtpUrl === undefined) {
    const text = `SMTP_URL is not set: mails are written to ${join(dataFolder, 'outbox')}`;
    return { grade: isLoopback(host) ? 'ok' : 'warning', about, text };
  }
  const refusal = await tryMailServer(smtpUrl);
  const { host: server } = new URL(smtpUrl);
  if (refusal === undefined) return { grade: 'ok', about, text: `${server} accepts the login` };
  return { grade: 'problem', about, text: `${server} refuses: ${refusal}. Check SMTP_URL.` };
}
