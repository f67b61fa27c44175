// Random subscriptions on a tariff that has a bit of everything: two plans, add-on, price changes
// of every kind, quantities, variants, partial terms.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Bill } from '../../src/domain/rating/bill.ts';
import {
  compilePriceBook,
  type PriceBook,
  singleVersion,
} from '../../src/domain/rating/compile/price-book.ts';
import type {
  ContextDefinition,
  PlanDefinition,
  ValueFormula,
} from '../../src/domain/rating/definitions/definitions.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import { rateBill } from '../../src/domain/rating/rate/rate-bill.ts';
import { runs } from './random-runs.ts';

export function bookOf({ context, plans }: RandomTariff): PriceBook {
  return compilePriceBook(singleVersion(context, plans));
}

/** The bill of random facts, which must have no errors. */
export function ratedBy(book: PriceBook, facts: FrozenInputs): Bill {
  const bill = rateBill(book, facts);
  assert.deepEqual(bill.errors, []);
  return bill;
}

export type RandomTariff = { context: ContextDefinition; plans: PlanDefinition[] };
export type RandomBill = RandomTariff & { facts: FrozenInputs };

const context: ContextDefinition = {
  code: 'MIX',
  currency: 'PKR',
  currencyScale: 2,
  billRounding: { scale: 0, mode: 'HalfUp' },
  connectionInputs: [
    { name: 'load', type: 'Number' },
    { name: 'size', type: 'Select', options: ['15', '20'] },
  ],
  meteredInputs: [{ name: 'energy', unit: 'kWh', aggregation: 'Sum', decimals: 1 }],
  unmeteredInputs: [
    { name: 'taps', changeInTerm: 'Split' },
    { name: 'slots', changeInTerm: 'End' },
    { name: 'area', changeInTerm: 'Weighted' },
    { name: 'calls', source: 'Uploaded' },
  ],
  values: [
    { name: 'slabs', type: 'Table', columns: ['upTo', 'rate'], changeInTerm: 'Split' },
    { name: 'fee', type: 'Number', changeInTerm: 'Split', overridable: 1, default: '100' },
    { name: 'perSlot', type: 'Number', changeInTerm: 'Weighted', overridable: 1, default: '12.5' },
    { name: 'perTap', type: 'Number', changeInTerm: 'Start', default: '7.77' },
    { name: 'taxPct', type: 'Percent', changeInTerm: 'End', default: '0.18' },
    {
      name: 'sizes',
      type: 'Table',
      columns: ['size', 'monthly'],
      changeInTerm: 'End',
      default: [
        { size: '15', monthly: '250' },
        { size: '*', monthly: '333.33' },
      ],
    },
  ],
  components: [
    { name: 'energyCharge', type: 'Charge', categories: ['base', 'taxed'], sequence: 1 },
    { name: 'feeCharge', type: 'Charge', categories: ['base', 'taxed'], sequence: 2 },
    { name: 'tapCharge', type: 'Charge', categories: ['taxed'], sequence: 3 },
    { name: 'slotCharge', type: 'Charge', categories: ['taxed'], sequence: 4 },
    { name: 'sizeCharge', type: 'Charge', categories: [], sequence: 4 },
    { name: 'callCharge', type: 'Charge', categories: ['taxed'], sequence: 5 },
    { name: 'minimum', type: 'Charge', categories: ['taxed'], sequence: 6 },
    {
      name: 'rebate',
      type: 'Discount',
      categories: ['taxed'],
      sequence: 7,
      rounding: { scale: 1, mode: 'HalfEven' },
    },
    { name: 'tax', type: 'Tax', categories: [], sequence: 8 },
    {
      name: 'late',
      type: 'LateSurcharge',
      categories: [],
      sequence: 9,
      rounding: { scale: 0, mode: 'Up' },
    },
  ],
};

const baseRules: PlanDefinition['componentRules'] = [
  { component: 'energyCharge', formula: 'SLAB(usage.energy, slabs, segment.months)' },
  { component: 'feeCharge', formula: 'fee', prorate: 'Days' },
  { component: 'tapCharge', formula: 'qty.taps * perTap + comp.feeCharge * 1%', prorate: 'Days' },
  { component: 'slotCharge', scope: 'Term', formula: 'qty.slots * perSlot * segment.factor' },
  { component: 'sizeCharge', formula: 'LOOKUP(sizes, input.size, "monthly")', prorate: 'Days' },
  { component: 'callCharge', scope: 'Term', formula: 'PACKAGE(usage.calls - 100, 30, 4.99)' },
  {
    component: 'minimum',
    scope: 'Term',
    formula: 'MAX(0, 500 * segment.factor - SUMCAT("base"))',
  },
  {
    component: 'rebate',
    scope: 'Term',
    when: 'usage.energy > 50',
    formula: '-MIN(qty.area * 0.013, comp.energyCharge / 7)',
  },
  { component: 'tax', scope: 'Term', formula: 'SUMCAT("taxed") * taxPct' },
  { component: 'late', scope: 'Term', formula: 'MAX(0, bill.current) * 7%' },
];

