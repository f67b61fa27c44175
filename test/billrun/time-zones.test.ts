// Tenants on both sides of the date line, on servers of odd time zones: today is the tenant's date,
// and the bills are the same wherever the server runs.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { dateIn } from '../../src/base/calendar.ts';
import { schedule } from '../support/delivery.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, newParty, subscribe } from '../support/subscriptions.ts';
import { newTerm } from '../support/terms.ts';

/** UTC+14, +5, -4 in summer, and +13 since Apia went without 30 December 2011. */
const tenants = ['Pacific/Kiritimati', 'Asia/Karachi', 'America/New_York', 'Pacific/Apia'];
const servers = ['UTC', 'Pacific/Kiritimati', 'Pacific/Niue'];

const usual = process.env.TZ;
afterEach(() => {
  if (usual === undefined) delete process.env.TZ;
  else process.env.TZ = usual;
});

/** What the process takes for local from now on. */
function moveServer(timezone: string): void {
  process.env.TZ = timezone;
  const at = Temporal.Instant.from('2026-06-30T11:30:00Z');
  const offset = at.toZonedDateTimeISO(timezone).offsetNanoseconds / 6e10;
  assert.equal(offset + new Date(at.epochMilliseconds).getTimezoneOffset(), 0, 'the server moved');
}

test("over 400 days today is the tenant's, minutes before and after every midnight", () => {
  for (const server of servers) {
    moveServer(server);
    for (const timeZone of tenants) {
      const format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
      for (let day = 0; day < 400; day += 1) {
        const midnight = Temporal.PlainDate.from('2026-01-01')
          .add({ days: day })
          .toZonedDateTime(timeZone)
          .toInstant();
        for (const minutes of [-1, 0, 1, 720]) {
          const at = midnight.add({ minutes });
          const shown = format.format(new Date(at.epochMilliseconds));
          assert.equal(dateIn(at, timeZone).toString(), shown, `${timeZone} ${at}`);
        }
      }
    }
  }
  // The day that Apia went without.
  const before = Temporal.Instant.from('2011-12-30T09:59:59Z');
  assert.equal(dateIn(before, 'Pacific/Apia').toString(), '2011-12-29');
  assert.equal(dateIn(before.add({ seconds: 1 }), 'Pacific/Apia').toString(), '2011-12-31');
});

const scene = await openScene();
scene.runJobs();

/** Half past eleven in the morning of 30 June 2026 in UTC. */
const moment = Temporal.Instant.from('2026-06-30T11:30:00Z');

/** A customer who comes today, billed for June and July, at one moment. */
async function billTenant(name: string, timezone: string) {
  const client = await scene.workspace(name, { timezone });
  const offer = await newOffer(
    client,
    { meteredInputs: [], billingCycle: 1, holdRules: [] },
    { componentRules: [{ component: 'energyCharge', formula: '300', prorate: 'Days' }] },
  );
  const users = [{ partyNumber: await newParty(client) }];
  const connectionNumber = await subscribe(client, { ...offer, users });
  const months = [
    { startDate: '01/06/2026', endDate: '30/06/2026' },
    { startDate: '01/07/2026', endDate: '31/07/2026' },
  ];
  const { serviceCode } = offer;
  for (const days of months) {
    const termID = await newTerm(client, { serviceCode, ...days, dueDate: '15/08/2026' });
    await client.generateBills(schedule(termID));
    const { bills } = (await client.getBills({ termID })).data;
    if (bills.length === 0) {
      await client.cancelTerm({ data: { termID, reason: 'It bills no days' } });
      continue;
    }
    await client.postBills(schedule(termID));
    await client.publishBills(schedule(termID));
  }
  const [connection] = (await client.getConnections({ connectionNumber })).data.connections;
  const { bills } = (await client.getBills({ connectionNumber })).data;
  return {
    connectionDate: connection?.connectionDate,
    bills: bills.map(({ issueDate, billedFrom, billedTo, days, billAmount, createdAt }) => {
      return { issueDate, billedFrom, billedTo, days, billAmount, createdAt };
    }),
  };
}

test('bills are the same under any time zone of the server', async () => {
  const found = new Map<string, unknown[]>();
  await scene.clock.whileStopped(async () => {
    scene.clock.advance(scene.clock.now().until(moment));
    for (const [index, server] of servers.entries()) {
      moveServer(server);
      for (const timezone of tenants) {
        const name = `tz-${index}-${timezone.split('/')[1]?.toLowerCase().replace('_', '-')}`;
        const made = await billTenant(name, timezone);
        found.set(timezone, [...(found.get(timezone) ?? []), made]);
      }
    }
  });
  for (const [timezone, made] of found) {
    for (const one of made) assert.deepEqual(one, made[0], timezone);
  }
  // Kiritimati and Apia have had July for some minutes: no customer there is billed for June.
  const july = { billedFrom: '01/07/2026', billedTo: '31/07/2026', days: 31, billAmount: 300 };
  const june = { billedFrom: '30/06/2026', billedTo: '30/06/2026', days: 1, billAmount: 10 };
  const of = (timezone: string) => found.get(timezone)?.[0];
  const kiritimati = { issueDate: '01/07/2026', createdAt: '2026-07-01 01:30:00' };
  assert.deepEqual(of('Pacific/Kiritimati'), {
    connectionDate: '01072026',
    bills: [{ ...july, ...kiritimati }],
  });
  const apia = { issueDate: '01/07/2026', createdAt: '2026-07-01 00:30:00' };
  assert.deepEqual(of('Pacific/Apia'), {
    connectionDate: '01072026',
    bills: [{ ...july, ...apia }],
  });
  const karachi = { issueDate: '30/06/2026', createdAt: '2026-06-30 16:30:00' };
  assert.deepEqual(of('Asia/Karachi'), {
    connectionDate: '30062026',
    bills: [
      { ...june, ...karachi },
      { ...july, ...karachi },
    ],
  });
  const newYork = { issueDate: '30/06/2026', createdAt: '2026-06-30 07:30:00' };
  assert.deepEqual(of('America/New_York'), {
    connectionDate: '30062026',
    bills: [
      { ...june, ...newYork },
      { ...july, ...newYork },
    ],
  });
});
