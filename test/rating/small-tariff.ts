// A small tariff that tests change one thing of at a time.
import type { Bill } from '../../src/domain/rating/bill.ts';
import {
  compilePriceBook,
  type Definitions,
  singleVersion,
} from '../../src/domain/rating/compile/price-book.ts';
import type {
  ContextDefinition,
  PlanDefinition,
} from '../../src/domain/rating/definitions/definitions.ts';
import type {
  FrozenConnection,
  FrozenInputs,
  FrozenMeter,
} from '../../src/domain/rating/frozen-inputs.ts';
import { rateBill } from '../../src/domain/rating/rate/rate-bill.ts';

export const context: ContextDefinition = {
  code: 'SMALL',
  connectionInputs: [{ name: 'size', type: 'Text' }],
  meteredInputs: [
    { name: 'energy', unit: 'kWh', aggregation: 'Sum', decimals: 0 },
    { name: 'demand', unit: 'kW', aggregation: 'Max' },
  ],
  unmeteredInputs: [
    { name: 'seats', changeInTerm: 'Split' },
    { name: 'data', source: 'Uploaded' },
  ],
  values: [
    { name: 'fee', type: 'Number', changeInTerm: 'Split', overridable: 1, default: '310' },
    { name: 'rate', type: 'Number', changeInTerm: 'End', default: '2' },
  ],
  components: [
    { name: 'feeCharge', label: 'Fee', type: 'Charge', categories: ['taxed'], sequence: 1 },
    { name: 'energyCharge', type: 'Charge', categories: ['taxed'], sequence: 2 },
    { name: 'extra', type: 'Charge', categories: ['taxed'], sequence: 3, manual: 'Optional' },
    { name: 'discount', type: 'Discount', categories: ['taxed'], sequence: 4, manual: 'Optional' },
    { name: 'tax', type: 'Tax', categories: [], sequence: 5 },
  ],
};

export const plan: PlanDefinition = {
  code: 'A',
  name: 'Plan A',
  componentRules: [
    { component: 'feeCharge', formula: 'fee', prorate: 'Days' },
    { component: 'energyCharge', formula: 'usage.energy * rate' },
    { component: 'extra', scope: 'Term', formula: '0' },
    { component: 'tax', scope: 'Term', formula: 'SUMCAT("taxed") * 10%' },
  ],
};

export const july = {
  label: 'Jul-2025',
  startDate: '01/07/2025',
  endDate: '31/07/2025',
  months: 1,
};

/** Plan A with some rules put in place of, or beside, its own. */
export function planWith(
  rules: PlanDefinition['componentRules'],
  more: Partial<PlanDefinition> = {},
) {
  const named = new Set((rules ?? []).map((rule) => rule.component));
  const kept = (plan.componentRules ?? []).filter((rule) => !named.has(rule.component));
  return { ...plan, ...more, componentRules: [...kept, ...(rules ?? [])] };
}

export function billOf(
  facts: Partial<FrozenInputs>,
  plans: readonly PlanDefinition[] = [plan],
  own: Partial<ContextDefinition> = {},
  options = {},
): Bill {
  return bookBill(singleVersion({ ...context, ...own }, plans), facts, options);
}

export function bookBill(
  definitions: Definitions,
  facts: Partial<FrozenInputs>,
  options = {},
): Bill {
  const book = compilePriceBook(definitions);
  return rateBill(book, { term: july, tariffCode: 'A', ...facts }, options);
}

export function connected(connection: FrozenConnection): Partial<FrozenInputs> {
  return { connection: { connectionNumber: 'S-1', ...connection } };
}

/** Lines as `component amount [from-to]`, the days only where they are not the whole of July. */
export function shown(bill: Bill): string[] {
  return bill.lines.map((line) => {
    const { fromDate, toDate } = line;
    const isWhole = fromDate === july.startDate && toDate === july.endDate;
    const days = isWhole ? '' : ` ${fromDate.slice(0, 5)}-${toDate.slice(0, 5)}`;
    return `${line.component} ${line.amount / 100}${days}`;
  });
}

export function codes(bill: Bill): string[] {
  return bill.errors.map((error) => error.code);
}

export function meter(
  previous: string,
  current: string,
  more: Partial<FrozenMeter> = {},
): FrozenMeter {
  return {
    number: 1,
    mf: 1,
    digits: 5,
    input: 'energy',
    previous: { date: '30/06/2025', value: previous },
    current: { date: '31/07/2025', value: current },
    ...more,
  };
}
