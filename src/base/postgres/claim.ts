import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { type Connection, connect } from './connection.ts';
import { isAlive } from './living-process.ts';

// One program owns a data folder by holding an advisory lock on a connection kept for it. The lock
// dies with the process, however that ends; a lock file would have to be judged stale or not.
// Advisory locks belong to a database: all of these are taken in `postgres`.
const claimLock = 7_130_002;
// Held shared by every program that joined, so that the server is not stopped while one is working.
const presenceLock = 7_130_003;

// Not at once: a killed program looks alive until its parent has waited for it.
const livingHolderLimitMs = 500;
// After kill -9 the lock is free as soon as PostgreSQL reads the end of the connection.
const deadHolderLimitMs = 10_000;
// A program that is stopping ends the server, and with it this wait.
const closingHolderLimitMs = 150_000;
const pollMs = 20;

export class DataFolderInUse extends Error {
  constructor(folder: string, pid: number | undefined) {
    super(`the data folder ${folder} is in use by process ${pid ?? '(unknown)'}`);
    this.name = 'DataFolderInUse';
  }
}

// Throws DataFolderInUse if another program has the folder.
export async function takeClaim(
  superuser: Connection,
  options: { dataFolder: string; log: (message: string) => void },
): Promise<Client> {
  const client = await connect(superuser, `billwright program ${process.pid}`);
  try {
    const began = Date.now();
    let isTold = false;
    while (!(await tryLock(client, claimLock))) {
      const holder = await findHolder(client);
      if (holder && Date.now() - began > patienceMs(holder)) {
        throw new DataFolderInUse(options.dataFolder, holder.pid);
      }
      if (holder?.isClosing && !isTold) {
        options.log(`waiting for process ${holder.pid} to stop`);
        isTold = true;
      }
      await sleep(pollMs);
    }
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}

export async function takePresence(superuser: Connection): Promise<Client> {
  const client = await connect(superuser, `billwright visitor ${process.pid}`);
  try {
    await client.query('select pg_advisory_lock_shared($1)', [presenceLock]);
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}

// Takes both locks if no other program has either. The program that gets them may stop the server,
// and no other can claim it in between.
export async function tryTakeAll(superuser: Connection): Promise<Client | undefined> {
  const client = await connect(superuser, `billwright closing ${process.pid}`);
  try {
    if ((await tryLock(client, claimLock)) && (await tryLock(client, presenceLock))) return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  await client.end().catch(() => {});
  return undefined;
}

// Takes the presence lock from everyone who might come, until the server is restarted.
export function hasNoVisitors(claim: Client): Promise<boolean> {
  return tryLock(claim, presenceLock);
}

// Lets the next program wait for the end of this one instead of being turned away.
export async function announceClosing(client: Client): Promise<void> {
  await client.query(`set application_name = 'billwright closing ${process.pid}'`);
}

type Holder = { pid: number | undefined; isClosing: boolean };

function patienceMs(holder: Holder): number {
  if (holder.isClosing) return closingHolderLimitMs;
  return holder.pid === undefined || isAlive(holder.pid) ? livingHolderLimitMs : deadHolderLimitMs;
}

async function tryLock(client: Client, lock: number): Promise<boolean> {
  const { rows } = await client.query('select pg_try_advisory_lock($1) as is_taken', [lock]);
  return rows[0]?.is_taken === true;
}

async function findHolder(client: Client): Promise<Holder | undefined> {
  const { rows } = await client.query(
    `select activity.application_name
       from pg_locks
       join pg_stat_activity activity using (pid)
      where locktype = 'advisory'
        and objid = $1
        and granted`,
    [claimLock],
  );
  if (!rows[0]) return undefined;
  const [, kind, pid] = /^billwright (\w+) (\d+)$/.exec(rows[0].application_name) ?? [];
  return { pid: pid ? Number(pid) : undefined, isClosing: kind === 'closing' };
}
