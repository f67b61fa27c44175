// A page of a list is found without reading what was there before it: rows are counted by
// PostgreSQL, as the role that serves calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openingFor, type Tx, transact } from '../../src/base/db/pool.ts';
import { sql } from '../../src/base/db/sql.ts';
import { listLogins } from '../../src/domain/access/store.ts';
import { listReadings } from '../../src/domain/exports/store.ts';
import {
  listPartiesAt,
  listPartiesByIds,
  listPartyIdsAfter,
  type PartyRow,
} from '../../src/domain/parties/store.ts';
import {
  countReadings,
  listReadingIdsAfter,
  listReadingsAfter,
  listReadingsAt,
  listReadingsByIds,
  type ReadingFilter,
  type ReadingListRow,
} from '../../src/domain/readings/list-store.ts';
import { foundAhead } from '../../src/operations/listing.ts';
import { tariffCase } from '../support/bill-run.ts';
import type { TestClient } from '../support/client.ts';
import { fillTerm } from '../support/residential-rows.ts';
import { openScene } from '../support/scene.ts';
import { saveTariffs } from '../support/tariffs.ts';

const scene = await openScene({ ownDatabase: true });
const subscriptions = 2_000;
const months = 15;
/** Read in the month that is not billed yet. */
const fresh = 20;
const whole = months * subscriptions;
/** Those of the last months; before, they were brought in from elsewhere. */
const billed = 5 * subscriptions;
/** Far fewer than there are; a small table beside them may be read as a whole. */
const few = whole / 5;
const { admin, tenantId } = await openPast();

/** Months of readings that a term billed, and a few of the next month that an open one took. */
async function openPast(): Promise<{ admin: TestClient; tenantId: number }> {
  const admin = await scene.workspace('long-lists');
  await saveTariffs(admin, tariffCase('ELEC'));
  const { rows } = await scene.sql.query<{ id: string }>(
    "select find_workspace('long-lists') as id",
  );
  const tenantId = Number(rows[0]?.id);
  // Tables that are empty so far, or that autovacuum has just found empty, would be read as a whole
  // for each of the rows below.
  await scene.sql.query('set enable_seqscan = off');
  await fillTerm(scene.sql, tenantId, subscriptions);
  // Foreign keys are checked for each reading. Planned for empty tables, a check may read them whole.
  await scene.sql.query('analyze terms, subscriptions, meter_assignments, assignment_registers');
  const add = (text: string) => scene.sql.query(text, [tenantId]);
  await add(`delete from term_readings where tenant_id = $1`);
  await add(`delete from readings where tenant_id = $1`);
  await add(`update terms set status = 'Posted', stage = 'Posted' where tenant_id = $1`);
  await add(`insert into terms
    select (jsonb_populate_record(t, '{"term_id": 2, "label": "Next", "status": "Open",
      "start_date": "2025-08-01", "end_date": "2025-08-31", "due_date": "2025-09-15"}')).*
    from terms t where t.tenant_id = $1`);
  const reading = (id: string, day: string, from: string) =>
    add(`insert into readings (tenant_id, reading_id, assignment_id, position, reading_date, value,
        reading_type, status, created_at, created_by, modified_at, modified_by)
      select $1, ${id}, n, 1, ${day}, 48000 + n, 'Actual', 'Accepted', now(), 'test', now(), 'test'
      from ${from}`);
  const first = `date '2025-07-31' - ${months} * 31`;
  await reading(
    `m * ${subscriptions} + n`,
    `${first} + 31 * (m + 1)`,
    `generate_series(0, ${months - 1}) m, generate_series(1, ${subscriptions}) n`,
  );
  await reading(`${whole} + n`, `date '2025-08-31'`, `generate_series(1, ${fresh}) n`);
  // Autovacuum may have found it empty after the deletion, and each row below is looked up in it.
  await scene.sql.query('analyze readings');
  await add(`insert into term_readings (tenant_id, term_id, subscription_id, assignment_id, position,
      reading_id, reading_date, value, reading_type, locked_at, locked_by)
    select $1, case when reading_id > ${whole} then 2 else 1 end, reading_id, assignment_id, 1,
      reading_id, reading_date, value, 'Actual', now(), 'test'
    from readings
    where tenant_id = $1 and reading_id > ${whole - billed}`);
  await scene.sql.query('reset enable_seqscan');
  await scene.sql.query('vacuum analyze');
  return { admin, tenantId };
}

