// Why a bill came out differently: the frozen inputs and the prices of both versions, side by side.
import type { ContextDefinition, PlanDefinition } from '../rating/definitions.ts';
import type { Facts, MeterFacts, ReadingFacts } from '../rating/facts.ts';
import type { PriceBook } from '../rating/price-book.ts';
import type { StoredDocument } from './document.ts';
import { factsOf } from './re-rate.ts';

export type CauseKind =
  | 'Reading'
  | 'Usage'
  | 'Manual'
  | 'Plan'
  | 'Value'
  | 'Rule'
  | 'Component'
  | 'Dates'
  | 'Input'
  | 'Quantity'
  | 'AddOn'
  | 'History'
  | 'Account'
  | 'Subscription'
  | 'Party';

export type Cause = {
  kind: CauseKind;
  name: string;
  before: string | null;
  after: string | null;
};

export type ComparedBill = {
  facts: Facts | { subscriptions: Facts[] };
  document: StoredDocument;
  book: PriceBook;
};

/** A changed price list of a thousand rows is one cause, told in short. */
const textMax = 200;

export function causesOf(before: ComparedBill, after: ComparedBill): Cause[] {
  const old = bySubscription(before);
  const now = bySubscription(after);
  const causes: Cause[] = [];
  for (const number of new Set([...old.keys(), ...now.keys()])) {
    const a = old.get(number);
    const b = now.get(number);
    if (a && b) causes.push(...factCauses(a, b));
    else causes.push({ kind: 'Subscription', name: number, before: there(a), after: there(b) });
  }
  causes.push(...priceCauses(before, after), ...partyCauses(before.document, after.document));
  return causes;
}

function there(facts: Facts | undefined): string | null {
  return facts ? 'billed' : null;
}

function bySubscription({ facts }: ComparedBill): Map<string, Facts> {
  return new Map(factsOf(facts).map((one) => [one.connection?.connectionNumber ?? '', one]));
}

type Entries = ReadonlyMap<string, string>;

function differing(kind: CauseKind, before: Entries, after: Entries): Cause[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((name) => {
    const a = before.get(name) ?? null;
    const b = after.get(name) ?? null;
    return a === b ? [] : [{ kind, name, before: short(a), after: short(b) }];
  });
}

function short(text: string | null): string | null {
  return text === null || text.length <= textMax ? text : `${text.slice(0, textMax)}…`;
}

function factCauses(before: Facts, after: Facts): Cause[] {
  const pairs: [CauseKind, (facts: Facts) => Entries][] = [
    ['Reading', readings],
    ['Usage', usage],
    ['Manual', manual],
    ['Plan', plans],
    ['Value', variants],
    ['Dates', dates],
    ['Input', inputs],
    ['Quantity', quantities],
    ['AddOn', addOns],
    ['History', history],
    ['Account', account],
  ];
  return pairs.flatMap(([kind, entries]) => differing(kind, entries(before), entries(after)));
}

function readings(facts: Facts): Entries {
  const entries = new Map<string, string>();
  const text = (reading: ReadingFacts | null | undefined) =>
    reading ? `${reading.value} on ${reading.date}` : '';
  const add = (meter: MeterFacts, which: string, value: string) => {
    if (value !== '') entries.set(`${meter.number} ${meter.register ?? ''}${which}`.trim(), value);
  };
  for (const meter of facts.meters ?? []) {
    add(meter, '', text(meter.current));
    add(meter, ' previous', text(meter.previous));
    add(meter, ' between', (meter.readings ?? []).map(text).join(', '));
    add(meter, ' factor', (meter.mf ?? 1) === 1 ? '' : String(meter.mf));
  }
  return entries;
}

function usage(facts: Facts): Entries {
  const used = { ...facts.previousTerm?.usage, ...facts.uploadedUsage };
  return new Map(Object.entries(used).map(([input, quantity]) => [input, plain(quantity)]));
}

function manual(facts: Facts): Entries {
  return new Map((facts.manual ?? []).map(([, component, value]) => [component, value]));
}

function plans(facts: Facts): Entries {
  const steps = facts.connection?.tariffHistory ?? [];
  return new Map(steps.map(({ tariffCode, fromDate }) => [fromDate, tariffCode]));
}

function variants(facts: Facts): Entries {
  const own = facts.connection?.variants ?? [];
  return new Map(
    own.map(({ name, value, fromDate, toDate }) => [
      [name, fromDate, toDate].filter(Boolean).join(' '),
      plain(value),
    ]),
  );
}

function dates(facts: Facts): Entries {
  const { term, connection } = facts;
  const known: [string, string | null | undefined][] = [
    ['startDate', term.startDate],
    ['endDate', term.endDate],
    ['dueDate', term.dueDate],
    ['label', term.label],
    ['connectionDate', connection?.connectionDate],
    ['billedThrough', connection?.billedThrough],
    ...(connection?.statusHistory ?? []).map(({ status, fromDate }): [string, string] => [
      `status ${fromDate}`,
      status,
    ]),
    ...(connection?.transfers ?? []).map(({ transferDate }): [string, string] => [
      `transfer ${transferDate}`,
      transferDate,
    ]),
  ];
  return new Map(known.flatMap(([name, text]) => (text ? [[name, text] as const] : [])));
}

function inputs(facts: Facts): Entries {
  return new Map(
    (facts.connection?.connectionInputs ?? []).map(({ name, value }) => [name, value]),
  );
}

