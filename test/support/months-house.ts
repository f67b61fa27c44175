// A house of metered subscriptions that is billed in random ways, and what must be true of it in
// the end: everything is billed once.
import assert from 'node:assert/strict';
import { BillingError } from '../../sdk/client.ts';
import { billsOf, type Running, rowsOf, type ShownBill } from './bill-run.ts';
import { openOffer } from './offer-place.ts';
import { newTariff } from './pricing.ts';
import { assertIdentities, cents } from './published-bill.ts';
import type { Scene } from './scene.ts';
import { newMeter, shown } from './subscriptions.ts';

const firstDay = Temporal.PlainDate.from('2026-07-01');
/** Days on which something may happen, counted from the first of July. */
export const days = 92;
/** The end of the last term, far enough for an estimate to be put right. */
export const lastDay = 152;

export const wireDay = (day: number) =>
  firstDay.add({ days: day }).toString().split('-').reverse().join('/');
export const dayOf = (wire: string) =>
  firstDay.until(Temporal.PlainDate.from(wire.split('/').reverse().join('-'))).days;

/** What the meter of a subscription shows in the evening of a day: about ten units more. */
export const shownBy = (who: number, day: number) => (day + 1) * 10 + (((day + who + 1) * 7) % 5);

export type Term = {
  id: number;
  type: string;
  from: number;
  to: number;
  status: 'Open' | 'Posted';
};
type Given = {
  what: string;
  who: number;
  term: number;
  amount: number;
  /** Then it is billed only if another term had caught up on it before. */
  isOfCancelled: boolean;
};

/** A meter installed since a day, and the usage before it. */
export type Meter = { number: number; since: number; base: number };

export type House = {
  run: Running;
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

export const byHand = ['hand1', 'hand2', 'hand3'];
export const uploaded = ['calls1', 'calls2', 'calls3'];

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
  const run = await openOffer(
    scene,
    `months-${houses}`,
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
      postType,
    } as never,
    { ...rules('10'), ...usageData } as never,
    'Old',
  );
  const { client, offer } = run;
  const numbers: string[] = [];
  const meters: Meter[] = [];
  for (const one of [0, 1]) {
    const number = await newMeter(client);
    const initialReading = String(shownBy(one, -1));
    const meter = { number, installDate: '30/06/2026', initialReading };
    numbers.push(await run.connectOld({ meters: [meter] }));
    meters.push({ number, since: -1, base: 0 });
  }
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
export async function may(
  house: House,
  what: string,
  call: () => Promise<unknown>,
): Promise<boolean> {
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

export function describe(bill: ShownBill): string {
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

/** Takes a posted bill back; the term that bills it again is open, with what was given for it. */
export async function rebill(house: House, found: Term, one: number): Promise<void> {
  const { client } = house.run;
  const number = house.numbers[one] ?? '';
  const bills = await billsOf(house.run, found.id);
  const posted = bills.filter((shownBill) => shownBill.status === 'Posted');
  const bill = posted.find((shownBill) => ownPart(shownBill, number).length > 0);
  if (!bill) return;
  const { billID } = bill;
  const data = { billID, reason: 'misread', rebill: true };
  const what = `rebill ${number} of ${found.id}`;
  if (!(await may(house, what, () => client.cancelBill({ data })))) return;
  const { data: listed } = await client.getCreditNotes({ billID });
  const id = listed.creditNotes[0]?.rebillTermID ?? 0;
  house.story.push(`  is term ${id}`);
  const type = found.type === 'Final' ? 'Final' : 'OffCycle';
  house.terms.push({ id, type, from: found.from, to: found.to, status: 'Open' });
  for (const given of house.given) {
    const isOnBill = ownPart(bill, house.numbers[given.who] ?? '').length > 0;
    if (given.term === found.id && isOnBill) given.term = id;
  }
}

/**
 * What was used, every day, every value and upload is billed once, and the ledger says the same.
 */
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
      const sum = sumOf(own, name);
      if (wanted?.isOfCancelled && sum === 0) continue;
      assert.equal(sum, cents(wanted?.amount ?? 0), `${name} of ${number}`);
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
export function ownPart(bill: ShownBill, number: string): Part[] {
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
