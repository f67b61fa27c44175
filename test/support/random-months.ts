// A house of metered subscriptions, what an operator may do with it in some months, and what must
// be true of it in the end.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BillingError } from '../../sdk/client.ts';
import {
  type BillRun,
  billsOf,
  generate,
  post,
  rowsOf,
  type ShownBill,
  unpost,
} from './bill-run.ts';
import { assertLaws } from './laws.ts';
import { newTariff } from './pricing.ts';
import { assertIdentities, cents } from './published-bill.ts';
import type { Scene } from './scene.ts';
import { newMeter, newOffer, newParty, shown, subscribe } from './subscriptions.ts';
import { newTerm } from './terms.ts';

const firstDay = Temporal.PlainDate.from('2026-07-01');
/** Days on which something may happen, counted from the first of July. */
const days = 92;
/** The end of the last term, far enough for an estimate to be put right. */
const lastDay = 152;

export const wireDay = (day: number) =>
  firstDay.add({ days: day }).toString().split('-').reverse().join('/');
const dayOf = (wire: string) =>
  firstDay.until(Temporal.PlainDate.from(wire.split('/').reverse().join('-'))).days;

/** What the meter of a subscription shows in the evening of a day: about ten units more. */
const shownBy = (who: number, day: number) => (day + 1) * 10 + (((day + who + 1) * 7) % 5);

const natural = (max: number) => fc.nat({ max });
const term = natural(5);
const who = natural(1);
const day = natural(days - 1);

const isRead = fc.boolean();
const length = fc.integer({ min: 5, max: 40 });
const amount = fc.integer({ min: 1, max: 90 });
const reading = fc.constantFrom('current', 'estimated', 'previous');
const type = fc.constantFrom('OffCycle', 'Final');
/** How the days of a term for some customers lie to those of the newest Regular one. */
const shape = fc.constantFrom('same', 'first', 'last', 'wider', 'any');

const one = <Name extends string, Rest extends object>(
  weight: number,
  name: Name,
  rest: { [Key in keyof Rest]: fc.Arbitrary<Rest[Key]> },
) => ({ weight, arbitrary: fc.record({ do: fc.constant(name), ...rest }) });

export const actions = fc.oneof(
  one(3, 'regular', { length }),
  one(4, 'other', { type, shape, day, length, who: fc.option(who) }),
  one(2, 'read', { who, day }),
  one(5, 'readEnd', { term, who: fc.option(who), late: natural(4) }),
  one(3, 'lock', { term, reading }),
  one(1, 'unlock', { term, who: fc.option(who) }),
  one(2, 'value', { term, who, amount }),
  one(2, 'use', { term, who, amount, day: fc.option(natural(20)) }),
  one(2, 'generate', { term }),
  one(2, 'hold', { term, who }),
  one(1, 'release', { term, who }),
  one(2, 'post', { term }),
  one(3, 'bill', { term, reading }),
  one(3, 'leaveOut', { term, who, reading }),
  one(3, 'unpost', { term }),
  one(2, 'cancel', { term }),
  one(1, 'end', { term, day }),
  one(2, 'transfer', { who, day, isRead }),
  one(1, 'off', { who, day, isRead }),
  one(1, 'on', { who, day, isRead }),
  one(1, 'plan', { who, day, isRead }),
  one(1, 'exchange', { who, day, isRead }),
);
export type Action = typeof actions extends fc.Arbitrary<infer One> ? One : never;

type Term = { id: number; type: string; from: number; to: number; status: 'Open' | 'Posted' };
type Given = { what: string; who: number; term: number; amount: number };

/** A meter that hangs since a day, and what had been used before. */
type Meter = { number: number; since: number; base: number };

export type House = {
  run: BillRun;
  serviceCode: string;
  plans: string[];
  numbers: string[];
  meters: Meter[];
  /** What is charged for each day of each of them. */
  fees: number[][];
  /** Days on which each of them is cut off. */
  off: boolean[][];
  /** On which day who got another owner. */
  transfers: { who: number; day: number }[];
  terms: Term[];
  /** Values by hand and uploads that count, each under a name of its own. */
  given: Given[];
  story: string[];
};

