// Builds what the program runs on, by hand and in order, and closes it in reverse.
import { join } from 'node:path';
import { type Clock, systemClock } from './base/clock.ts';
import { checkDatabase, type SettingsReport } from './base/db/check-settings.ts';
import { migrate, readMigrations } from './base/db/migrate.ts';
import { type Connection, type Database, openDatabase, tenantShare } from './base/db/pool.ts';
import { createLog, type Log } from './base/log.ts';
import { openDkim } from './base/mail/dkim.ts';
import { createMailer } from './base/mail/mailer.ts';
import type { TracingOptions } from './base/open-tracing.ts';
import { useOutsideRules } from './base/outside/rules.ts';
import { type EmbeddedPostgres, startEmbedded } from './base/postgres/embedded.ts';
import { programVersion } from './base/program-version.ts';
import { useSecretKeyFile } from './base/secret-key.ts';
import { stopTracing, useTracing } from './base/tracing.ts';
import type { Config } from './config.ts';
import { createMailBreaker } from './domain/delivery/mail-breaker.ts';
import { openRenderer } from './domain/delivery/renderer.ts';
import type { Equipment } from './jobs/tools.ts';

/** Where to log in, and the role to take on there when the login itself has more rights. */
type Access = { connection: Connection; role?: string };

export type Context = {
  config: Config;
  clock: Clock;
  log: Log;
  owner: Access;
  api: Access;
  worker: Access;
  /** Known when the database was inspected: whether it spreads workspaces over several machines. */
  isSpread?: boolean;
  close(): Promise<void>;
};

const apiRole = 'billwright_api';
const workerRole = 'billwright_worker';
const reclaimPauseMs = 1_000;

export async function openContext(
  config: Config,
  options: { use: 'claim' | 'join'; quiet?: boolean },
): Promise<Context> {
  const log = createLog({ level: options.quiet ? 'warn' : config.logLevel });
  useSecretKeyFile(config.secretKeyFile ?? join(config.dataFolder, 'secret.key'));
  useOutsideRules(config.outside);
  // Commands end before anyone could look at what they do.
  if (config.tracing && !options.quiet) await startTracing(config.tracing, log);
  if (config.databaseUrl) return externalContext(config, config.databaseUrl, log);
  const embedded = await keepEmbedded(config, log, options.use);
  const { owner, api } = embedded.current();
  return {
    config,
    clock: systemClock,
    log,
    owner: { connection: owner },
    api: { connection: api },
    worker: { connection: owner, role: workerRole },
    async close() {
      await embedded.stop();
      await stopTracing();
    },
  };
}

function externalContext(config: Config, databaseUrl: string, log: Log): Context {
  const owner = { url: databaseUrl };
  const worker = { url: config.workerDatabaseUrl ?? databaseUrl };
  return {
    config,
    clock: systemClock,
    log,
    owner: { connection: worker },
    api: config.apiDatabaseUrl
      ? { connection: { url: config.apiDatabaseUrl } }
      : { connection: owner, role: apiRole },
    worker: { connection: worker, role: workerRole },
    close: stopTracing,
  };
}

/** What traces is loaded by programs that trace, and by no others. */
async function startTracing(options: TracingOptions, log: Log): Promise<void> {
  const { openTracing } = await import('./base/open-tracing.ts');
  useTracing(openTracing(options, programVersion, log));
}

/** Starts embedded PostgreSQL, and starts it again should it end while the program runs. */
async function keepEmbedded(config: Config, log: Log, use: 'claim' | 'join') {
  let isStopping = false;
  let current: EmbeddedPostgres;
  let restarting: Promise<void> | undefined;
  const options = {
    dataFolder: config.dataFolder,
    use,
    log: (message: string) => log.info(message),
    onLost: () => {
      restarting = restart();
    },
  };
  async function restart(): Promise<void> {
    while (!isStopping) {
      try {
        current = await startEmbedded(options);
        log.warn('embedded PostgreSQL ended and was started again');
        return;
      } catch (error) {
        log.error({ err: error }, 'embedded PostgreSQL could not be started again');
        await new Promise((resolve) => setTimeout(resolve, reclaimPauseMs));
      }
    }
  }
  current = await startEmbedded(options);
  return {
    current: () => current,
    async stop() {
      isStopping = true;
      await restarting;
      await current.stop();
    },
  };
}

/** Brings the schema up to date and refuses a database from which nothing should be served. */
export async function prepareDatabase(context: Context): Promise<void> {
  const migrations = await readMigrations(new URL('../migrations/', import.meta.url));
  const { connection } = context.owner;
  const versions = await migrate(connection, migrations, (message) => context.log.warn(message));
  if (versions.length > 0) context.log.info({ versions }, 'database migrated');
  const report = await inspectDatabase(context);
  for (const warning of report.warnings) context.log.warn(warning);
  if (report.refusals.length === 0) return;
  if (context.config.allowUnsafeDatabase) {
    for (const refusal of report.refusals) {
      context.log.warn(`${refusal}. It is accepted because of BILLWRIGHT_ALLOW_UNSAFE_DATABASE.`);
    }
    return;
  }
  throw new Error(`This database is not safe to serve from: ${report.refusals.join('; ')}`);
}

/** What would make the database unsafe to serve from, and whether it is on several machines. */
export async function inspectDatabase(context: Context): Promise<SettingsReport> {
  const report = await checkDatabase(context.api.connection, { role: context.api.role });
  context.isSpread = report.isSpread;
  return report;
}

/** After the database was inspected: calls on several machines begin in another way. */
export function openApiDatabase(context: Context): Database {
  const { config, api, isSpread } = context;
  if (isSpread === undefined) throw new Error('the database was not inspected');
  const max = config.apiConnections;
  return openDatabase({ ...api, name: 'billwright api', max, share: tenantShare(max), isSpread });
}

export function openWorkerDatabase(context: Context): Database {
  const { config, worker, isSpread } = context;
  if (isSpread === undefined) throw new Error('the database was not inspected');
  // Each lane holds one connection while it works and needs a second for a moment.
  const max = Math.max(config.workerConnections, config.workerLanes + 2);
  return openDatabase({ ...worker, name: 'billwright worker', max, isSpread });
}

/** What workers render and send with. */
export function openEquipment({ config }: Context): Equipment & { close(): Promise<void> } {
  const renderer = openRenderer({ threads: config.renderThreads });
  const dkim = config.dkim && openDkim(config.dkim);
  const mailer = createMailer({ ...config, dkim });
  return {
    renderer,
    mailer,
    mailsAtOnce: Math.max(1, Math.floor(config.smtpConnections / config.workerLanes)),
    mailDomain: config.mailFrom.address.split('@')[1] ?? config.domain,
    breaker: createMailBreaker(),
    dataFolder: config.dataFolder,
    async close() {
      mailer.close();
      await renderer.close();
    },
  };
}

/** For the command line: the owner's own connection, without a lesser role. */
export function openOwnerDatabase(context: Context): Database {
  return openDatabase({ ...context.owner, name: 'billwright command', max: 2 });
}
