import { isAbsolute } from 'node:path';
import type { Client } from 'pg';
import { prepareBinaries } from './binaries.ts';
import { bootstrap } from './bootstrap.ts';
import { announceClosing, hasNoVisitors, takeClaim, takePresence, tryTakeAll } from './claim.ts';
import { isConfigurationCurrent, type Server } from './configuration.ts';
import { type Connection, isGone, superuserAt } from './connection.ts';
import { initialiseCluster } from './initialise.ts';
import { explainFileError, prepareLayout, sharedFolder } from './layout.ts';
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
  // The claim is lost because PostgreSQL ended or another program restarted it. Calling
  // startEmbedded again starts and claims it again, and the same connections are good again.
  onLost?: () => void;
};

// A server may be stopping just as we find it; then we begin again, and start it ourselves.
const attemptsMax = 10;
const pruneIntervalMs = 60 * 60_000;

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  try {
    const server = await prepareServer(options);
    const sync = server.settings.fsync !== 'off';
    await initialiseCluster(server, { sync });
    return await openRepeatedly(server, options);
  } catch (error) {
    throw explainFileError(error, options.dataFolder);
  }
}

async function openRepeatedly(server: Server, options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  for (let attempt = 1; ; attempt++) {
    try {
      const opened = await open(server, options);
      if (opened) return opened;
    } catch (error) {
      if (!isGone(error) || attempt >= attemptsMax) throw error;
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

// Undefined if the server was stopped because it ran in another way than wanted.
async function open(
  server: Server,
  options: EmbeddedOptions,
): Promise<EmbeddedPostgres | undefined> {
  const { adopted, socket } = await ensureRunning(server);
  const superuser = superuserAt(socket);
  const hold =
    options.use === 'claim'
      ? holdClaim(server, await takeClaim(superuser, options), options)
      : holdPresence(server, await takePresence(superuser));
  try {
    if (options.use === 'claim' && adopted && (await shouldRestart(server, hold.session))) {
      options.log('PostgreSQL runs with other settings or another version; restarting it');
      await hold.stop();
      return undefined;
    }
    await bootstrap(superuser);
    await pruneLogs(server.layout.log);
    await hold.confirm();
  } catch (error) {
    // A server that ended meanwhile may be running again; it is left running.
    await (isGone(error) ? hold.leave() : hold.stop());
    throw error;
  }
  return {
    owner: { ...superuser, user: 'billwright', database: 'billwright' },
    api: { ...superuser, user: 'billwright_api', database: 'billwright' },
    superuser,
    adopted,
    stop: hold.stop,
  };
}

// Not under the hands of a command that is at work: then the server stays as it is.
async function shouldRestart(server: Server, claim: Client): Promise<boolean> {
  const { rows } = await claim.query('show server_version');
  const runs: string = rows[0]?.server_version ?? '';
  const isSame = runs.startsWith(server.binaries.version) && (await isConfigurationCurrent(server));
  return !isSame && (await hasNoVisitors(claim));
}

// `confirm` fails if the session no longer exists; from then on its loss is reported. `leave` gives
// the session up and lets the server run.
type Hold = {
  session: Client;
  confirm(): Promise<void>;
  leave(): Promise<void>;
  stop(): Promise<void>;
};

function holdClaim(server: Server, session: Client, options: EmbeddedOptions): Hold {
  let state: 'opening' | 'held' | 'closing' | 'lost' = 'opening';
  const pruning = setInterval(() => {
    pruneLogs(server.layout.log).catch(() => {});
  }, pruneIntervalMs).unref();
  session.once('end', () => {
    const wasHeld = state === 'held';
    if (state !== 'closing') state = 'lost';
    if (!wasHeld) return;
    options.log('the connection that holds the data folder was lost: PostgreSQL has ended');
    options.onLost?.();
  });
  return {
    session,
    async confirm() {
      await session.query('select');
      state = 'held';
    },
    async leave() {
      clearInterval(pruning);
      await session.end().catch(() => {});
    },
    stop: once(server, async () => {
      clearInterval(pruning);
      if (state === 'lost') return stopUnlessUsed(server, session.host);
      state = 'closing';
      await announceClosing(session).catch(() => {});
      // The claim is kept until the server has ended: no other program can take it in between.
      await stopServer(server, 'fast');
      await session.end().catch(() => {});
    }),
  };
}

// The last program to leave stops the server, even if another one started it.
function holdPresence(server: Server, session: Client): Hold {
  const leave = () => session.end().catch(() => {});
  return {
    session,
    async confirm() {
      await session.query('select');
    },
    leave,
    stop: once(server, async () => {
      await leave();
      await stopUnlessUsed(server, session.host);
    }),
  };
}

async function stopUnlessUsed(server: Server, socket: string): Promise<void> {
  let everything: Client | undefined;
  try {
    everything = await tryTakeAll(superuserAt(socket));
  } catch (error) {
    if (isGone(error)) return;
    throw error;
  }
  if (!everything) return;
  await stopServer(server, 'fast');
  await everything.end().catch(() => {});
}

// The program is ending when it stops PostgreSQL: a failure is logged, because no caller is left.
function once(server: Server, work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work().catch((error: Error) => {
      server.log(`stopping PostgreSQL failed: ${error.message}`);
    });
    return done;
  };
}