const byHand = ['hand1', 'hand2', 'hand3'];
const uploaded = ['calls1', 'calls2', 'calls3'];

const usageData = { usageData: [{ input: 'energy', source: 'Metered', required: 1 }] };
const rules = (daily: string) => ({
  componentRules: [
    { component: 'fee', formula: `segment.days * ${daily}` },
    { component: 'energyCharge', scope: 'Term', formula: 'usage.energy * 10' },
    ...byHand.map((component) => ({ component, scope: 'Term', formula: '0' })),
    ...uploaded.map((input) => ({
      component: input,
      scope: 'Term',
      formula: `usage.${input} * 1`,
    })),
  ],
});

let houses = 0;

/** Ten a day, ten a unit; billed through June, the meters showing what they showed then. */
export async function openHouse(scene: Scene, postType: string): Promise<House> {
  houses += 1;
  const name = `months-${houses}`;
  const client = await scene.workspace(name);
  const { rows } = await scene.sql.query('select find_workspace($1) as id', [name]);
  const offer = await newOffer(
    client,
    {
      meteredInputs: [
        {
          name: 'energy',
          unit: 'kWh',
          register: 'kWh',
          estimation: { allowed: 1, defaultDaily: 10 },
        },
      ],
      unmeteredInputs: uploaded.map((input) => ({ name: input, unit: 'call', source: 'Uploaded' })),
      components: ['energyCharge', 'fee', ...byHand, ...uploaded].map((component, index) => ({
        name: component,
        label: component,
        type: 'Charge',
        sequence: index + 1,
        ...(byHand.includes(component) ? { manual: 'Optional' } : {}),
      })),
      holdRules: [],
      postType,
    } as never,
    { ...rules('10'), ...usageData } as never,
  );
  const partyNumber = await newParty(client, 'Old');
  const numbers: string[] = [];
  const meters: Meter[] = [];
  for (const one of [0, 1]) {
    const number = await newMeter(client);
    const connection = {
      ...offer,
      connectionDate: '01062026',
      billedThrough: '30062026',
      users: [{ partyNumber, connectionGroupLabel: 'House' }],
      meters: [{ number, installDate: '30/06/2026', initialReading: String(shownBy(one, -1)) }],
    };
    numbers.push(await subscribe(client, connection, { batchUpload: true }));
    meters.push({ number, since: -1, base: 0 });
  }
  const run = { scene, client, tenantId: Number(rows[0].id) } as BillRun;
  const { serviceCode } = offer;
  const dear = await newTariff(client, serviceCode, { ...rules('20'), ...usageData } as never);
  return {
    run,
    serviceCode,
    plans: [offer.tariffCode, dear.code],
    numbers,
    meters,
    fees: numbers.map(() => new Array<number>(lastDay + 1).fill(10)),
    off: numbers.map(() => new Array<boolean>(lastDay + 1).fill(false)),
    transfers: [],
    terms: [],
    given: [],
    story: [],
  };
}

/** Does it; what the server refuses with a code of its own is as good as not done. */
async function may(house: House, what: string, call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    house.story.push(what);
    return true;
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    house.story.push(`${what}: ${error.error?.code}`);
    return false;
  }
}

function pick(house: House, index: number, status: Term['status']): Term | undefined {
  const found = house.terms.filter((one) => one.status === status);
  return found[index % Math.max(1, found.length)];
}

export async function act(house: House, action: Action): Promise<void> {
  switch (action.do) {
    case 'regular':
    case 'other':
      return openTerm(house, action as never);
    case 'read': {
      const { who: one, day: on } = action as { who: number; day: number };
      return read(house, one, on);
    }
    case 'transfer':
    case 'off':
    case 'on':
    case 'plan':
    case 'exchange':
      return change(house, action as never);
    case 'unpost': {
      const found = pick(house, (action as { term: number }).term, 'Posted');
      if (found) await unpostTerm(house, found);
      return;
    }
    default: {
      const wanted = (action as { term: number }).term;
      if (!pick(house, wanted, 'Open')) await openTerm(house, { do: 'regular', length: 31 });
      const found = pick(house, wanted, 'Open');
      if (found) await actOn(house, found, action as never);
    }
  }
}

