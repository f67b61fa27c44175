// Twenty clients register, assign, replace, read and remove the same ten meters at once. Three
// seconds as a rule; RACE_SECONDS=30 makes it as long as wanted, and says what came of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BillingError } from '../../sdk/client.ts';
import type { TestClient } from '../support/client.ts';
import { openMetered } from '../support/metered.ts';
import { openScene } from '../support/scene.ts';

const seconds = Number(process.env.RACE_SECONDS ?? 1);
const patienceMs = 60_000;
const scene = await openScene({ ownDatabase: true });
const { admin, newSubscription } = await openMetered(scene, 'meter-races');
await scene.enter(admin);

const meters = Array.from({ length: 10 }, (_, index) => 7_001 + index);
const connections = await Promise.all(Array.from({ length: 3 }, () => newSubscription()));
const dates = ['01/06/2026', '02/06/2026', '03/06/2026'];

function one<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T;
}

let lastValue = 0;

type Kind = 'register' | 'assign' | 'replace' | 'remove' | 'read' | 'update';

/** Of each kind of call, the refusals that are no fault. */
const proper: Record<Kind, readonly string[]> = {
  register: ['DUPLICATE'],
  assign: ['METER_NOT_REGISTERED', 'METER_ALREADY_ASSIGNED', 'METER_NOT_ASSIGNABLE'],
  replace: [
    'METER_NOT_REGISTERED',
    'METER_ALREADY_ASSIGNED',
    'METER_NOT_ASSIGNED',
    'METER_NOT_ASSIGNABLE',
    'DATE_OUT_OF_ORDER',
  ],
  remove: ['METER_NOT_ASSIGNED', 'DATE_OUT_OF_ORDER'],
  read: ['METER_NOT_FOUND', 'METER_NOT_ASSIGNED', 'DUPLICATE_ROW'],
  update: ['METER_NOT_FOUND', 'STALE_OBJECT'],
};

/** Recent installations; some meters may have been removed since. */
const lately: [string, number][] = [];

function somewhere(): [string, number] {
  const isLately = lately.length > 0 && Math.random() < 0.5;
  return isLately ? one(lately) : [one(connections), one(meters)];
}

function call(client: TestClient, kind: Kind): Promise<unknown> {
  const [[connectionNumber, number], date] = [somewhere(), one(dates)];
  lastValue += 1;
  const readings = [{ value: String(lastValue) }];
  if (kind === 'register') {
    const facts = { brand: 'Itron', meterType: 1, purchaseDate: '15/01/2024', mf: 1 };
    return client.makeMeters({ meters: [{ number, ...facts }] });
  }
  if (kind === 'assign') {
    const data = { connectionNumber, number, installDate: date, meteredInput: 'energy' };
    lately.splice(0, lately.length - 10, [connectionNumber, number]);
    return client.assignMeter({ data: { ...data, initialReadings: readings } });
  }
  if (kind === 'replace') {
    const data = { connectionNumber, oldNumber: number, newNumber: one(meters), replaceDate: date };
    return client.replaceMeter({ data: { ...data, finalReadings: readings } });
  }
  if (kind === 'remove') {
    const data = { connectionNumber, number, removeDate: date, finalReadings: readings };
    return client.removeMeter({ data });
  }
  if (kind === 'update') return client.updateMeter({ data: { number, brand: `B${lastValue}` } });
  const row = { number, value: String(lastValue), readingDate: date };
  return client.makeReadings({ readings: [{ ...row, readingTime: timeOf(lastValue) }] });
}

function timeOf(count: number): string {
  const pad = (part: number) => String(Math.floor(part) % 60).padStart(2, '0');
  return `${pad((count / 3600) % 24)}:${pad(count / 60)}:${pad(count)}`;
}

const kinds: readonly Kind[] = [
  'register',
  'assign',
  'replace',
  'remove',
  'remove',
  'read',
  'update',
];
const outcomes = new Map<string, number>();

function count(outcome: string): void {
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}

/** Until then, or until each kind of call came through once, whichever is later. */
async function race(client: TestClient, end: number): Promise<void> {
  const last = end + patienceMs;
  const isOver = () =>
    performance.now() > end && kinds.every((kind) => outcomes.has(`${kind} done`));
  while (!isOver() && performance.now() < last) {
    const kind = one(kinds);
    try {
      await call(client, kind);
      count(`${kind} done`);
    } catch (error) {
      const code = (error as BillingError).error?.code;
      if (!code || !proper[kind].includes(code)) throw error;
      count(`${kind} ${code}`);
    }
  }
}

test('no meter is installed in two places, and no answered move is lost', async () => {
  const end = performance.now() + seconds * 1_000;
  const clients = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const server = index % 2 === 0 ? scene : await another();
      const client = server.visitor(admin.workspace);
      client.useToken(admin.token);
      return client;
    }),
  );
  await Promise.all(clients.map((client) => race(client, end)));
  const done = (kind: Kind) => outcomes.get(`${kind} done`) ?? 0;
  const { rows } = await scene.sql.query(checkEverything);
  assert.deepEqual(rows[0], {
    meters: done('register'),
    assignments: done('assign') + done('replace'),
    removals: done('remove') + done('replace'),
    readings: done('read') + done('assign') + done('replace') * 2 + done('remove'),
    in_two_places: 0,
    active_elsewhere: 0,
    counted_wrong: 0,
    wrongly_metered: 0,
  });
  assert.equal(await deadlocks(), 0);
  for (const kind of kinds) assert.ok(done(kind) > 0, `${kind} never succeeded`);
  if (process.env.RACE_SECONDS) {
    for (const [outcome, times] of [...outcomes].sort()) {
      process.stdout.write(`${outcome.padEnd(36)} ${times}\n`);
    }
  }
});

/**
 * Calls that waited for each other are run again; they take locks in such an order that none do.
 */
async function deadlocks(): Promise<number> {
  const { rows } = await scene.sql.query(
    `select deadlocks::int from pg_stat_database where datname = current_database()`,
  );
  return rows[0].deadlocks;
}

const others = scene.anotherServer();
const another = () => others;

/** Every number is text when it comes as bigint: all are cast. */
const checkEverything = `
  select
    (select count(*) from meters)::int as meters,
    (select count(*) from meter_assignments)::int as assignments,
    (select count(*) from meter_assignments where remove_date is not null)::int as removals,
    (select count(*) from readings)::int as readings,
    (select count(*) from meter_assignments a join meter_assignments b
       on b.meter_id = a.meter_id and b.assignment_id > a.assignment_id
       and daterange(a.install_date, a.remove_date) && daterange(b.install_date, b.remove_date)
    )::int as in_two_places,
    (select count(*) from meters m
     where (m.status = 'Active') <> exists (select from meter_assignments a
       where a.meter_id = m.meter_id and a.remove_date is null))::int as active_elsewhere,
    (select abs(sum(b.live_rows) - (select count(*) from meters where status = 'Active'))
       + abs(sum(b.all_rows) - (select count(*) from meters))
     from row_blocks b where b.kind = 'meter')::int as counted_wrong,
    (select count(*) from subscriptions s
     where s.is_metered <> exists (select from meter_assignments a
       where a.subscription_id = s.subscription_id and a.remove_date is null))::int
      as wrongly_metered`;
