// Readings that change while a term takes them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { openMetered } from '../support/metered.ts';
import { until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene({ scheduleWaitSeconds: 20 });
scene.runJobs({ lanes: 2 });
const { admin, serviceCode, hung } = await openMetered(scene, 'reading-races');
await scene.enter(admin);

test('a reading that is corrected while it is locked is locked as corrected', async () => {
  const { number } = await hung({ value: '0' });
  await admin.makeReadings({ readings: [{ number, value: '100', readingDate: '31/01/2026' }] });
  const termID = await newTerm(admin, { serviceCode });
  const holder = new pg.Client({ ...scene.cluster.superuser, database: scene.databaseName });
  await holder.connect();
  await holder.query(`
    create function wait_at_readings() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(4242); return null; end $$;
    create trigger gate before insert on term_readings
      for each statement execute function wait_at_readings();
    select pg_advisory_lock(4242)`);
  const posting = admin.postMeterReadings({
    operation: 'schedule',
    data: { termID, reading: 'current' },
  });
  const isWaiting = async () => {
    const { rows } = await holder.query(
      `select from pg_locks where locktype = 'advisory' and objid = 4242 and not granted`,
    );
    return rows.length > 0;
  };
  // It has seen 100 and is about to lock it.
  await until(isWaiting, 'the call waits at the gate');
  await scene.sql.query(`update readings set value = 90 where reading_date = '2026-01-31'`);
  await holder.query('select pg_advisory_unlock(4242); drop function wait_at_readings cascade');
  await holder.end();
  assert.equal((await posting).message, '1 reading locked');
  const { rows } = await scene.sql.query(
    `select l.value::integer as locked, r.value::integer as read
     from term_readings l join readings r using (tenant_id, reading_id)`,
  );
  assert.deepEqual(rows, [{ locked: 90, read: 90 }]);
  await assert.rejects(
    scene.sql.query(`update readings set value = 80 where reading_date = '2026-01-31'`),
    /is locked by a term/,
  );
});

test('of corrections and lockings at once, none is lost between the two', async () => {
  const meters = await Promise.all(Array.from({ length: 12 }, () => hung({ value: '0' })));
  const readings = meters.map(({ number }) => ({
    number,
    value: '50',
    readingDate: '28/02/2026',
    readingType: 'Actual' as const,
  }));
  await admin.makeReadings({ readings });
  const days = { startDate: '01/02/2026', endDate: '28/02/2026' };
  const termID = await newTerm(admin, { serviceCode, ...days });
  const correct = async (number: number) => {
    try {
      await scene.sql.query(
        `update readings r set value = 60 from meter_assignments a, meters m
         where a.assignment_id = r.assignment_id and m.meter_id = a.meter_id and m.number = $1
           and r.reading_date = '2026-02-28'`,
        [number],
      );
    } catch (error) {
      assert.match(String(error), /is locked by a term/);
    }
  };
  await Promise.all([
    admin.postMeterReadings({ operation: 'schedule', data: { termID, reading: 'current' } }),
    ...meters.map(({ number }) => correct(number)),
  ]);
  const { rows } = await scene.sql.query(
    `select count(*)::integer as count, bool_and(l.value = r.value) as same
     from term_readings l join readings r using (tenant_id, reading_id) where l.term_id = $1`,
    [termID],
  );
  assert.equal(rows[0].same, true);
  assert.ok(rows[0].count >= 12);
});