type TermAction = {
  do: string;
  who: number | null;
  reading: string;
  late: number;
  amount: number;
  day: number | null;
};

async function actOn(house: House, found: Term, action: TermAction): Promise<void> {
  const { client } = house.run;
  const termID = found.id;
  const number = house.numbers[action.who ?? -1];
  switch (action.do) {
    case 'lock':
      return lock(house, found, action.reading);
    case 'unlock': {
      const data = { termID, connectionNumber: number ?? null };
      const what = `unlock ${termID} ${number ?? ''}`;
      await may(house, what, () => client.unpostMeterReadings({ data }));
      return;
    }
    case 'value':
    case 'use':
      return give(house, found, action);
    case 'generate':
      await generateTwice(house, found);
      return;
    case 'hold':
    case 'release':
      return holdOne(house, found, number ?? '', action.do === 'hold');
    case 'end': {
      const to = action.day ?? 0;
      const data = { termID, endDate: wireDay(to) };
      const what = `end ${termID} on ${wireDay(to)}`;
      if (await may(house, what, () => client.updateTerm({ data }))) found.to = to;
      return;
    }
    case 'post':
      await postTerm(house, found);
      return;
    case 'bill':
    case 'leaveOut':
      await lock(house, found, action.reading);
      await generateTwice(house, found);
      if (action.do === 'leaveOut') await holdOne(house, found, number ?? '', true);
      await postTerm(house, found);
      return;
    case 'readEnd':
      for (const one of action.who === null ? house.numbers.keys() : [action.who]) {
        await read(house, one, found.to + action.late);
      }
      return;
    default: {
      const data = { termID, reason: 'not needed' };
      if (!(await may(house, `cancel ${termID}`, () => client.cancelTerm({ data })))) return;
      house.terms = house.terms.filter((one) => one !== found);
      house.given = house.given.filter((one) => one.term !== termID);
    }
  }
}

type Change = { do: string; who: number; day: number; isRead: boolean };

async function change(house: House, action: Change): Promise<void> {
  const { client } = house.run;
  const { who: one, day: on, isRead } = action;
  const connectionNumber = house.numbers[one] ?? '';
  const { number, since, base } = house.meters[one] as Meter;
  if (on < since) return;
  const value = String(shownBy(one, on) - base);
  const readings = isRead ? [{ number, value }] : [];
  const effectiveDate = wireDay(on);
  const data = { connectionNumber, effectiveDate, readings };
  const fees = house.fees[one] ?? [];
  const isDear = fees[lastDay] === 20;
  const what = `${action.do} ${connectionNumber} on ${effectiveDate} ${isRead ? value : ''}`;
  const changes: Record<string, () => Promise<unknown>> = {
    exchange: async () => {
      const newNumber = await newMeter(client);
      const replaced = { connectionNumber, oldNumber: number, newNumber };
      const [finalReadings, initialReadings] = [[{ value }], [{ value: '0' }]];
      const sent = { ...replaced, replaceDate: effectiveDate, finalReadings, initialReadings };
      await client.replaceMeter({ data: sent });
      house.meters[one] = { number: newNumber, since: on, base: shownBy(one, on) };
    },
    off: () => client.disconnectConnection({ data }),
    on: () => client.reconnectConnection({ data: { ...data, force: true } }),
    plan: () => {
      const tariffCode = house.plans[isDear ? 0 : 1] ?? '';
      return client.changeTariff({ data: { ...data, tariffCode } });
    },
    transfer: async () => {
      const toPartyNumber = await newParty(client, 'Next');
      const label = { connectionGroupLabel: 'Next' };
      const sent = { connectionNumber, transferDate: effectiveDate, readings, ...label };
      await client.transferConnection({ data: { ...sent, toPartyNumber } });
    },
  };
  if (!(await may(house, what, changes[action.do] as never))) return;
  if (action.do === 'transfer') house.transfers.push({ who: one, day: on });
  if (action.do === 'off') house.off[one]?.fill(true, on);
  if (action.do === 'on') house.off[one]?.fill(false, on);
  if (action.do === 'plan') fees.fill(isDear ? 10 : 20, on);
}

