// Reviewing readings, and readings that a term has taken.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { at, read, review, seen } from '../support/entered-readings.ts';
import { openMetered } from '../support/metered.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const { admin, tenantId, hung } = await openMetered(scene, 'reading-reviews');
await scene.enter(admin);

async function underReview(number: number): Promise<number> {
  const { data } = await admin.getReadings({ number, status: 'Review' });
  return data.readings[0]?.readingID ?? 0;
}

test('review-reading accepts, corrects or rejects, and recomputes the usage of the next reading', async () => {
  const { number } = await hung();
  await read(admin, at(number, '11/01/2026', '100'), at(number, '21/01/2026', '200'));
  await read(admin, at(number, '31/01/2026', '900'));
  await review(admin, await underReview(number), 'Accept', { remark: 'Guests' });
  await read(admin, at(number, '10/02/2026', '1000'));
  await read(admin, at(number, '05/02/2026', '920'));
  await review(admin, await underReview(number), 'Accept', { value: '950' });
  assert.deepEqual(await seen(admin, number), [
    ['11/01/2026', '100', 'Accepted', '100', 10, []],
    ['21/01/2026', '200', 'Accepted', '100', 10, []],
    ['31/01/2026', '900', 'Accepted', '700', 10, ['High']],
    ['05/02/2026', '950', 'Accepted', '50', 5, ['Low']],
    ['10/02/2026', '1000', 'Accepted', '50', 5, []],
  ]);
  const { data } = await admin.getReadings({
    number,
    fromDate: '05/02/2026',
    toDate: '05/02/2026',
  });
  const readingID = data.readings[0]?.readingID ?? 0;
  const rejected = await review(admin, readingID, 'Reject', {
    value: '955',
    remark: 'Wrong house',
  });
  assert.equal(rejected.headers.get('x-ignored-fields'), 'data.value');
  assert.deepEqual((await seen(admin, number)).slice(3), [
    ['05/02/2026', '950', 'Rejected', null, null, ['Low']],
    ['10/02/2026', '1000', 'Accepted', '100', 10, []],
  ]);
  await refuses(review(admin, readingID, 'Accept'), 'INVALID_STATE', { statusCode: 409 });
  await read(admin, at(number, '05/02/2026', '960'));
});

test('a decrease is accepted only with a corrected value or as a rollover', async () => {
  const { number } = await hung({ value: '600000' });
  await read(admin, at(number, '11/01/2026', '599999'));
  const readingID = await underReview(number);
  await refuses(review(admin, readingID, 'Accept'), 'READING_DECREASED', { field: 'data.value' });
  await refuses(review(admin, readingID, 'Accept', { value: '7000000' }), 'INVALID_NUMBER');
  await review(admin, readingID, 'Accept', { rollover: true });
  assert.equal((await seen(admin, number))[0]?.[3], '999999');
  await refuses(review(admin, 9_999_999, 'Accept'), 'READING_NOT_FOUND', { statusCode: 404 });
});

test('what a meter began with can be corrected and not rejected', async () => {
  const { number } = await hung({ value: '50' });
  await read(admin, at(number, '11/01/2026', '100'));
  const { data } = await admin.getReadings({ number });
  const first = data.readings[0]?.readingID ?? 0;
  await refuses(review(admin, first, 'Reject'), 'INVALID_STATE');
  await review(admin, first, 'Accept', { value: '60' });
  assert.equal((await seen(admin, number))[0]?.[3], '40');
});

/** As if a term had taken the reading. */
async function lock(readingID: number, status: 'Open' | 'Posted'): Promise<number> {
  const { rows } = await scene.sql.query(
    `insert into terms (tenant_id, term_id, context_id, batch_id, billing_period_id, term_type,
       label, start_date, end_date, due_date, post_type, status, stage, created_at, created_by,
       modified_at, modified_by, ts)
     select $1, coalesce(max(term_id), 0) + 1, 1, 1, 1, 'OffCycle',
       'T' || coalesce(max(term_id), 0), '2026-01-01', '2026-01-31', '2026-02-15',
       'Post Subscription', $2, 'Created', now(), 'x', now(), 'x', 1
     from terms where tenant_id = $1
     returning term_id::int`,
    [tenantId, status],
  );
  await scene.sql.query(
    `insert into term_readings (tenant_id, term_id, subscription_id, assignment_id, position,
       reading_id, reading_date, value, reading_type, locked_at, locked_by)
     select r.tenant_id, $2, a.subscription_id, r.assignment_id, r.position, r.reading_id,
       r.reading_date, r.value, r.reading_type, now(), 'x'
     from readings r join meter_assignments a using (tenant_id, assignment_id)
     where r.tenant_id = $1 and r.reading_id = $3`,
    [tenantId, rows[0].term_id, readingID],
  );
  return rows[0].term_id;
}

test('a reading that a term has taken is Locked, then Billed, and nothing is entered before it', async () => {
  const { connection, number } = await hung();
  await read(admin, at(number, '11/01/2026', '100'), at(number, '21/01/2026', '200'));
  const { data } = await admin.getReadings({ number });
  const [, one, two] = data.readings.map((reading) => reading.readingID ?? 0) as number[];
  const locked = await lock(one ?? 0, 'Open');
  const billed = await lock(two ?? 0, 'Posted');
  const stateOf = async (termID: number, status: 'Locked' | 'Billed') => {
    const found = await admin.getReadings({ termID, status });
    return found.data.readings.map((reading) => [reading.value, reading.termID, reading.status]);
  };
  assert.deepEqual(await stateOf(locked, 'Locked'), [['100', locked, 'Locked']]);
  assert.deepEqual(await stateOf(billed, 'Billed'), [['200', billed, 'Billed']]);
  const free = await admin.getReadings({ number, status: 'Accepted' });
  assert.deepEqual(
    free.data.readings.map((reading) => reading.readingType),
    ['Installation'],
  );
  await refuses(review(admin, one ?? 0, 'Accept', { value: '101' }), 'READING_LOCKED', {
    statusCode: 409,
  });
  const field = 'readings[0].readingDate';
  await refuses(read(admin, at(number, '20/01/2026', '150')), 'READING_LOCKED', { field });
  await read(admin, at(number, '22/01/2026', '210'));
  const data2 = { connectionNumber: connection, number, removeDate: '21/01/2026' };
  await refuses(admin.removeMeter({ data: data2 }), 'DATE_OUT_OF_ORDER');
});

test('a reading that waits for review can be rejected also before one that a term has taken', async () => {
  const { number } = await hung({ value: '50' });
  await read(admin, at(number, '11/01/2026', '10'), at(number, '21/01/2026', '200'));
  const shown = async () => {
    const { data } = await admin.getReadings({ number });
    return data.readings.slice(1).map((one) => [one.value, one.status, one.consumption]);
  };
  const { data } = await admin.getReadings({ number });
  const [, waiting, taken] = data.readings.map((reading) => reading.readingID ?? 0) as number[];
  await lock(taken ?? 0, 'Posted');
  assert.deepEqual(await shown(), [
    ['10', 'Review', null],
    ['200', 'Billed', '150'],
  ]);
  await refuses(review(admin, waiting ?? 0, 'Accept', { value: '100' }), 'READING_LOCKED');
  await review(admin, waiting ?? 0, 'Reject');
  assert.deepEqual(await shown(), [
    ['10', 'Rejected', null],
    ['200', 'Billed', '150'],
  ]);
});