const otherRules: PlanDefinition['componentRules'] = [
  { component: 'energyCharge', formula: 'SLABPREVIOUS(usage.energy, slabs, segment.factor)' },
  { component: 'sizeCharge', exclude: 1 },
];

const addOnRules: PlanDefinition['componentRules'] = [
  { component: 'feeCharge', formula: '55.55 * segment.quantity', prorate: 'Days' },
];

const months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** DD/MM/YYYY of the day that many days after 01/01/2025 (or before it). */
export function dateAfter(days: number): string {
  let text = dates.get(days);
  if (text === undefined) {
    const day = Temporal.PlainDate.from('2025-01-01').add({ days });
    const pad = (value: number) => String(value).padStart(2, '0');
    text = `${pad(day.day)}/${pad(day.month)}/${day.year}`;
    dates.set(days, text);
  }
  return text;
}

/** Asked for some hundred times for each bill. */
const dates = new Map<number, string>();

const money = fc.integer({ min: 0, max: 99_999 }).map((n) => (n / 100).toFixed(2));
const quantity = fc.integer({ min: 0, max: 40 }).map(String);
const someDay = fc.integer({ min: -60, max: 420 });

const slabRows = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 1, max: 400 }), { maxLength: 4 }),
    fc.array(money, { minLength: 5, maxLength: 5 }),
  )
  .map(([limits, rates]) => {
    const sorted = [...limits].sort((a, b) => a - b).map(String);
    return [...sorted, null].map((upTo, index) => ({ upTo, rate: rates[index] as string }));
  });

/** A history without overlaps: each item ends before the next begins, now and then with a gap. */
function history<Item>(
  item: fc.Arbitrary<Item>,
): fc.Arbitrary<(Item & { fromDate: string; toDate: string | null })[]> {
  return fc
    .tuple(
      fc.uniqueArray(someDay, { maxLength: 3 }),
      fc.array(item, { minLength: 3, maxLength: 3 }),
      fc.integer({ min: 0, max: 5 }),
    )
    .map(([starts, items, gap]) => {
      const sorted = [...starts].sort((a, b) => a - b);
      return sorted.map((from, index) => {
        const next = sorted[index + 1];
        const to = next === undefined ? null : Math.max(from, next - 1 - gap);
        const toDate = to === null ? null : dateAfter(to);
        return { ...(items[index] as Item), fromDate: dateAfter(from), toDate };
      });
    });
}

function valueHistory(name: string): fc.Arbitrary<ValueFormula[]> {
  return history(money.map((formula) => ({ name, formula, rows: null })));
}

const planValues = fc
  .tuple(
    history(slabRows.map((rows) => ({ name: 'slabs', formula: null, rows }))),
    valueHistory('fee'),
    valueHistory('perSlot'),
    valueHistory('perTap'),
    history(
      fc.integer({ min: 0, max: 40 }).map((percent) => ({
        name: 'taxPct',
        formula: `${percent}%`,
        rows: null,
      })),
    ),
  )
  .map((lists) => lists.flat() as ValueFormula[]);

function steps(name: string) {
  return fc
    .uniqueArray(fc.tuple(someDay, quantity), { selector: ([day]) => day, maxLength: 3 })
    .map((list) => list.map(([day, value]) => ({ name, value, fromDate: dateAfter(day) })));
}

const planHistory = fc
  .uniqueArray(fc.tuple(someDay, fc.constantFrom('BASE', 'OTHER')), {
    selector: ([day]) => day,
    maxLength: 3,
  })
  .map((list) => [
    { tariffCode: 'BASE', fromDate: '01/01/2020' },
    ...list.map(([day, tariffCode]) => ({ tariffCode, fromDate: dateAfter(day) })),
  ]);

const variants = fc
  .tuple(
    history(money.map((value) => ({ name: 'fee', value }))),
    history(money.map((value) => ({ name: 'perSlot', value }))),
  )
  .map((lists) => lists.flat());

const terms = fc.integer({ min: 0, max: 11 }).map((month) => {
  const start = months.slice(0, month).reduce((sum, days) => sum + days, 0);
  const end = start + (months[month] as number) - 1;
  return {
    label: `M${month + 1}`,
    startDate: dateAfter(start),
    endDate: dateAfter(end),
    dueDate: null,
    months: 1,
    start,
    end,
  };
});