/** What is answered, and rows of some tables that were looked at for it. */
async function asked<Answer>(
  tables: readonly string[],
  ask: (tx: Tx) => Promise<Answer>,
): Promise<{ answer: Answer; rows: number }> {
  const opening = openingFor(tenantId);
  return transact(scene.api, { opening, readOnly: true }, async (tx) => {
    // Those of transactions before may not have been told yet.
    const before = await lookedAt(tx, tables);
    const answer = await ask(tx);
    return { answer, rows: (await lookedAt(tx, tables)) - before };
  });
}

async function lookedAt(tx: Tx, tables: readonly string[]): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select sum(coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0))::bigint as count
    from pg_stat_xact_user_tables where relname = any(${tables}::text[])
  `.execute(tx);
  return Number(rows[0]?.count);
}

const none: ReadingFilter = {
  meterNumber: null,
  subscriptionNumber: null,
  termId: null,
  state: null,
  from: null,
  to: null,
  own: null,
};
const page = { offset: 0, limit: 10 };
const taken = ['readings', 'term_readings'];

test('readings that an open term has taken are found by the term', async () => {
  const filter: ReadingFilter = { ...none, state: 'Locked' };
  const listed = await asked(taken, (tx) => listReadingsAt(tx, tenantId, filter, page));
  assert.equal(listed.answer.length, page.limit);
  assert.ok(listed.answer.every((row) => row.state === 'Locked' && row.term_id === 2));
  assert.ok(listed.rows <= few, `${listed.rows} rows were looked at`);
  const after = listed.answer.at(-1);
  const rest = await asked(taken, (tx) =>
    listReadingsAfter(tx, tenantId, filter, { after, limit: 100 }),
  );
  assert.equal(rest.answer.length, fresh - page.limit);
  assert.ok(rest.rows <= few, `${rest.rows} rows were looked at`);
  const counted = await asked(taken, (tx) => countReadings(tx, tenantId, filter));
  assert.equal(counted.answer, fresh);
  assert.ok(counted.rows <= few, `${counted.rows} rows were looked at`);
});

test('readings that were billed are found where terms have taken them', async () => {
  const filter: ReadingFilter = { ...none, state: 'Billed' };
  const listed = await asked(taken, (tx) => listReadingsAt(tx, tenantId, filter, page));
  assert.equal(listed.answer.length, page.limit);
  assert.ok(listed.answer.every((row) => row.state === 'Billed' && row.term_id === 1));
  assert.ok(listed.rows <= billed + few, `${listed.rows} rows were looked at`);
  const counted = await asked(taken, (tx) => countReadings(tx, tenantId, filter));
  assert.equal(counted.answer, billed);
  assert.ok(counted.rows <= 2 * billed, `${counted.rows} rows were looked at`);
  const { data, headers } = await admin.getReadings({ termID: 1, status: 'Billed', page: null });
  assert.equal(data.readings.length, billed);
  assert.equal(headers.get('x-total-count'), String(billed));
});

test('readings since a day are not looked for among all that were read before', async () => {
  const from = Temporal.PlainDate.from('2025-07-15');
  const listed = await asked(['readings'], (tx) =>
    listReadingsAt(tx, tenantId, { ...none, from }, page),
  );
  assert.equal(listed.answer.length, page.limit);
  assert.ok(listed.rows <= whole / 2, `${listed.rows} of ${whole} readings were looked at`);
  const exported = await asked(['readings', 'meter_assignments'], (tx) =>
    listReadings(tx, tenantId, { afterId: 0, limit: 1_000 }, { from, to: null }),
  );
  assert.equal(exported.answer.length, 1_000);
  assert.ok(exported.rows <= whole / 2, `${exported.rows} rows were looked at`);
});

test('readings of some days that are streamed are not looked for again for every chunk', async () => {
  const from = Temporal.PlainDate.from('2025-07-15');
  const to = Temporal.PlainDate.from('2025-08-15');
  const next = foundAhead({
    find: (tx, options) => listReadingIdsAfter(tx, tenantId, { ...none, from, to }, options),
    rowsOf: (tx, ids) => listReadingsByIds(tx, tenantId, ids),
    idOf: (row: ReadingListRow) => row.reading_id,
  });
  const { answer, rows } = await asked(['readings'], async (tx) => {
    const listed: number[] = [];
    let after: ReadingListRow | undefined;
    do {
      const chunk = await next(tx, { after, limit: 100 });
      listed.push(...chunk.map((row) => row.reading_id));
      after = chunk.at(-1);
    } while (after);
    return listed;
  });
  assert.equal(answer.length, subscriptions);
  assert.ok(rows <= 2 * whole, `${rows} readings were looked at`);
  const { data } = await admin.getReadings({
    fromDate: '15/07/2025',
    toDate: '15/08/2025',
    page: null,
  });
  assert.deepEqual(
    data.readings.map((row) => row.readingID),
    answer,
  );
});

test('rejected readings are not looked for among all', async () => {
  await scene.sql.query(
    `update readings set status = 'Rejected'
     where tenant_id = $1 and reading_id = 77`,
    [tenantId],
  );
  const filter: ReadingFilter = { ...none, state: 'Rejected' };
  const { answer, rows } = await asked(['readings'], (tx) =>
    listReadingsAt(tx, tenantId, filter, page),
  );
  assert.deepEqual(
    answer.map((row) => row.reading_id),
    [77],
  );
  assert.ok(rows <= few, `${rows} readings were looked at`);
});

const noParties = {
  ...{ kind: null, name: null, email: null, contactValue: null, partyId: null, search: null },
  ...{ includeArchived: false, updatedSince: null },
};

test('streaming the results of a search does not search for every chunk', async () => {
  const filter = { ...noParties, name: 'cu' };
  const sort = { by: 'partyID', descending: true } as const;
  const next = foundAhead({
    find: (tx, options) => listPartyIdsAfter(tx, tenantId, filter, sort, options),
    rowsOf: (tx, ids) => listPartiesByIds(tx, tenantId, ids),
    idOf: (row: PartyRow) => row.party_id,
  });
  const { answer, rows } = await asked(['parties'], async (tx) => {
    const listed: number[] = [];
    let after: PartyRow | undefined;
    do {
      const chunk = await next(tx, { after, limit: 100 });
      listed.push(...chunk.map((row) => row.party_id));
      after = chunk.at(-1);
    } while (after);
    return listed;
  });
  const newestFirst = Array.from({ length: subscriptions }, (_, index) => subscriptions - index);
  assert.deepEqual(answer, newestFirst);
  assert.ok(rows <= 4 * subscriptions, `${rows} parties were looked at`);
});

test('a chunk of a search that is asked for twice is the same', async () => {
  const all = [1, 2, 3, 4, 5].map((id) => ({ id }));
  let searches = 0;
  const next = foundAhead({
    find: async (_tx, { after, limit }) => {
      searches += 1;
      return all
        .filter(({ id }) => id > (after?.id ?? 0))
        .map(({ id }) => id)
        .slice(0, limit);
    },
    rowsOf: async (_tx, ids) => all.filter(({ id }) => ids.includes(id)).reverse(),
    idOf: (row: { id: number }) => row.id,
  });
  await asked([], async (tx) => {
    assert.deepEqual(await next(tx, { after: undefined, limit: 2 }), [{ id: 1 }, { id: 2 }]);
    for (let time = 1; time <= 2; time += 1) {
      assert.deepEqual(await next(tx, { after: { id: 2 }, limit: 2 }), [{ id: 3 }, { id: 4 }]);
    }
    assert.deepEqual(await next(tx, { after: { id: 4 }, limit: 2 }), [{ id: 5 }]);
    assert.deepEqual(await next(tx, { after: { id: 5 }, limit: 2 }), []);
  });
  assert.equal(searches, 1);
});

test('parties with the same timestamp are ordered by the index on time', async () => {
  await scene.sql.query('analyze parties');
  const sort = { by: 'ts', descending: true } as const;
  const { answer, rows } = await asked(['parties'], (tx) =>
    listPartiesAt(tx, tenantId, noParties, sort, page),
  );
  assert.equal(answer[0]?.party_id, subscriptions);
  assert.ok(rows <= 2 * page.limit, `${rows} parties were looked at`);
});

test('a page of logins looks up its own parties, and not those of the pages before', async () => {
  await scene.sql.query(
    `insert into logins (tenant_id, login_id, username, name, password_hash, roles, party_id,
       created_at, created_by, modified_at, modified_by, ts)
     select $1, 1000 + n, 'u' || n, 'U', 'x', '{Customer}', n, now(), 'test', now(), 'test', 1
     from generate_series(1, $2::bigint) n`,
    [tenantId, subscriptions],
  );
  await scene.sql.query('analyze logins');
  const options = { afterId: 0, username: null, offset: subscriptions / 2, limit: 10 };
  const { answer, rows } = await asked(['parties'], (tx) => listLogins(tx, tenantId, options));
  assert.equal(answer.length, 10);
  assert.equal(answer[0]?.login_id, 1000 + subscriptions / 2);
  assert.ok(rows <= 20, `${rows} parties were looked at`);
});