type NewTerm = {
  do: string;
  type?: string;
  shape?: string;
  day?: number;
  length: number;
  who?: number | null;
};

function daysLike(house: House, { shape: how, day: at = 0, length: long }: NewTerm): number[] {
  const like = house.terms.findLast((one) => one.type === 'Regular');
  if (!like || how === 'any') return [at, at + long - 1];
  const middle = like.from + (at % (like.to - like.from + 1));
  if (how === 'first') return [like.from, middle];
  if (how === 'last') return [middle, like.to];
  if (how === 'wider') return [Math.max(0, like.from - long), Math.min(days - 1, like.to + long)];
  return [like.from, like.to];
}

async function openTerm(house: House, action: NewTerm): Promise<void> {
  const isRegular = action.do === 'regular';
  const ends = house.terms.filter((one) => one.type === 'Regular').map((one) => one.to + 1);
  const next = Math.max(0, ...ends);
  const [from = 0, to = 0] = isRegular ? [next, next + action.length - 1] : daysLike(house, action);
  if (to >= days) return;
  const type = isRegular ? 'Regular' : (action.type ?? '');
  const whom = action.who === null ? house.numbers : [house.numbers[action.who ?? 0] ?? ''];
  await newTermOver(house, type, from, to, whom);
}

async function newTermOver(
  house: House,
  type: string,
  from: number,
  to: number,
  whom: string[],
): Promise<Term | undefined> {
  const { serviceCode } = house;
  const data = {
    serviceCode,
    type: type as 'Regular',
    startDate: wireDay(from),
    endDate: wireDay(to),
    ...(type === 'Regular' ? {} : { connectionNumbers: whom }),
  };
  let id = 0;
  const what = `${type} term ${wireDay(from)}-${wireDay(to)} ${type === 'Regular' ? '' : whom}`;
  const made = await may(house, what, async () => {
    id = await newTerm(house.run.client, data);
  });
  if (!made) return;
  const found: Term = { id, type, from, to, status: 'Open' };
  house.story.push(`  is term ${id}`);
  house.terms.push(found);
  return found;
}

async function read(house: House, one: number, on: number): Promise<void> {
  const { number, since, base } = house.meters[one] as Meter;
  if (on < since) return;
  const value = String(shownBy(one, on) - base);
  const reading = { number, value, readingDate: wireDay(on) };
  await may(house, `read ${house.numbers[one]} ${value} on ${reading.readingDate}`, () =>
    house.run.client.makeReadings({ readings: [reading] }),
  );
}

async function lock(house: House, { id: termID }: Term, reading: string): Promise<void> {
  await may(house, `lock ${termID} ${reading}`, async () => {
    const data = { termID, reading };
    const { message } = await house.run.client.postMeterReadings({ operation: 'schedule', data });
    house.story.push(`  ${message}`);
  });
}

async function give(house: House, found: Term, action: TermAction): Promise<void> {
  const names = action.do === 'value' ? byHand : uploaded;
  const one = action.who ?? 0;
  const what = names.find(
    (name) => !house.given.some((given) => given.who === one && given.what === name),
  );
  if (what === undefined) return;
  const { client } = house.run;
  const number = house.numbers[one] ?? '';
  const row = [number, what, String(action.amount)];
  const on = found.from + (action.day ?? 0);
  const isDated = action.do === 'use' && action.day !== null && on <= found.to;
  if (isDated) row.push(wireDay(on));
  const isDone = await may(house, `give ${row} to ${found.id}`, () => {
    const sent = { termID: found.id, compsData: [row], usage: [row] };
    const data = { data: JSON.stringify(sent) };
    return action.do === 'value'
      ? client.postManualComponentValues({ operation: 'schedule', data })
      : client.uploadUsage({ operation: 'schedule', data });
  });
  if (isDone) house.given.push({ what, who: one, term: found.id, amount: action.amount });
}

