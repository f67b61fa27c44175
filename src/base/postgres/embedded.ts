import { isAbsolute } from 'node:path';
import type { Client } from 'pg';
import { prepareBinaries } from './binaries.ts';
import { bootstrap } from './bootstrap.ts';
import { announceClosing, takeClaim, takePresence, tryTakeAll } from './claim.ts';
import { isConfigurationCurrent, type Server } from './configuration.ts';
import { type Connection, isGone, superuserAt } from './connection.ts';
import { initialiseCluster } from './initialise.ts';
import { prepareLayout, sharedFolder } from './layout.ts';
import { ensureRunning, stopServer } from './server.ts';
import { pruneLogs } from './server-log.ts';

export { DataFolderInUse } from './claim.ts';
export type { Connection } from './connection.ts';

export type EmbeddedPostgres = {
  // Login role `billwright`: owns database `billwright`, not superuser.
  owner: Connection;
  // Login role `billwright_api`: has nothing but what the owner grants it; serves calls.
  api: Connection;
  // Role `postgres`, only for bootstrap and tests.
  superuser: Connection;
  // It was already running when we came.
  adopted: boolean;
  // Releases the claim and stops PostgreSQL unless it was joined. Never rejects; may be repeated.
  stop(): Promise<void>;
};

export type EmbeddedOptions = {
  // Absolute; created if missing.
  dataFolder: string;
  // claim: the program itself, exclusively. join: a command beside a running program, or alone.
  use: 'claim' | 'join';
  // Beyond our own, e.g. { fsync: 'off' } for a test cluster.
  settings?: Record<string, string>;
  log: (message: string) => void;
  // The claim is lost because PostgreSQL ended or was restarted by somebody else. Calling
  // startEmbedded again starts and claims it again, and the same connections are good again.
  onLost?: () => void;
};

// A server may be stopping just as we find it; then we begin again, and start it ourselves.
const attemptsMax = 10;
const pruneIntervalMs = 60 * 60_000;

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const server = await prepareServer(options);
  await initialiseCluster(server.layout, server.binaries, {
    sync: server.settings.fsync !== 'off',
    log: options.log,
  });
  for (let attempt = 1; ; attempt++) {
    try {
      const started = await open(server, options);
      if (started) return started;
    } catch (error) {
      if (!isGone(error) || attempt === attemptsMax) throw error;
    }
  }
}

// For tests: ends PostgreSQL as a crash does, so that the next start has to recover.
export async function crashEmbedded(dataFolder: string): Promise<void> {
  await stopServer(await prepareServer({ dataFolder, log: () => {} }), 'immediate');
}

async function prepareServer(
  options: Pick<EmbeddedOptions, 'dataFolder' | 'settings' | 'log'>,
): Promise<Server> {
  const { dataFolder, settings = {}, log } = options;
  if (!isAbsolute(dataFolder)) throw new Error(`not an absolute path: ${dataFolder}`);
  const layout = await prepareLayout(dataFolder, log);
  const copyFolder = layout.account ? sharedFolder : dataFolder;
  const binaries = await prepareBinaries({ account: layout.account, copyFolder, log });
  return { layout, binaries, settings, log };
}

// Undefined if the server had to be stopped because it was started by a different version.
async function open(
  server: Server,
  options: EmbeddedOptions,
): Promise<EmbeddedPostgres | undefined> {
  const { adopted, socket } = await ensureRunning(server);
  const superuser = superuserAt(socket);
  const isClaim = options.use === 'claim';
  const session = isClaim
    ? await takeClaim(superuser, options.dataFolder)
    : await takePresence(superuser);
  const stop = isClaim
    ? stopOfClaim(server, session, options)
    : stopOfVisit(server, session, { isJoined: adopted });
  try {
    if (isClaim && adopted && !(await isAsWanted(server, session))) {
      options.log('PostgreSQL runs with other settings or another version; restarting it');
      await stop();
      return undefined;
    }
    await bootstrap(superuser);
    await pruneLogs(server.layout.log);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    owner: { ...superuser, user: 'billwright', database: 'billwright' },
    api: { ...superuser, user: 'billwright_api', database: 'billwright' },
    superuser,
    adopted,
    stop,
  };
}

async function isAsWanted(server: Server, session: Client): Promise<boolean> {
  const { rows } = await session.query('show server_version');
  const runs: string = rows[0]?.server_version ?? '';
  return runs.startsWith(server.binaries.version) && (await isConfigurationCurrent(server));
}

function stopOfClaim(server: Server, claim: Client, options: EmbeddedOptions): () => Promise<void> {
  let state: 'held' | 'closing' | 'lost' = 'held';
  const pruning = setInterval(() => {
    pruneLogs(server.layout.log).catch(() => {});
  }, pruneIntervalMs).unref();
  claim.once('end', () => {
    if (state !== 'held') return;
    state = 'lost';
    options.log('the connection that holds the data folder was lost: PostgreSQL has ended');
    options.onLost?.();
  });
  return once(server, async () => {
    clearInterval(pruning);
    if (state === 'lost') return stopUnlessUsed(server);
    state = 'closing';
    await announceClosing(claim).catch(() => {});
    // The claim is kept to the end, which the server's end is: nobody can take it in between.
    await stopServer(server, 'fast');
    await claim.end().catch(() => {});
  });
}

function stopOfVisit(
  server: Server,
  presence: Client,
  options: { isJoined: boolean },
): () => Promise<void> {
  return once(server, async () => {
    await presence.end().catch(() => {});
    if (!options.isJoined) await stopUnlessUsed(server);
  });
}

async function stopUnlessUsed(server: Server): Promise<void> {
  let everything: Client | undefined;
  try {
    everything = await tryTakeAll(superuserAt(server.layout.socket));
  } catch (error) {
    if (isGone(error)) return;
    throw error;
  }
  if (!everything) return;
  await stopServer(server, 'fast');
  await everything.end().catch(() => {});
}

// The program is ending when it stops PostgreSQL: a failure is told, there is nobody to handle it.
function once(server: Server, work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work().catch((error: Error) => {
      server.log(`stopping PostgreSQL failed: ${error.message}`);
    });
    return done;
  };
}
