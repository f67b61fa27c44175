// What an operator may do with a house in some months, in any order, and how it is brought to an
// end.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  generateTwice,
  holdOne,
  lock,
  newTermOver,
  postTerm,
  read,
  unpostTerm,
} from './house-terms.ts';
import {
  byHand,
  dayOf,
  days,
  type House,
  lastDay,
  type Meter,
  may,
  rebill,
  shownBy,
  type Term,
  uploaded,
  wireDay,
} from './months-house.ts';
import { newMeter, newParty, shown } from './subscriptions.ts';

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
  one(3, 'skipBill', { term, who, reading }),
  one(3, 'unpost', { term }),
  one(2, 'rebill', { term, who }),
  one(2, 'cancel', { term }),
  one(1, 'end', { term, day }),
  one(2, 'transfer', { who, day, isRead }),
  one(1, 'off', { who, day, isRead }),
  one(1, 'on', { who, day, isRead }),
  one(1, 'plan', { who, day, isRead }),
  one(1, 'exchange', { who, day, isRead }),
);

export type Action = typeof actions extends fc.Arbitrary<infer One> ? One : never;

function pick(house: House, index: number, status: Term['status']): Term | undefined {
  const found = house.terms.filter((one) => one.status === status);
  return found.at(index % Math.max(1, found.length));
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
    case 'unpost':
    case 'rebill': {
      const { term: index, who: one } = action as { term: number; who: number };
      // Only the newest bill of a subscription is billed again: rather one of the last terms.
      const found = pick(house, action.do === 'rebill' ? -1 - (index % 2) : index, 'Posted');
      return found && (action.do === 'unpost' ? unpostTerm : rebill)(house, found, one);
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
    case 'skipBill':
      await lock(house, found, action.reading);
      await generateTwice(house, found);
      if (action.do === 'skipBill') await holdOne(house, found, number ?? '', true);
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
      for (const one of house.given) if (one.term === termID) one.isOfCancelled = true;
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
  const connectionNumbers =
    action.who === null ? house.numbers : [house.numbers[action.who ?? 0] ?? ''];
  await newTermOver(house, type, from, to, connectionNumbers);
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
  const given = { what, who: one, term: found.id, amount: action.amount, isOfCancelled: false };
  if (isDone) house.given.push(given);
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
