// A process that writes a certain row is paused inside that statement until the gate is opened. It
// can be killed, or data can be changed, at exactly that point.
import { after } from 'node:test';
import pg from 'pg';
import type { Place } from './checks.ts';
import { until } from './program.ts';

export type Gate = {
  /** How many processes are paused there. */
  waiting(): Promise<number>;
  /** Waits until so many processes are paused there. */
  reached(count?: number): Promise<void>;
  /** Lets all paused processes continue, and later ones pass. */
  open(): Promise<void>;
};

// biome-ignore lint/suspicious/noExplicitAny: rows are whatever the statement says.
type Rows = (text: string) => Promise<any[]>;

const key = 4242;

/**
 * `when` is about `new`; one gate at a time in a database. At the end of its test it is opened: one
 * that failed must not leave it closed to the next.
 */
export async function closeGate(place: Place, table: string, when = 'true'): Promise<Gate> {
  const holder = new pg.Client({ ...place.cluster.superuser, database: place.databaseName });
  await holder.connect();
  await holder.query(`
    create or replace function stand_still() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(${key}); return new; end $$;
    create trigger gate before insert or update on ${table}
      for each row when (${when}) execute function stand_still();
    select pg_advisory_lock(${key})`);
  const waiting = async () => {
    const { rows } = await holder.query(
      `select count(*)::integer as count from pg_locks
       where locktype = 'advisory' and objid = ${key} and not granted
         and database = (select oid from pg_database where datname = current_database())`,
    );
    return rows[0].count as number;
  };
  let isOpen = false;
  const gate: Gate = {
    waiting,
    async reached(count = 1) {
      await until(async () => (await waiting()) >= count, `${count} stand at ${table}`);
    },
    async open() {
      if (isOpen) return;
      isOpen = true;
      await holder.query(`select pg_advisory_unlock(${key})`);
      // Paused processes must have continued before the trigger can be dropped.
      await holder.query(`drop trigger gate on ${table}`);
      await holder.end();
    },
  };
  after(() => gate.open());
  return gate;
}

/**
 * The same for tests that kill PostgreSQL itself: the gate is closed again after the restart. Each
 * process that reaches it sleeps until the gate is opened.
 */
export async function closeLastingGate(rows: Rows, table: string, when: string): Promise<Gate> {
  await rows('create table closed_gate as select 1 as closed');
  await rows('grant select on closed_gate to public');
  await rows(`create function sleep_long() returns trigger language plpgsql as $$ begin
    while exists (select from closed_gate) loop perform pg_sleep(0.1); end loop;
    return new;
  end $$`);
  await rows(`create trigger gate before insert or update on ${table}
    for each row when (${when}) execute function sleep_long()`);
  const waiting = async () => {
    const asleep = await rows(
      `select from pg_stat_activity
       where datname = current_database() and wait_event = 'PgSleep'`,
    );
    return asleep.length;
  };
  return {
    waiting,
    async reached(count = 1) {
      await until(async () => (await waiting()) >= count, `${count} sleep at ${table}`);
    },
    async open() {
      await rows('delete from closed_gate');
      await rows('drop function sleep_long cascade');
      await rows('drop table closed_gate');
    },
  };
}