function quantities(facts: Facts): Entries {
  const steps = facts.connection?.unmeteredInputs ?? [];
  return new Map(
    steps.map(({ name, value, fromDate }) => [`${name} ${fromDate ?? ''}`.trim(), String(value)]),
  );
}

function addOns(facts: Facts): Entries {
  const taken = facts.connection?.addOns ?? [];
  return new Map(
    taken.map(({ tariffCode, quantity, fromDate, toDate }) => [
      `${tariffCode} ${fromDate ?? ''}`.trim(),
      `${quantity ?? 1}${toDate ? ` until ${toDate}` : ''}`,
    ]),
  );
}

function history(facts: Facts): Entries {
  const terms = Object.entries(facts.usageHistory ?? {}).flatMap(([input, entries]) =>
    entries.map(({ label, quantity }) => [`${input} ${label ?? ''}`.trim(), quantity] as const),
  );
  const billed = Object.entries(facts.previousTerm?.billed ?? {}).map(
    ([component, amount]) =>
      [`billed ${component}`, amount === null ? 'by hand' : String(amount)] as const,
  );
  const carried = Object.entries(facts.carriedUnits ?? {}).map(
    ([input, units]) => [`carried ${input}`, units] as const,
  );
  return new Map([...terms, ...billed, ...carried]);
}

function account(facts: Facts): Entries {
  const known = Object.entries(facts.account ?? {});
  return new Map(known.map(([name, value]) => [name, String(value)]));
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What was saved between the two runs, of the context and of the plans that priced the bill. */
function priceCauses(before: ComparedBill, after: ComparedBill): Cause[] {
  if (before.book === after.book) return [];
  const codes = new Set([...planCodes(before), ...planCodes(after)]);
  const chains = new Set([...codes].flatMap((code) => chainOf(after.book, code)));
  const causes = differing('Value', contextValues(before.book), contextValues(after.book));
  causes.push(
    ...differing('Component', contextComponents(before.book), contextComponents(after.book)),
  );
  for (const code of chains) {
    causes.push(
      ...differing('Value', planValues(before.book, code), planValues(after.book, code)),
      ...differing('Rule', planRules(before.book, code), planRules(after.book, code)),
    );
  }
  return causes;
}

function planCodes({ facts }: ComparedBill): string[] {
  return factsOf(facts).flatMap(({ connection }) => [
    ...(connection?.tariffHistory ?? []).map((one) => one.tariffCode),
    ...(connection?.addOns ?? []).map((one) => one.tariffCode ?? ''),
  ]);
}

const depthMax = 8;

function chainOf(book: PriceBook, code: string): string[] {
  const chain: string[] = [];
  let next: string | null | undefined = code;
  while (next && chain.length < depthMax && !chain.includes(next)) {
    chain.push(next);
    next = newestPlan(book, next)?.parentTariffCode;
  }
  return chain;
}

function newestPlan(book: PriceBook, code: string): PlanDefinition | undefined {
  return book.plans.get(code)?.at(-1)?.item.definition;
}

function newestContext(book: PriceBook): ContextDefinition | undefined {
  return book.contexts.at(-1)?.item.definition;
}

function contextValues(book: PriceBook): Entries {
  const values = newestContext(book)?.values ?? [];
  return new Map(values.map((value) => [value.name, plain(value.default ?? null)]));
}

function contextComponents(book: PriceBook): Entries {
  const { components = [], billRounding = null } = newestContext(book) ?? {};
  return new Map([
    ...components.map((component) => [component.name, JSON.stringify(component)] as const),
    ['billRounding', JSON.stringify(billRounding)] as const,
  ]);
}

function planValues(book: PriceBook, code: string): Entries {
  const values = newestPlan(book, code)?.valueFormulas ?? [];
  return new Map(
    values.map(({ name, fromDate, formula, rows }) => [
      `${code} ${name} ${fromDate ?? ''}`.trim(),
      plain(formula ?? rows ?? null),
    ]),
  );
}

function planRules(book: PriceBook, code: string): Entries {
  const rules = newestPlan(book, code)?.componentRules ?? [];
  return new Map(
    rules.map((rule, index) => [
      `${code} ${rule.component}${isRepeated(rules, index) ? ` ${index + 1}` : ''}`,
      rule.exclude === 1 ? 'excluded' : ruleText(rule),
    ]),
  );
}

function isRepeated(rules: readonly { component: string }[], index: number): boolean {
  const { component } = rules[index] as { component: string };
  return rules.some((rule, other) => other < index && rule.component === component);
}

function ruleText({
  formula,
  when,
  ...rest
}: NonNullable<PlanDefinition['componentRules']>[number]) {
  const { scope, prorate, window, fromDate, toDate } = rest;
  const options = [when && `when ${when}`, scope, prorate, window, fromDate, toDate];
  return [formula, ...options.filter(Boolean)].join('; ');
}

/** Only where nothing that prices changed; names and addresses stand on the bill too. */
function partyCauses(before: StoredDocument, after: StoredDocument): Cause[] {
  const entries = (document: StoredDocument): Entries =>
    new Map(
      Object.entries({
        partyName: document.partyName,
        address: document.address && JSON.stringify(document.address),
        connectionGroupLabel: document.connectionGroupLabel,
        connectionRefNo: document.connectionRefNo,
      }).flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const])),
    );
  return differing('Party', entries(before), entries(after));
}
