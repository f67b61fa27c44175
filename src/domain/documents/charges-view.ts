// The readings, usage and lines of a bill, section by section, as words and figures. Lines are made
// in lines-view.ts.
import type { BillReading } from '../rating/bill.ts';
import type { BillDocument, DocumentUsage } from './bill-document.ts';
import type { Labels } from './labels.ts';
import { type ChargeGroup, groupsOf } from './lines-view.ts';
import { lineText } from './plain-text.ts';
import { measureText, unitText } from './units.ts';
import { joined, type Wording, worded } from './wording.ts';

export type ReadingRow = {
  readonly meter: string;
  readonly register: string;
  readonly previous: string;
  readonly previousDate: string;
  readonly current: string;
  readonly currentDate: string;
  readonly factor: string;
  readonly consumption: string;
  readonly type: string;
  /** Where the register began again from zero: with its type. */
  readonly rollover: string;
};

export type UsageRow = {
  readonly label: string;
  readonly quantity: string;
  /** Units from bills before and for the next. */
  readonly carried: string;
  /** All of it on one line. */
  readonly text: string;
};

export type SectionView = {
  /** Null on a bill of one subscription. */
  readonly heading: string | null;
  readonly readings: readonly ReadingRow[];
  readonly usage: readonly UsageRow[];
  readonly groups: readonly ChargeGroup[];
  readonly subtotal: string | null;
};

export function chargesOf(bill: BillDocument, wording: Wording): SectionView[] {
  const { labels, formats } = wording;
  const readings = (wanted: readonly BillReading[]) =>
    wanted.map((reading) => readingRow(reading, wording));
  if (bill.sections.length === 0) {
    return [
      {
        heading: null,
        readings: readings(bill.meterReadings),
        usage: usageRows(bill.usage, bill.meterReadings, wording),
        groups: groupsOf(bill.lines, bill, wording),
        subtotal: null,
      },
    ];
  }
  const bySubscription = Map.groupBy(bill.lines, (line) => line.connectionNumber ?? '');
  const sections = bill.sections.map((section): SectionView => {
    const own = bySubscription.get(section.connectionNumber) ?? [];
    const name = joined(wording, ' ', [labels.connection, lineText(section.connectionNumber)]);
    const plan = lineText(section.tariffLabel ?? section.tariffCode);
    return {
      heading: joined(wording, ' · ', [name, plan]),
      readings: readings(section.meterReadings),
      usage: usageRows(section.usage, section.meterReadings, wording),
      groups: groupsOf(own, bill, wording),
      subtotal: formats.amount(section.subtotal),
    };
  });
  const named = new Set(bill.sections.map((section) => section.connectionNumber));
  const others = bill.lines.filter((line) => !named.has(line.connectionNumber ?? ''));
  if (others.length === 0) return sections;
  const heading = lineText(bill.serviceLabel);
  const groups = groupsOf(others, bill, wording);
  return [...sections, { heading, readings: [], usage: [], groups, subtotal: null }];
}

function readingRow(reading: BillReading, { labels, formats }: Wording): ReadingRow {
  const date = (value: string | null) => (value === null ? '' : formats.date(value));
  const number = (value: string | null) => (value === null ? '' : formats.quantity(value));
  return {
    meter: lineText(reading.meterNumber),
    register: unitText(reading.register),
    previous: number(reading.previousReading),
    previousDate: date(reading.previousDate),
    current: number(reading.currentReading),
    currentDate: date(reading.currentDate),
    factor: formats.quantity(String(reading.mf)),
    consumption: formats.quantity(reading.consumption),
    type: typeText(reading.estimated ? 'Estimated' : reading.readingType, labels),
    rollover: reading.rollover ? labels.rollover : '',
  };
}

const readingTypes = new Map(
  (
    [
      'Actual',
      'Customer',
      'Estimated',
      'Installation',
      'Removal',
      'Final',
      'Check',
      'Automatic',
    ] as const
  ).map((type): [string, keyof Labels] => [type, type]),
);

function typeText(type: string | null, labels: Labels): string {
  const known = readingTypes.get(type ?? '');
  return known === undefined ? lineText(type) : labels[known];
}

/** What no single meter shows: use without a meter, and sums over several registers. */
function usageRows(
  usage: readonly DocumentUsage[],
  readings: readonly BillReading[],
  wording: Wording,
): UsageRow[] {
  const isShown = readings.length === 1 && usage.length === 1;
  const [first] = usage;
  const isPlain = first?.carried === undefined && first?.carriedIn === undefined;
  if (isShown && isPlain && first?.quantity === readings[0]?.consumption) return [];
  return usage.map((item) => {
    const label = lineText(item.label) || lineText(item.input);
    const quantity = measureText(item.quantity, item.unit, wording);
    const carried = joined(wording, ', ', carriedTexts(item, wording));
    const measure = joined(wording, ' ', [quantity, carried && `(${carried})`]);
    return { label, quantity, carried, text: joined(wording, ': ', [label, measure]) };
  });
}

/** Use is what was measured, less what was carried in and with what is carried on. */
function carriedTexts({ carried, carriedIn, unit }: DocumentUsage, wording: Wording): string[] {
  const told = (units: string | undefined, plus: keyof Labels, minus: keyof Labels) => {
    if (units === undefined || Number(units) === 0) return '';
    const size = measureText(units.replace(/^-/, ''), unit, wording);
    return worded(wording, units.startsWith('-') ? minus : plus, { units: size });
  };
  // What only passes through was not taken off this bill.
  const taken = carriedIn === carried ? undefined : carriedIn;
  return [told(taken, 'carriedIn', 'leftBefore'), told(carried, 'carriedOn', 'leftOver')];
}
