// Why two versions of a bill differ: compares their frozen inputs and their prices.
import {
  type FrozenInputs,
  type FrozenMeter,
  type FrozenReading,
  frozenOf,
} from '../../rating/frozen-inputs.ts';
import type { StoredDocument } from '../bill-forms.ts';
import { type Cause, type CauseKind, differing, type Entries, plain } from './differences.ts';
import { type ComparedBill, priceCauses } from './price-differences.ts';

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

function there(frozen: FrozenInputs | undefined): string | null {
  return frozen ? 'billed' : null;
}

function bySubscription({ frozen }: ComparedBill): Map<string, FrozenInputs> {
  return new Map(frozenOf(frozen).map((one) => [one.connection?.connectionNumber ?? '', one]));
}

function factCauses(before: FrozenInputs, after: FrozenInputs): Cause[] {
  const pairs: [CauseKind, (frozen: FrozenInputs) => Entries][] = [
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

function readings(frozen: FrozenInputs): Entries {
  const entries = new Map<string, string>();
  const add = (meter: FrozenMeter, which: string, value: string) => {
    if (value !== '') entries.set(`${meter.number} ${meter.register ?? ''}${which}`.trim(), value);
  };
  for (const meter of frozen.meters ?? []) {
    add(meter, '', readingText(meter.current));
    add(meter, ' previous', readingText(meter.previous));
    add(meter, ' between', (meter.readings ?? []).map(readingText).join(', '));
    add(meter, ' factor', (meter.mf ?? 1) === 1 ? '' : String(meter.mf));
  }
  return entries;
}

function readingText(reading: FrozenReading | null | undefined): string {
  if (!reading) return '';
  const { value, date, type, rollover, status } = reading;
  const marks = [
    type === 'Estimated' ? 'estimated' : '',
    rollover ? 'turned over' : '',
    status === 'Review' ? 'under review' : '',
  ].filter((mark) => mark !== '');
  return `${value} on ${date}${marks.length === 0 ? '' : ` (${marks.join(', ')})`}`;
}

function usage(frozen: FrozenInputs): Entries {
  const own = Object.entries(frozen.uploadedUsage ?? {});
  const named = new Set(own.map(([input]) => input));
  const before = Object.entries(frozen.previousTerm?.usage ?? {}).map(
    ([input, quantity]) => [named.has(input) ? `${input} previous` : input, quantity] as const,
  );
  return new Map([...before, ...own].map(([input, quantity]) => [input, plain(quantity)]));
}

function manual(frozen: FrozenInputs): Entries {
  return new Map((frozen.manual ?? []).map(([, component, value]) => [component, value]));
}

function plans(frozen: FrozenInputs): Entries {
  const steps = frozen.connection?.tariffHistory ?? [];
  return new Map(steps.map(({ tariffCode, fromDate }) => [fromDate, tariffCode]));
}

function variants(frozen: FrozenInputs): Entries {
  const own = frozen.connection?.variants ?? [];
  return new Map(
    own.map(({ name, value, fromDate, toDate }) => [
      [name, fromDate, toDate].filter(Boolean).join(' '),
      plain(value),
    ]),
  );
}

function dates(frozen: FrozenInputs): Entries {
  const { term, connection } = frozen;
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

function inputs(frozen: FrozenInputs): Entries {
  return new Map(
    (frozen.connection?.connectionInputs ?? []).map(({ name, value }) => [name, value]),
  );
}

function quantities(frozen: FrozenInputs): Entries {
  const steps = frozen.connection?.unmeteredInputs ?? [];
  return new Map(
    steps.map(({ name, value, fromDate }) => [`${name} ${fromDate ?? ''}`.trim(), String(value)]),
  );
}

function addOns(frozen: FrozenInputs): Entries {
  const taken = frozen.connection?.addOns ?? [];
  return new Map(
    taken.map(({ tariffCode, quantity, fromDate, toDate }) => [
      `${tariffCode} ${fromDate ?? ''}`.trim(),
      `${quantity ?? 1}${toDate ? ` until ${toDate}` : ''}`,
    ]),
  );
}

function history(frozen: FrozenInputs): Entries {
  const terms = Object.entries(frozen.usageHistory ?? {}).flatMap(([input, entries]) =>
    entries.map(({ label, quantity }) => [`${input} ${label ?? ''}`.trim(), quantity] as const),
  );
  const billed = Object.entries(frozen.previousTerm?.billed ?? {}).map(
    ([component, amount]) =>
      [`billed ${component}`, amount === null ? 'by hand' : String(amount)] as const,
  );
  const carried = Object.entries(frozen.carriedUnits ?? {}).map(
    ([input, units]) => [`carried ${input}`, units] as const,
  );
  return new Map([...terms, ...billed, ...carried]);
}

function account(frozen: FrozenInputs): Entries {
  const known = Object.entries(frozen.account ?? {});
  return new Map(known.map(([name, value]) => [name, String(value)]));
}

/** Only if nothing that prices changed; names and addresses are on the bill too. */
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
