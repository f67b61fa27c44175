// Builds a context, a plan and facts out of a few lines, and gives back figures of the bill made
// from them. Used to express published examples of other systems in our own terms.
import { readFileSync } from 'node:fs';
import { decimalText, exactFrom, minorUnitsText } from '../../src/base/numbers/decimal-text.ts';
import type { Bill } from '../../src/domain/rating/bill.ts';
import { checkPlans } from '../../src/domain/rating/check/check-plan.ts';
import { compilePriceBook, singleVersion } from '../../src/domain/rating/compile/price-book.ts';
import type {
  ComponentDefinition,
  ComponentRule,
  ContextDefinition,
  PlanDefinition,
  Rows,
  ValueDefinition,
} from '../../src/domain/rating/definitions/definitions.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import { rateBill } from '../../src/domain/rating/rate/rate-bill.ts';

export type Tier = {
  upTo: number | string | null;
  unit?: string;
  flat?: string;
  ratePercent?: string;
};

// The inputs of a published case have a shape of their own in every model.
// biome-ignore lint/suspicious/noExplicitAny: read from a file of many shapes
export type Loose = any;

export type PublishedCase = {
  id: string;
  source: string;
  model: string;
  /** True if the source gives the prices, and the amount follows from its rule. */
  isDerived?: true;
  inputs: Loose;
  expected: Loose;
  note?: string;
};

const publishedFiles = [
  'stripe',
  'lago',
  'kill-bill',
  'openmeter',
  'flexprice',
  'other-systems',
  'utilities',
  'late-payment',
];

export const publishedCases: PublishedCase[] = publishedFiles.flatMap((name) =>
  JSON.parse(readFileSync(new URL(`../cases/published/${name}.json`, import.meta.url), 'utf8')),
);

/** A figure of ours beside the published one. */
export type Figure = readonly [what: string, ours: string, published: unknown];

type Charge =
  | string
  | (Partial<ComponentRule> & Partial<ComponentDefinition> & { formula: string });

export type Sketch = {
  /** Number or formula as text, or rows of a table. */
  values?: Record<string, string | Rows>;
  changeInTerm?: ValueDefinition['changeInTerm'];
  /** Histories of values by name: from which day which formula. */
  histories?: Record<string, [fromDate: string, formula: string][]>;
  /** Components in order, a bare formula being a Term rule. */
  charges: Record<string, Charge>;
  usage?: Record<string, string>;
  quantities?: Record<string, [fromDate: string, value: string][]>;
  quantityChange?: 'Split' | 'End' | 'Weighted';
  fields?: Record<string, string>;
  facts?: Partial<FrozenInputs>;
  context?: Partial<ContextDefinition>;
};

const july = { label: 'Jul', startDate: '01/07/2025', endDate: '31/07/2025', months: 1 };

class Priced {
  readonly bill: Bill;

  constructor(bill: Bill) {
    this.bill = bill;
  }

  /** Rounded total of a component. */
  amount(component: string): string {
    const lines = [...this.bill.lines, ...this.bill.surcharges];
    const own = lines.filter((line) => line.component === component);
    return this.text(own.reduce((sum, line) => sum + line.amount, 0));
  }

  /** Amounts of a component's lines, in order. */
  amounts(component: string): string[] {
    const own = this.bill.lines.filter((line) => line.component === component);
    return own.map((line) => this.text(line.amount));
  }

  /** Result of a component before it was rounded. */
  exact(component: string): string {
    return this.bill.explanation?.find((line) => line.component === component)?.exact ?? '0';
  }

  details(component: string) {
    return this.bill.lines.find((line) => line.component === component)?.details ?? [];
  }

  total(field: 'currentCharges' | 'payableWithinDueDate' | 'taxAmount' = 'currentCharges'): string {
    return this.text(this.bill[field]);
  }

  text(minor: number): string {
    return plain(minorUnitsText(minor, this.bill.currencyScale));
  }
}

/** One way to write each number, so that 7 equals 7.00. */
export function plain(value: unknown): string {
  const exact = exactFrom(value);
  return exact === undefined ? String(value) : decimalText(exact);
}

