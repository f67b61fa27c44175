// Runs over random calendars: month ends, 29 February, billing day 31, terms of one day, terms that
// skip subscriptions. Every active day of every subscription is billed once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatDate } from '../../src/base/calendar.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf, schedule } from '../support/delivery.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, newParty, type Offer, subscribe } from '../support/subscriptions.ts';
import { newTerm } from '../support/terms.ts';

const calendars = Number(process.env.CALENDARS ?? 2);
const seed = Number(process.env.CALENDARS_SEED ?? 29_022_024);
const scene = await openScene();
scene.runJobs();

type Day = Temporal.PlainDate;
const dayIn = (from: string, days: number): Day => Temporal.PlainDate.from(from).add({ days });

/** The days on which terms end: by a billing day that short months do not have, or by lengths. */
const byBillingDay = fc
  .record({
    billingDay: fc.constantFrom(1, 15, 28, 29, 30, 31),
    first: fc.integer({ max: 20, min: 0 }),
  })
  .map(({ billingDay, first }) => {
    const ends: Day[] = [];
    for (let month = 0; month < 5; month += 1) {
      const start = Temporal.PlainDate.from('2023-11-01').add({ months: first + month });
      ends.push(start.with({ day: Math.min(billingDay, start.daysInMonth) }));
    }
    return ends;
  });
const byLength = fc
  .record({
    from: fc.constantFrom('2024-02-27', '2023-12-30', '2025-02-26', '2024-04-29'),
    lengths: fc.array(fc.constantFrom(1, 1, 2, 28, 29, 31, 90), { minLength: 5, maxLength: 5 }),
  })
  .map(({ from, lengths }) => {
    let end = Temporal.PlainDate.from(from);
    return [end, ...lengths.map((days) => (end = end.add({ days })))];
  });

/** A customer who begins around the first terms, and may leave and come back. */
const life = fc.record({
  begins: fc.integer({ min: -3, max: 70 }),
  offAfter: fc.option(fc.integer({ min: 1, max: 60 })),
  backAfter: fc.option(fc.integer({ min: 1, max: 20 })),
});
type Life = { begins: number; offAfter: number | null; backAfter: number | null };

const calendar = fc.record({
  ends: fc.oneof(byBillingDay, byLength),
  lives: fc.array(life, { minLength: 4, maxLength: 4 }),
  // In which term the first of them is on hold, and so left out.
  held: fc.integer({ min: 1, max: 4 }),
});

const client = await scene.workspace('calendars', { currency: 'PKR' });
const { rows } = await scene.sql.query("select find_workspace('calendars') as id");
const tenantId = Number(rows[0]?.id);
const partyNumber = await newParty(client);

/** 30 a month, so that each day has its share. */
const newContext = () =>
  newOffer(
    client,
    // No hold rule applies: bills are skipped on purpose only.
    { meteredInputs: [], billingCycle: 1, holdRules: [] },
    { componentRules: [{ component: 'energyCharge', formula: '30', prorate: 'Days' }] },
  );

type Subscribed = { number: string; first: Day; off: Day | null; back: Day | null };

async function begin(offer: Offer, opening: Day, one: Life): Promise<Subscribed> {
  const first = opening.add({ days: one.begins });
  const connectionDate = formatDate(first).replaceAll('/', '');
  const billedThrough = formatDate(first.subtract({ days: 1 })).replaceAll('/', '');
  const users = [{ partyNumber }];
  const sent = { ...offer, users, connectionDate, billedThrough };
  const number = await subscribe(client, sent, { batchUpload: true });
  const off = one.offAfter === null ? null : first.add({ days: one.offAfter });
  const back = off === null || one.backAfter === null ? null : off.add({ days: one.backAfter });
  if (off) {
    const data = { connectionNumber: number, effectiveDate: formatDate(off) };
    await client.disconnectConnection({ data: { ...data, kind: 'Temporary' } });
  }
  if (back) {
    const data = { connectionNumber: number, effectiveDate: formatDate(back), force: true };
    await client.reconnectConnection({ data });
  }
  return { number, first, off, back };
}

function isActive({ first, off, back }: Subscribed, day: Day): boolean {
  const isSince = (date: Day | null) => date !== null && Temporal.PlainDate.compare(day, date) >= 0;
  return isSince(first) && (!isSince(off) || isSince(back));
}

/** Days of segments of posted bills, as the bills show them: by line, for each has its days. */
async function billedDays(number: string): Promise<string[]> {
  const { bills } = (await client.getBills({ connectionNumber: number, status: 'Posted' })).data;
  return bills.flatMap(({ lines }) =>
    lines
      .filter(({ component }) => component === 'energyCharge')
      .flatMap(({ fromDate, days }) => {
        const iso = fromDate.split('/').reverse().join('-');
        return Array.from({ length: days }, (_, index) => dayIn(iso, index).toString());
      }),
  );
}

async function billTerm(offer: Offer, start: Day, end: Day, heldNumber: string | null) {
  const { serviceCode } = offer;
  const days = { startDate: formatDate(start), endDate: formatDate(end) };
  const termID = await newTerm(client, { serviceCode, ...days });
  await client.generateBills(schedule(termID));
  const { bills } = (await client.getBills({ termID })).data;
  const held = bills.find(({ connectionNumber }) => connectionNumber === heldNumber);
  if (held) await client.holdBill({ data: { billID: held.billID, hold: true } });
  const { operation, data } = schedule(termID);
  assert.equal(
    await codeOf(client.postBills({ operation, data: { ...data, skipErrors: true } })),
    'success',
  );
}

const samples = fc.sample(calendar, { numRuns: calendars, seed });

for (const [index, { ends, lives, held }] of samples.entries()) {
  const terms = ends.map(String).join(' ');
  test(`calendar ${index + 1}: terms that end on ${terms} bill every active day once`, async () => {
    const offer = await newContext();
    const opening = ends[0] as Day;
    const all: Subscribed[] = [];
    for (const one of lives) all.push(await begin(offer, opening, one));
    for (const [term, end] of ends.entries()) {
      if (term === 0) continue;
      const start = (ends[term - 1] as Day).add({ days: 1 });
      const isLast = term === ends.length - 1;
      const heldNumber = term === held && !isLast ? (all[0]?.number ?? null) : null;
      await billTerm(offer, start, end, heldNumber);
    }
    const last = ends.at(-1) as Day;
    for (const one of all) {
      const wanted: string[] = [];
      for (
        let day = one.first;
        Temporal.PlainDate.compare(day, last) <= 0;
        day = day.add({ days: 1 })
      ) {
        if (isActive(one, day)) wanted.push(day.toString());
      }
      assert.deepEqual((await billedDays(one.number)).sort(), wanted, one.number);
    }
  });
}

test('and the checks hold over all of them', () => assertChecks(scene, tenantId));
