// Steps asked for at local times that a change of clocks skips or repeats, as jobs on a moved
// clock: each begins at the moment the rule says, once, and ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestClient } from '../support/client.ts';
import { type Change, changesOf, from } from '../support/clock-changes.ts';
import { openMetered } from '../support/metered.ts';
import { until } from '../support/program.ts';
import { adminPassword, openScene } from '../support/scene.ts';
import { newOffer, newParty, subscribe } from '../support/subscriptions.ts';
import { newTerm, termOf } from '../support/terms.ts';

const shiftsOf = (timezone: string) =>
  changesOf(timezone).filter(({ beforeMs, afterMs }) => beforeMs !== afterMs);

/** Every change there is takes some minutes; CONTRIBUTING.md tells how to ask for them. */
const all = Intl.supportedValuesOf('timeZone').flatMap(shiftsOf);
const odd = ['America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca', 'Asia/Gaza'];
const every = Math.ceil(all.length / 2);
const changes =
  process.env.CLOCK_CHANGES === 'all'
    ? all
    : [
        ...odd.flatMap((timezone) => shiftsOf(timezone).slice(0, 1)),
        ...all.filter((_, index) => index % every === 7),
      ];

const scene = await openScene();
scene.runJobs();

const utc = (at: Temporal.Instant) => at.toZonedDateTimeISO('UTC').toPlainDateTime();

/**
 * Half-way through what is skipped or repeated, and when that is: by the rule, not by a library.
 */
function middleOf({ at, beforeMs, afterMs }: Change) {
  const halfMs = Math.abs(afterMs - beforeMs) / 2;
  const isGap = afterMs > beforeMs;
  const shown = utc(at).add({ milliseconds: isGap ? beforeMs + halfMs : afterMs + halfMs });
  const due = isGap ? at.add({ milliseconds: halfMs }) : at.subtract({ milliseconds: halfMs });
  return { local: shown.toString({ smallestUnit: 'second' }), due };
}

/** Sets the clock to a moment, and wakes the workers. */
function standAt(moment: Temporal.Instant): void {
  scene.clock.advance(scene.clock.now().until(moment));
}

async function logIn(client: TestClient): Promise<void> {
  const username = `admin@${client.workspace}.example`;
  const { data } = await client.login({ username, password: adminPassword });
  client.useToken(data.accessToken);
}

test(`${changes.length} changes of clocks: a step at a skipped or repeated time is done once`, async (t) => {
  standAt(from.subtract({ hours: 24 * 40 }));
  const client = await scene.workspace('clocks');
  const offer = await newOffer(
    client,
    { meteredInputs: [] },
    { componentRules: [{ component: 'energyCharge', scope: 'Term', formula: '5' }] },
  );
  const users = [{ partyNumber: await newParty(client) }];
  await subscribe(client, { ...offer, users, connectionDate: '01112019' });
  const termID = await newTerm(client, {
    serviceCode: offer.serviceCode,
    startDate: '01/11/2019',
    endDate: '30/11/2019',
  });
  let runs = 0;
  const stood = scene.clock.whileStopped(async () => {
    for (const change of changes.toSorted((a, b) => Temporal.Instant.compare(a.at, b.at))) {
      const { local, due } = middleOf(change);
      const what = `${change.timezone} ${local}`;
      standAt(change.at.subtract({ hours: 4 }));
      await logIn(client);
      await client.updateSettings({ data: { timezone: change.timezone } });
      const asked = { termID, sheduleTime: local };
      const done = await client.generateBills({ operation: 'schedule', data: asked });
      const jobID = Number(done.headers.get('x-job-id'));
      standAt(due.subtract({ milliseconds: 1 }));
      await sleep(process.env.CLOCK_CHANGES ? 20 : 150);
      const statusOf = async () => (await client.getJobs({ jobID })).data.jobs[0];
      assert.equal((await statusOf())?.status, 'Scheduled', `${what} is not early`);
      standAt(due);
      await until(async () => (await statusOf())?.status === 'Succeeded', `${what} is done`);
      runs += 1;
      standAt(due.add({ hours: 3 }));
    }
  });
  await stood;
  // Nothing was done twice: not at the second of two equal times, not after the gap.
  const { jobs } = (await client.getJobs({ termID })).data;
  assert.equal(jobs.length, runs);
  assert.ok(jobs.every(({ status }) => status === 'Succeeded'));
  const { rows } = await scene.sql.query(
    `select run_number from terms where tenant_id = find_workspace('clocks') and term_id = $1`,
    [termID],
  );
  assert.equal(rows[0]?.run_number, runs);
  assert.equal((await termOf(client, termID)).stage, 'Generated');
  t.diagnostic(`${runs} of ${all.length} changes`);
});

test('readings at skipped and repeated times keep their day and order, and are locked', async () => {
  const { admin, hung } = await openMetered(scene, 'reading-times');
  await admin.updateSettings({ data: { timezone: 'America/New_York' } });
  // 02:30 is skipped on 8 March 2026, 01:30 comes twice on 1 November.
  const days = [
    { readingDate: '08/03/2026', startDate: '01/03/2026' },
    { readingDate: '01/11/2026', startDate: '01/10/2026' },
  ];
  const { connection, number } = await hung();
  const serviceCode = (await admin.getServices({})).data.services[0]?.serviceCode ?? '';
  for (const [index, { readingDate, startDate }] of days.entries()) {
    const value = (more: number) => String((index + 1) * 100 + more);
    await admin.makeReadings({
      readings: [
        { number, value: value(30), readingDate, readingTime: '02:30' },
        { number, value: value(10), readingDate, readingTime: '01:30' },
        { number, value: value(40), readingDate, readingTime: '03:00' },
      ],
    });
    const termID = await newTerm(admin, { serviceCode, startDate, endDate: readingDate });
    await admin.postMeterReadings({ operation: 'schedule', data: { termID, reading: 'current' } });
    const { readings } = (await admin.getReadings({ number, termID })).data;
    assert.deepEqual(
      readings.map((one) => [one.readingDate, one.value]),
      [[readingDate, value(40)]],
      connection,
    );
  }
});
