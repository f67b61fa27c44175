// How long transactions of a database wait for locks, and how often they wait in a circle.
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

export type LockWaits = { samples: number; longestMs: number };

/** Samples the locks that are waited for. Returns a function that stops it. */
export function watchLocks(sql: pg.Client): () => Promise<LockWaits> {
  let isOver = false;
  let samples = 0;
  let longestMs = 0;
  const watching = (async () => {
    while (!isOver) {
      const { rows } = await sql.query(
        `select coalesce(max(extract(epoch from clock_timestamp() - waitstart)), 0)::float * 1000
           as ms
         from pg_locks l join pg_stat_activity a using (pid)
         where not l.granted and l.waitstart is not null and a.datname = current_database()`,
      );
      longestMs = Math.max(longestMs, rows[0].ms);
      samples += 1;
      await sleep(10);
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    return { samples, longestMs };
  };
}

/** PostgreSQL's own count of deadlocks in this database. */
export async function deadlocksOf(sql: pg.Client): Promise<number> {
  const { rows } = await sql.query<{ deadlocks: string }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  return Number(rows[0]?.deadlocks);
}
