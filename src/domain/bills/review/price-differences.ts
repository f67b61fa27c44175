// What was saved between two runs, of the context and of the plans in the versions that priced the
// bill. A version that is not effective on any of its days is never a cause.
import { parseDay } from '../../../base/days.ts';
import type { CompiledContext } from '../../rating/compile/compiled-context.ts';
import { chainOn, contextOn, type PriceBook } from '../../rating/compile/price-book.ts';
import type { PlanDefinition } from '../../rating/definitions/definitions.ts';
import type { PlanVersion } from '../../rating/definitions/inheritance.ts';
import { type FrozenBillInputs, type FrozenInputs, frozenOf } from '../../rating/frozen-inputs.ts';
import { holdRulesOf } from '../../rating/rate/hold.ts';
import { prepareRating, type Rating } from '../../rating/rate/prepare-rating.ts';
import { isRefusal } from '../../rating/rating-error.ts';
import type { StoredDocument } from '../bill-forms.ts';
import {
  type Cause,
  differing,
  differingItems,
  type Entries,
  type Item,
  type Items,
  plain,
} from './differences.ts';

export type ComparedBill = {
  frozen: FrozenBillInputs;
  document: StoredDocument;
  book: PriceBook;
};

export function priceCauses(before: ComparedBill, after: ComparedBill): Cause[] {
  if (before.book === after.book) return [];
  const days = pricedDays([before, after]);
  const held = new Set([before, after].flatMap(({ document }) => holdNames(document)));
  const causes = [
    ...[...days.all].flatMap((day) => {
      const [a, b] = [contextOn(before.book, day), contextOn(after.book, day)];
      return a.version === b.version ? [] : remembered(a, b, contextCauses);
    }),
    ...[...days.ends].flatMap((day) =>
      roundingCauses(contextOn(before.book, day), contextOn(after.book, day)),
    ),
    ...[...days.last].flatMap((day) => {
      const rules = ({ book }: ComparedBill) => holdItems(contextOn(book, day), held);
      return differingItems('Rule', rules(before), rules(after));
    }),
    ...[...days.plans].flatMap(([code, own]) =>
      planCauses([...own].map((day) => chainPair(before.book, after.book, code, day))),
    ),
    ...labelCauses(before.document, after.document),
  ];
  return [...new Map(causes.map((cause) => [JSON.stringify(cause), cause])).values()];
}

/** First days of all parts in which nothing changes that prices a bill, in either version of it. */
type PricedDays = {
  readonly all: Set<number>;
  /** By the rules of these days a bill is held. */
  readonly last: Set<number>;
  /** Ends of terms: by these a bill of several subscriptions is rounded. */
  readonly ends: Set<number>;
  readonly plans: Map<string, Set<number>>;
};

function pricedDays(bills: readonly ComparedBill[]): PricedDays {
  const days: PricedDays = {
    all: new Set(),
    last: new Set(),
    ends: new Set(),
    plans: new Map(),
  };
  for (const { book, frozen } of bills) {
    for (const one of frozenOf(frozen)) {
      const rating = preparedRating(book, one);
      if (rating !== null) addDays(days, rating);
    }
    const end = parseDay(frozenOf(frozen)[0]?.term.endDate ?? '');
    if ('subscriptions' in frozen && end !== undefined) days.ends.add(end);
  }
  return days;
}

