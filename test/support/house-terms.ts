// What an operator does with one term of a house, and what must hold after it. Use it beside
// `random-months.ts`.
import assert from 'node:assert/strict';
import { billsOf, generate, post, rowsOf, unpost } from './bill-run.ts';
import { assertChecks } from './checks.ts';
import {
  describe,
  type House,
  type Meter,
  may,
  ownPart,
  shownBy,
  type Term,
  wireDay,
} from './months-house.ts';
import { assertIdentities } from './published-bill.ts';
import { newTerm } from './terms.ts';

export async function newTermOver(
  house: House,
  type: string,
  from: number,
  to: number,
  connectionNumbers: string[],
): Promise<Term | undefined> {
  const { serviceCode } = house;
  const data = {
    serviceCode,
    type: type as 'Regular',
    startDate: wireDay(from),
    endDate: wireDay(to),
    ...(type === 'Regular' ? {} : { connectionNumbers }),
  };
  let id = 0;
  const what = `${type} term ${wireDay(from)}-${wireDay(to)} ${type === 'Regular' ? '' : connectionNumbers}`;
  const made = await may(house, what, async () => {
    id = await newTerm(house.run.client, data);
  });
  if (!made) return;
  const found: Term = { id, type, from, to, status: 'Open' };
  house.story.push(`  is term ${id}`);
  house.terms.push(found);
  return found;
}

export async function read(house: House, one: number, on: number): Promise<void> {
  const { number, since, base } = house.meters[one] as Meter;
  if (on < since) return;
  const value = String(shownBy(one, on) - base);
  const reading = { number, value, readingDate: wireDay(on) };
  await may(house, `read ${house.numbers[one]} ${value} on ${reading.readingDate}`, () =>
    house.run.client.makeReadings({ readings: [reading] }),
  );
}

export async function lock(house: House, { id: termID }: Term, reading: string): Promise<void> {
  await may(house, `lock ${termID} ${reading}`, async () => {
    const data = { termID, reading };
    const { message } = await house.run.client.postMeterReadings({ operation: 'schedule', data });
    house.story.push(`  ${message}`);
  });
}

/** The same twice; every bill adds up. */
export async function generateTwice(house: House, { id }: Term): Promise<boolean> {
  const { run } = house;
  const isDone = await may(house, `generate ${id}`, () => generate(run, id));
  if (!isDone) return false;
  const hashes = () =>
    rowsOf<{ unit_id: string; hash: string }>(
      run,
      `select unit_id, status, encode(hash, 'hex') as hash from bills
       where tenant_id = $1 and term_id = $2 order by unit_id`,
      [id],
    );
  const before = await hashes();
  await generate(run, id);
  assert.deepEqual(await hashes(), before, 'generated once more, a bill is another');
  for (const bill of await billsOf(run, id)) {
    const errors = bill.errors.map((one) => one.code).join();
    house.story.push(`  ${describe(bill)} ${errors}`);
    if (errors === '') assertIdentities(bill);
  }
  return true;
}

export async function holdOne(
  house: House,
  found: Term,
  number: string,
  hold: boolean,
): Promise<void> {
  const bills = await billsOf(house.run, found.id);
  const bill = bills.find((shownBill) => ownPart(shownBill, number).length > 0) ?? bills[0];
  if (!bill) return;
  const data = { billID: bill.billID, hold, reason: 'to be looked at' };
  await may(house, `${hold ? 'hold' : 'release'} ${number} in ${found.id}`, () =>
    house.run.client.holdBill({ data }),
  );
}

export async function postTerm(house: House, found: Term, skipErrors = true): Promise<boolean> {
  const { run } = house;
  const isDone = await may(house, `post ${found.id}`, () => post(run, found.id, skipErrors));
  if (!isDone) return false;
  found.status = 'Posted';
  await assertChecks(run.scene, run.tenantId);
  return true;
}

export async function unpostTerm(house: House, found: Term): Promise<void> {
  const { run } = house;
  if (!(await may(house, `unpost ${found.id}`, () => unpost(run, found.id)))) return;
  found.status = 'Open';
  await assertChecks(run.scene, run.tenantId);
}