const tariffs: fc.Arbitrary<RandomTariff> = fc
  .record({ baseValues: planValues, otherValues: planValues, defaultSlabs: slabRows })
  .map(({ baseValues, otherValues, defaultSlabs }) => ({
    context: withSlabs(defaultSlabs),
    plans: [
      plan('BASE', null, baseRules, baseValues),
      plan('OTHER', 'BASE', otherRules, otherValues),
      plan('EXTRA', null, addOnRules, []),
    ],
  }));

const subscriptions: fc.Arbitrary<FrozenInputs> = fc
  .record({
    term: terms,
    planHistory,
    variants,
    taps: steps('taps'),
    slots: steps('slots'),
    area: steps('area'),
    connected: fc.oneof(fc.constant(-400), fc.integer({ min: 0, max: 30 })),
    disconnected: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 31 })),
    readings: fc.tuple(fc.integer({ min: 0, max: 9000 }), fc.integer({ min: 0, max: 9000 })),
    calls: fc.integer({ min: 0, max: 1000 }),
    size: fc.constantFrom('15', '20'),
    arrears: fc.integer({ min: -99_999, max: 99_999 }).map((n) => (n / 100).toFixed(2)),
    addOn: fc.oneof(fc.constant(null), fc.tuple(someDay, quantity)),
  })
  .map(frozenOf);

export const randomBills: fc.Arbitrary<RandomBill> = fc
  .tuple(tariffs, subscriptions)
  .map(([tariff, facts]) => ({ ...tariff, facts }));

/**
 * Some subscriptions on each tariff, five on average: to compile it takes longer than to bill one.
 */
export const randomTariffs: fc.Arbitrary<RandomTariff & { subscriptions: FrozenInputs[] }> = fc
  .tuple(tariffs, fc.array(subscriptions, { minLength: 1, maxLength: 9 }))
  .map(([tariff, list]) => ({ ...tariff, subscriptions: list }));

/** As many tariffs as have so many bills. */
export const tariffRuns = { ...runs, numRuns: Math.ceil(runs.numRuns / 5) };

function withSlabs(rows: { upTo: string | null; rate: string }[]): ContextDefinition {
  const values = (context.values ?? []).map((value) =>
    value.name === 'slabs' ? { ...value, default: rows } : value,
  );
  return { ...context, values };
}

function plan(
  code: string,
  parentTariffCode: string | null,
  componentRules: PlanDefinition['componentRules'],
  valueFormulas: ValueFormula[],
): PlanDefinition {
  return {
    code,
    name: code,
    parentTariffCode,
    componentRules: componentRules ?? [],
    valueFormulas,
  };
}

type Parts = {
  term: FrozenInputs['term'] & { start: number; end: number };
  planHistory: { tariffCode: string; fromDate: string }[];
  variants: { name: string; value: string; fromDate: string; toDate: string | null }[];
  taps: { name: string; value: string; fromDate: string }[];
  slots: { name: string; value: string; fromDate: string }[];
  area: { name: string; value: string; fromDate: string }[];
  connected: number;
  disconnected: number | null;
  readings: [number, number];
  calls: number;
  size: string;
  arrears: string;
  addOn: [number, string] | null;
};

function frozenOf(parts: Parts): FrozenInputs {
  const { start, end, ...term } = parts.term;
  const [first, second] = parts.readings;
  const stop = parts.disconnected;
  return {
    term,
    connection: {
      connectionNumber: 'X-1',
      connectionDate: dateAfter(start + parts.connected),
      disconnectDate: stop === null ? null : dateAfter(start + stop),
      tariffHistory: parts.planHistory,
      addOns:
        parts.addOn === null
          ? []
          : [
              {
                tariffCode: 'EXTRA',
                quantity: parts.addOn[1],
                fromDate: dateAfter(parts.addOn[0]),
              },
            ],
      connectionInputs: [
        { name: 'load', value: '5' },
        { name: 'size', value: parts.size },
      ],
      unmeteredInputs: [...parts.taps, ...parts.slots, ...parts.area],
      variants: parts.variants,
    },
    meters: [
      {
        number: 7,
        mf: 1,
        digits: 6,
        input: 'energy',
        previous: { date: dateAfter(start - 1), value: String(Math.min(first, second) / 10) },
        current: { date: dateAfter(end), value: String(Math.max(first, second) / 10) },
      },
    ],
    uploadedUsage: { calls: String(parts.calls) },
    account: { arrears: parts.arrears },
  };
}