/** null where no bill can be begun with; the days are then those of the other version. */
function preparedRating(book: PriceBook, frozen: FrozenInputs): Rating | null {
  try {
    return prepareRating(book, frozen, [], { isExplained: false });
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

function addDays(days: PricedDays, { current, previous }: Rating): void {
  for (const { tracks, window } of previous === null ? [current] : [current, previous.term]) {
    for (const { segments, compiledPlan } of tracks) {
      const none = segments.length === 0 ? [{ compiledPlan, from: window.lastDay }] : [];
      for (const part of [...segments, ...none]) {
        const own = days.plans.get(part.compiledPlan.code) ?? new Set();
        days.plans.set(part.compiledPlan.code, own.add(part.from));
        days.all.add(part.from);
      }
    }
  }
  days.all.add(current.window.lastDay);
  days.last.add(current.window.lastDay);
}

const known = new WeakMap<object, WeakMap<object, Cause[]>>();

/** All bills of a term that differ have the same few versions side by side. */
function remembered<Of extends object>(
  before: Of,
  after: Of,
  find: (before: Of, after: Of) => Cause[],
): Cause[] {
  const beside = known.get(before) ?? new WeakMap<object, Cause[]>();
  known.set(before, beside);
  const causes = beside.get(after) ?? find(before, after);
  beside.set(after, causes);
  return causes;
}

function contextCauses(before: CompiledContext, after: CompiledContext): Cause[] {
  const [a, b] = [before.definition, after.definition];
  return [
    ...differingItems('Value', itemsOf(a.values, valueShape), itemsOf(b.values, valueShape)),
    ...differingItems(
      'Component',
      itemsOf(a.components, componentShape),
      itemsOf(b.components, componentShape),
    ),
    ...roundingCauses(before, after),
    ...(['meteredInputs', 'unmeteredInputs', 'connectionInputs'] as const).flatMap((list) =>
      differingItems('Input', itemsOf(a[list], inputShape), itemsOf(b[list], inputShape)),
    ),
  ];
}

function roundingCauses(before: CompiledContext, after: CompiledContext): Cause[] {
  const rounding = ({ definition: { billRounding } }: CompiledContext): Entries =>
    new Map(billRounding ? [['billRounding', plain(billRounding)]] : []);
  return differing('Component', rounding(before), rounding(after));
}

function holdNames({ holds = [] }: StoredDocument): string[] {
  return holds.map(({ name }) => name);
}

/** Only rules that hold the bill, before or after. */
function holdItems(context: CompiledContext, held: ReadonlySet<string>): Items {
  const rules = holdRulesOf(context).filter(({ name }) => held.has(name));
  return itemsOf(rules, holdShape, 'hold ');
}

type PlanPair = { readonly before: PlanVersion; readonly after: PlanVersion };

/**
 * The plan and those it inherits from, as they are on a day in either book. A plan that one book
 * lacks is reported as another plan or another parent.
 */
function chainPair(before: PriceBook, after: PriceBook, code: string, day: number): PlanPair[] {
  const { chain } = chainOn(before, code, day);
  return chainOn(after, code, day).chain.flatMap((plan) => {
    const old = chain.find(({ definition }) => definition.code === plan.definition.code);
    return old === undefined ? [] : [{ before: old, after: plan }];
  });
}

/** Of one plan, by the days on which it or its parents change. */
function planCauses(chains: readonly (readonly PlanPair[])[]): Cause[] {
  const changed = chains.flat().filter(({ before, after }) => before.version !== after.version);
  const causes = changed.flatMap(({ before, after }) =>
    remembered(before.definition, after.definition, definitionCauses),
  );
  if (causes.length > 0) return causes;
  const own = chains.flatMap(([first]) => (first && changed.includes(first) ? [first] : []));
  return own.flatMap(versionCauses);
}

function definitionCauses(before: PlanDefinition, after: PlanDefinition): Cause[] {
  const prefix = `${after.code} `;
  const parent = ({ parentTariffCode }: PlanDefinition): Entries =>
    new Map(parentTariffCode ? [[`${prefix}parentTariffCode`, parentTariffCode]] : []);
  const values = ({ valueFormulas = [] }: PlanDefinition) => {
    const items = valueFormulas.map(({ rows, formula, ...item }) => ({
      formula: formula ?? rows,
      ...item,
    }));
    return itemsOf(items, valueFormulaShape, prefix);
  };
  const rules = ({ componentRules = [] }: PlanDefinition) => {
    const items = componentRules.map(({ exclude, ...rule }) =>
      exclude === 1 ? { component: rule.component, formula: 'excluded' } : rule,
    );
    return itemsOf(items, ruleShape, prefix);
  };
  const inputs = ({ usageData = [] }: PlanDefinition) => {
    // Items of other kinds are kept with a plan and price nothing.
    const items = usageData.filter(({ input }) => typeof input === 'string');
    return itemsOf(items, usageShape, prefix);
  };
  return [
    ...differing('Plan', parent(before), parent(after)),
    ...differingItems('Value', values(before), values(after)),
    ...differingItems('Rule', rules(before), rules(after)),
    ...differingItems('Input', inputs(before), inputs(after)),
  ];
}

/** Lines name the version of their plan, so that a bill differs even where no price does. */
function versionCauses({ before, after }: PlanPair): Cause[] {
  // The name is on the bill and is compared there.
  if (before.definition.name !== after.definition.name) return [];
  const name = `${after.definition.code} version`;
  const [was, is] = [String(before.version), String(after.version)];
  return [{ kind: 'Plan', name, before: was, after: is }];
}

/** Of plans that name both bills. */
function labelCauses(before: StoredDocument, after: StoredDocument): Cause[] {
  const was = labelsOf(before);
  const is = labelsOf(after);
  const both = (labels: Entries) =>
    new Map([...labels].filter(([name]) => was.has(name) && is.has(name)));
  return differing('Plan', both(was), both(is));
}

function labelsOf(document: StoredDocument): Entries {
  const labelled = [document, ...(document.sections ?? [])];
  return new Map(
    labelled.flatMap(({ tariffCode, tariffLabel }) =>
      tariffCode && tariffLabel ? [[`${tariffCode} name`, tariffLabel] as const] : [],
    ),
  );
}

/** How items of a list are named and shown. */
type Shape = {
  readonly keys: readonly string[];
  readonly main: string;
  /** What holds where a field is not given: said or not, it is the same. */
  readonly unsaid: Entries;
  /** Fields that neither affect a price nor appear on a bill. */
  readonly unseen: readonly string[];
};

const valueShape: Shape = {
  keys: ['name'],
  main: 'default',
  unsaid: new Map([
    ['changeInTerm', 'End'],
    ['overridable', '0'],
  ]),
  unseen: ['label', 'description'],
};
const componentShape: Shape = {
  keys: ['name'],
  main: 'label',
  unsaid: new Map([
    ['categories', '[]'],
    ['sequence', '0'],
    ['printIfZero', '0'],
    ['manual', 'No'],
  ]),
  unseen: ['description', 'account', 'taxCode'],
};
const inputShape: Shape = {
  keys: ['name'],
  main: 'defaultValue',
  unsaid: new Map([
    ['aggregation', 'Sum'],
    ['source', 'Subscription'],
    ['changeInTerm', 'Split'],
    ['required', '0'],
    ['unique', '0'],
  ]),
  unseen: ['label', 'sequence'],
};
const holdShape: Shape = { keys: ['name'], main: 'when', unsaid: new Map(), unseen: [] };
const valueFormulaShape: Shape = {
  keys: ['name', 'fromDate'],
  main: 'formula',
  unsaid: new Map(),
  unseen: [],
};
const ruleShape: Shape = {
  keys: ['component'],
  main: 'formula',
  unsaid: new Map([
    ['scope', 'Segment'],
    ['prorate', 'None'],
    ['window', 'Current'],
  ]),
  unseen: ['description'],
};
const usageShape: Shape = {
  keys: ['input'],
  main: 'source',
  unsaid: new Map([
    ['required', '0'],
    ['estimate', 'Allowed'],
    ['exclude', '0'],
  ]),
  unseen: [],
};

function itemsOf(list: readonly object[] | undefined, shape: Shape, prefix = ''): Items {
  const { keys, main, unsaid, unseen } = shape;
  const items = new Map<string, Item>();
  for (const item of list ?? []) {
    const given = Object.entries(item).filter(([, value]) => value !== null && value !== undefined);
    const fields = given.filter(
      ([field, value]) =>
        !keys.includes(field) && !unseen.includes(field) && unsaid.get(field) !== plain(value),
    );
    const name = keys.flatMap((key) => given.find(([field]) => field === key)?.[1] ?? []).join(' ');
    items.set(freeName(items, `${prefix}${name}`), {
      main,
      fields: new Map(fields.map(([field, value]) => [field, plain(value)])),
      unsaid,
    });
  }
  return items;
}

/** The second rule of a component is the second, whatever its position among other rules. */
function freeName(taken: ReadonlyMap<string, unknown>, name: string): string {
  let count = 1;
  while (taken.has(count === 1 ? name : `${name} ${count}`)) count += 1;
  return count === 1 ? name : `${name} ${count}`;
}
