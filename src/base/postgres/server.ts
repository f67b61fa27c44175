import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { cleanEnvironment } from './command.ts';
import { configurationFile, type Server, writeConfiguration } from './configuration.ts';
import { connect, isGone, superuserAt } from './connection.ts';
import type { Layout } from './layout.ts';
import { findPostmaster, isPostmaster, removeStaleLocks } from './pid-file.ts';
import { readStartLog, serverLogTail } from './server-log.ts';

// Recovery after a crash replays up to max_wal_size and more; a slow disk takes minutes.
const startLimitMs = 15 * 60_000;
// Backends of a killed PostgreSQL end with their statement; until then no server may be started.
const leaveLimitMs = 60_000;
// A server makes its socket before it does anything that takes time, and removes it last.
const closedLimitMs = 30_000;
const racesMax = 20;
const slowMs = 2_000;
const pollMinMs = 10;
const pollMaxMs = 200;
// The last checkpoint writes out all of shared_buffers.
const stopFastLimitMs = 120_000;
const stopImmediateLimitMs = 30_000;

type Probe = 'ready' | 'busy' | 'absent';

// Finds the server of this cluster or starts it, and returns when it accepts connections.
export async function ensureRunning(server: Server): Promise<{ adopted: boolean; socket: string }> {
  const { layout, log } = server;
  const deadline = Date.now() + startLimitMs;
  const tellIfLong = slownessTeller(log);
  let closedSince = Date.now();
  let leaveDeadline = Number.POSITIVE_INFINITY;
  let races = 0;
  let waitMs = pollMinMs;
  while (Date.now() < deadline) {
    const postmaster = await findPostmaster(layout.cluster);
    const socket = postmaster?.socket ?? layout.socket;
    const probe = await probeServer(socket, layout);
    if (probe === 'ready') return { adopted: true, socket };
    if (probe !== 'absent' || !postmaster) closedSince = Date.now();
    if (Date.now() - closedSince > closedLimitMs) {
      throw new Error(
        `PostgreSQL, process ${postmaster?.pid}, runs without its socket in ${socket}, which was ` +
          'removed. Stop that process (kill -INT) and start again.',
      );
    }
    tellIfLong();
    if (probe === 'absent' && !postmaster) {
      await removeStaleLocks(layout.cluster, layout.socket, log);
      const outcome = await startServer(server, deadline);
      if (outcome === 'raced' && ++races > racesMax) {
        throw new Error(`PostgreSQL in ${layout.cluster} is being started and stopped by others`);
      }
      if (outcome === 'started') return { adopted: false, socket: layout.socket };
      if (outcome === 'leaving') leaveDeadline = Math.min(leaveDeadline, Date.now() + leaveLimitMs);
      if (Date.now() > leaveDeadline) {
        throw new Error(
          `processes of an earlier PostgreSQL still work in ${layout.cluster}; end them first`,
        );
      }
    }
    await sleep(waitMs);
    waitMs = Math.min(waitMs * 1.3, pollMaxMs);
  }
  throw new Error(`PostgreSQL did not become ready.\n${await serverLogTail(layout.log)}`);
}

// Stops the server, first letting it write everything out. Without that it would only have to
// recover at its next start, so a server that does not respond is ended at once. The signals are
// those of `pg_ctl stop -m`, sent to one known process: pg_ctl reads the pid file again while it
// waits, and mistakes a server that was started meanwhile for the old one.
export async function stopServer(server: Server, mode: 'fast' | 'immediate'): Promise<void> {
  const { cluster } = server.layout;
  const postmaster = await findPostmaster(cluster);
  if (!postmaster) return;
  const { pid } = postmaster;
  if (mode === 'fast') {
    if (await endProcess(pid, { cluster, signal: 'SIGINT', limitMs: stopFastLimitMs })) return;
    server.log(
      'PostgreSQL takes too long to stop; ending it at once, to recover at its next start',
    );
  }
  if (await endProcess(pid, { cluster, signal: 'SIGQUIT', limitMs: stopImmediateLimitMs })) return;
  throw new Error(`PostgreSQL, process ${pid}, could not be stopped`);
}