/** The same twice; every bill adds up. */
async function generateTwice(house: House, { id }: Term): Promise<boolean> {
  const { run } = house;
  const isDone = await may(house, `generate ${id}`, () => generate(run, id));
  if (!isDone) return false;
  const hashes = () =>
    rowsOf<{ subject_id: string; hash: string }>(
      run,
      `select subject_id, status, encode(hash, 'hex') as hash from bills
       where tenant_id = $1 and term_id = $2 order by subject_id`,
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

function describe(bill: ShownBill): string {
  const sections = bill.sections.length > 0 ? bill.sections : [bill];
  const used = sections
    .flatMap((section) => section.meterReadings)
    .map((one) => `${one.previousReading}-${one.currentReading}`);
  const lines = bill.lines.map(
    (line) => `${line.component} ${line.fromDate}-${line.toDate} ${line.amount} ${line.lineType}`,
  );
  const from = `${bill.billedFrom}-${bill.billedTo}`;
  return `${bill.status} ${bill.connectionNumber} ${from} ${used} [${lines.join('; ')}]`;
}

async function holdOne(house: House, found: Term, number: string, hold: boolean): Promise<void> {
  const bills = await billsOf(house.run, found.id);
  const bill = bills.find((shownBill) => ownPart(shownBill, number).length > 0) ?? bills[0];
  if (!bill) return;
  const data = { billID: bill.billID, hold, reason: 'to be looked at' };
  await may(house, `${hold ? 'hold' : 'release'} ${number} in ${found.id}`, () =>
    house.run.client.holdBill({ data }),
  );
}

async function postTerm(house: House, found: Term, skipErrors = true): Promise<boolean> {
  const { run } = house;
  const isDone = await may(house, `post ${found.id}`, () => post(run, found.id, skipErrors));
  if (!isDone) return false;
  found.status = 'Posted';
  await assertLaws(run.scene, run.tenantId);
  return true;
}

async function unpostTerm(house: House, found: Term): Promise<void> {
  const { run } = house;
  if (!(await may(house, `unpost ${found.id}`, () => unpost(run, found.id)))) return;
  found.status = 'Open';
  await assertLaws(run.scene, run.tenantId);
}

/** Nothing stays open: what is left is read, released and posted, and the rest by a last term. */
export async function finish(house: House): Promise<void> {
  const open = house.terms.filter((one) => one.status === 'Open').sort((a, b) => a.to - b.to);
  for (const found of open) {
    for (const number of house.numbers) await holdOne(house, found, number, false);
    await lock(house, found, 'current');
    assert.ok(await generateTwice(house, found), 'an open term cannot be generated');
    assert.ok(await postTerm(house, found), 'an open term cannot be posted');
  }
  const ends = house.terms.filter((one) => one.type === 'Regular').map((one) => one.to + 1);
  for (const [one, number] of house.numbers.entries()) {
    if (house.off[one]?.[lastDay]) {
      await change(house, { do: 'on', who: one, day: days + 10, isRead: false });
    }
    await finalOf(house, one, number);
    await read(house, one, lastDay);
  }
  const last = await newTermOver(house, 'Regular', Math.max(0, ...ends), lastDay, []);
  assert.ok(last, 'the last term cannot be opened');
  await lock(house, last, 'current');
  assert.ok(await generateTwice(house, last), 'the last term cannot be generated');
  assert.ok(await postTerm(house, last, false), 'the last term cannot be posted');
}

/** Owners who left are billed before the last one is. */
async function finalOf(house: House, one: number, number: string): Promise<void> {
  const { client } = house.run;
  for (const transfer of house.transfers.filter((made) => made.who === one)) {
    const { billedThrough } = await shown(client, number);
    const through = String(billedThrough).replace(/^(..)(..)(....)$/, '$1/$2/$3');
    if (dayOf(through) >= transfer.day - 1) continue;
    const final = await newTermOver(house, 'Final', 0, lastDay, [number]);
    assert.ok(final, 'a Final term cannot be opened');
    await lock(house, final, 'estimated');
    // Where the term before took a reading of days of grace, these days have none of their own.
    await lock(house, final, 'previous');
    assert.ok(await generateTwice(house, final), 'a Final term cannot be generated');
    assert.ok(await postTerm(house, final, false), 'a Final term cannot be posted');
  }
}

/** What was used, every day, every value and upload is billed once, and the ledger says the same. */
export async function assertBilledOnce(house: House): Promise<void> {
  const { run } = house;
  const bills: ShownBill[] = [];
  for (const { id } of house.terms) bills.push(...(await billsOf(run, id)));
  const posted = bills.filter((bill) => bill.status === 'Posted');
  for (const bill of posted) assertIdentities(bill);
  for (const [one, number] of house.numbers.entries()) {
    const own = posted.flatMap((bill) => ownPart(bill, number));
    assertUse(own, shownBy(one, lastDay) - shownBy(one, -1));
    assertDays(own, feesOf(house, one));
    for (const name of [...byHand, ...uploaded]) {
      const wanted = house.given.find((given) => given.who === one && given.what === name);
      assert.equal(sumOf(own, name), cents(wanted?.amount ?? 0), `${name} of ${number}`);
    }
    const { billedThrough } = await shown(run.client, number);
    assert.equal(billedThrough, wireDay(lastDay).replaceAll('/', ''));
  }
  const [ledger] = await rowsOf<{ sum: string }>(
    run,
    `select coalesce(sum(amount), 0)::text as sum from subledger_entries where tenant_id = $1`,
  );
  const billed = posted.reduce((sum, bill) => sum + cents(bill.billAmount), 0);
  assert.equal(ledger?.sum, String(billed), 'what is owed is what was billed');
}

type Part = Pick<ShownBill, 'lines' | 'usage'>;

/** What a bill says of one subscription: all of it, or its section of a bill of several. */
function ownPart(bill: ShownBill, number: string): Part[] {
  if (bill.connectionNumber === number) return [bill];
  const lines = bill.lines.filter((line) => line.connectionNumber === number);
  const sections = bill.sections.filter((section) => section.connectionNumber === number);
  return sections.map(({ usage }) => ({ lines, usage }));
}

const linesOf = (bills: readonly Part[], component: string) =>
  bills.flatMap((bill) => bill.lines.filter((line) => line.component === component));

const sumOf = (bills: readonly Part[], component: string) =>
  linesOf(bills, component).reduce((sum, line) => sum + cents(line.amount), 0);

function assertUse(bills: readonly Part[], expected: number): void {
  const used = bills.flatMap((bill) => bill.usage.filter((item) => item.input === 'energy'));
  const units = used.reduce((sum, item) => sum + Number(item.quantity), 0);
  assert.ok(Math.abs(units - expected) < 1e-6, `${units} units are billed of ${expected}`);
  // A bill that is cut at a day may round each part.
  const off = Math.abs(sumOf(bills, 'energyCharge') - expected * 1000);
  assert.ok(off <= linesOf(bills, 'energyCharge').length, `the charge for use is off by ${off}`);
}

const feesOf = ({ fees, off }: House, one: number) =>
  (fees[one] ?? []).map((fee, at) => (off[one]?.[at] ? 0 : fee));

function assertDays(bills: readonly Part[], fees: readonly number[]): void {
  const times = fees.map(() => 0);
  for (const { fromDate, toDate, lineType } of linesOf(bills, 'fee')) {
    if (lineType === 'Adjustment') continue;
    for (let at = dayOf(fromDate ?? ''); at <= dayOf(toDate ?? ''); at += 1) {
      times[at] = (times[at] ?? 0) + 1;
    }
  }
  const wrong = times.flatMap((count, at) =>
    count === (fees[at] === 0 ? 0 : 1) ? [] : [`${wireDay(at)}: ${count}`],
  );
  assert.deepEqual(wrong, [], 'days that are not billed once');
  const expected = fees.reduce((sum, fee) => sum + fee * 100, 0);
  assert.equal(sumOf(bills, 'fee'), expected, 'the fee of all days');
}