export function price(sketch: Sketch): Priced {
  const context = contextOf(sketch);
  const plan = planOf(sketch);
  const { errors } = checkPlans(context, [plan]);
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  const facts: FrozenInputs = {
    term: july,
    tariffCode: plan.code,
    ...(sketch.usage === undefined ? {} : { uploadedUsage: sketch.usage }),
    ...sketch.facts,
    connection: {
      connectionInputs: Object.entries(sketch.fields ?? {}).map(([name, value]) => ({
        name,
        value,
      })),
      unmeteredInputs: Object.entries(sketch.quantities ?? {}).flatMap(([name, steps]) =>
        steps.map(([fromDate, value]) => ({ name, value, fromDate })),
      ),
      ...sketch.facts?.connection,
    },
  };
  const book = compilePriceBook(singleVersion(context, [plan]));
  const bill = rateBill(book, facts, { explain: true });
  if (bill.errors.length > 0) throw new Error(JSON.stringify(bill.errors));
  return new Priced(bill);
}

function contextOf(sketch: Sketch): ContextDefinition {
  const uploaded = new Set([
    ...Object.keys(sketch.usage ?? {}),
    ...Object.keys(sketch.facts?.previousTerm?.usage ?? {}),
  ]);
  return {
    code: 'X',
    values: [
      ...Object.entries(sketch.values ?? {}).map(([name, given]) =>
        definedValue(name, given, sketch),
      ),
      ...Object.keys(sketch.histories ?? {}).map((name) => definedValue(name, null, sketch)),
    ],
    components: Object.entries(sketch.charges).map(([name, charge], index) => ({
      type: 'Charge' as const,
      categories: [],
      sequence: index,
      ...componentKeys(charge),
      name,
    })),
    connectionInputs: Object.entries(sketch.fields ?? {}).map(([name, value]) => ({
      name,
      type: exactFrom(value) === undefined ? ('Text' as const) : ('Number' as const),
    })),
    unmeteredInputs: [
      ...[...uploaded].map((name) => ({ name, source: 'Uploaded' as const })),
      ...Object.keys(sketch.quantities ?? {}).map((name) => ({
        name,
        changeInTerm: sketch.quantityChange ?? ('Split' as const),
      })),
    ],
    ...sketch.context,
  };
}

function componentKeys(charge: Charge): Partial<ComponentDefinition> {
  if (typeof charge === 'string') return {};
  const { type, categories, rounding } = charge;
  return {
    ...(type === undefined ? {} : { type }),
    ...(categories === undefined ? {} : { categories }),
    ...(rounding === undefined ? {} : { rounding }),
  };
}

function definedValue(name: string, given: string | Rows | null, sketch: Sketch): ValueDefinition {
  const change = sketch.changeInTerm ?? 'End';
  if (given === null || typeof given === 'string') {
    return { name, type: 'Number', default: given, changeInTerm: change };
  }
  const columns = [...new Set(given.flatMap((row) => Object.keys(row)))];
  return { name, type: 'Table', columns, default: given, changeInTerm: 'End' };
}

function planOf(sketch: Sketch): PlanDefinition {
  return {
    code: 'PLAN',
    valueFormulas: Object.entries(sketch.histories ?? {}).flatMap(([name, steps]) =>
      steps.map(([fromDate, formula], index) => ({
        name,
        formula,
        fromDate,
        toDate: dayBefore(steps[index + 1]?.[0]),
      })),
    ),
    componentRules: Object.entries(sketch.charges).map(([component, charge]) => {
      if (typeof charge === 'string') return { component, scope: 'Term' as const, formula: charge };
      const { type: _t, categories: _c, rounding: _r, name: _n, ...rule } = charge;
      return { scope: 'Term' as const, ...rule, component };
    }),
  };
}

function dayBefore(date: string | undefined): string | null {
  if (date === undefined) return null;
  const [day, month, year] = date.split('/').map(Number) as [number, number, number];
  const before = Temporal.PlainDate.from({ day, month, year }).subtract({ days: 1 });
  const pad = (value: number) => String(value).padStart(2, '0');
  return `${pad(before.day)}/${pad(before.month)}/${before.year}`;
}

/** Published tiers as rows of a slab table. */
export function rowsOf(tiers: readonly Tier[]): Rows {
  const hasFlat = tiers.some((tier) => tier.flat !== undefined);
  return tiers.map((tier) => {
    const rate = tier.unit ?? percentText(tier.ratePercent) ?? '0';
    const upTo = tier.upTo === null ? null : String(tier.upTo);
    return hasFlat ? { upTo, rate, flat: tier.flat ?? '0' } : { upTo, rate };
  });
}

function percentText(percent: string | undefined): string | undefined {
  if (percent === undefined) return undefined;
  const exact = exactFrom(percent);
  return exact === undefined ? undefined : decimalText({ ...exact, d: exact.d * 100 });
}