async function endProcess(
  pid: number,
  options: { cluster: string; signal: NodeJS.Signals; limitMs: number },
): Promise<boolean> {
  const deadline = Date.now() + options.limitMs;
  try {
    process.kill(pid, options.signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  while (await isPostmaster(pid, options.cluster)) {
    if (Date.now() > deadline) return false;
    await sleep(pollMinMs);
  }
  return true;
}

// Asks by connecting. Only a missing or deaf socket means that no server is there.
async function probeServer(socket: string, layout: Layout): Promise<Probe> {
  let client: Client | undefined;
  try {
    client = await connect(superuserAt(socket), 'billwright probe');
    const { rows } = await client.query('show data_directory');
    if (rows[0]?.data_directory === layout.cluster) return 'ready';
    throw new Error(`the server at ${socket} serves ${rows[0]?.data_directory}, another folder`);
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return 'absent';
    if (isGone(error)) return 'busy';
    throw error;
  } finally {
    await client?.end().catch(() => {});
  }
}

type StartOutcome = 'started' | 'leaving' | 'raced';

async function startServer(server: Server, deadline: number): Promise<StartOutcome> {
  const { layout } = server;
  await writeConfiguration(server);
  const startLog = join(layout.log, `start-${randomBytes(6).toString('hex')}.log`);
  const child = await spawnPostgres(server, startLog);
  const tellIfLong = slownessTeller(server.log);
  let waitMs = pollMinMs;
  try {
    while (Date.now() < deadline) {
      if (hasEnded(child)) return await explainEnd(server, startLog);
      if ((await probeServer(layout.socket, layout)) === 'ready') return 'started';
      tellIfLong();
      await sleep(waitMs);
      waitMs = Math.min(waitMs * 1.1, pollMaxMs);
    }
  } finally {
    await unlink(startLog).catch(() => {});
  }
  throw new Error(`PostgreSQL did not become ready.\n${await serverLogTail(layout.log)}`);
}

function slownessTeller(log: (message: string) => void): () => void {
  const began = Date.now();
  let isTold = false;
  return () => {
    if (isTold || Date.now() - began < slowMs) return;
    isTold = true;
    log('waiting for PostgreSQL, which is recovering from a crash, starting or stopping');
  };
}

// In a session of its own: Ctrl-C and a closed terminal reach the whole process group, and
// PostgreSQL must outlive the program until the program stops it, or be found by the next one.
async function spawnPostgres(server: Server, startLog: string): Promise<ChildProcess> {
  const { layout, binaries } = server;
  const configuration = `config_file=${configurationFile(layout.home)}`;
  // "wx" because the folder belongs to the account: root must not follow a link planted there.
  const output = await open(startLog, 'wx', 0o600);
  try {
    const child = spawn(
      join(binaries.folder, 'postgres'),
      ['-D', layout.cluster, '-c', configuration],
      {
        cwd: '/',
        env: cleanEnvironment,
        detached: true,
        stdio: ['ignore', output.fd, output.fd],
        ...(layout.account && { uid: layout.account.uid, gid: layout.account.gid }),
      },
    );
    child.on('error', () => {});
    child.unref();
    return child;
  } finally {
    await output.close();
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

async function explainEnd(server: Server, startLog: string): Promise<StartOutcome> {
  const { layout } = server;
  const text = await readStartLog(startLog);
  if (text.includes('pre-existing shared memory block')) return 'leaving';
  // Another program started it in the same moment: the caller looks again and finds it.
  if (/lock file ".*" already exists/.test(text)) return 'raced';
  const reason = text.includes('No space left on device')
    ? `the disk of ${layout.home} is full`
    : `PostgreSQL could not be started in ${layout.home}`;
  // Where its own logging has not begun, the newest log is of a server before it.
  const log = text.includes('logging collector') ? await serverLogTail(layout.log) : '';
  throw new Error(`${reason}. Its last messages:\n${text}\n${log}`.trimEnd());
}
