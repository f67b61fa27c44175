// The readings, usage and lines of a bill, section by section, as words and figures.
import type { PresentedLine } from '../bills/bill-forms.ts';
import type { BillReading, LineDetail } from '../rating/bill.ts';
import type { BillDocument, DocumentUsage } from './bill-document.ts';
import type { Labels } from './labels.ts';
import { areStepsOfQuantity, type DaysPart, daysPart } from './line-sum.ts';
import { lineText } from './plain-text.ts';
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

export type ChargeRow = {
  readonly label: string;
  /** Days, remarks: under the label. */
  readonly remark: string;
  readonly quantity: string;
  readonly rate: string;
  readonly amount: string;
  /** How the amount comes about, slab by slab. */
  readonly steps: readonly string[];
};

export type ChargeGroup = { readonly heading: string; readonly rows: readonly ChargeRow[] };

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
    register: lineText(reading.register),
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

function groupsOf(
  lines: readonly PresentedLine[],
  bill: BillDocument,
  wording: Wording,
): ChargeGroup[] {
  const { labels } = wording;
  const isTax = (line: PresentedLine) => line.type === 'Tax';
  const rows = (wanted: readonly PresentedLine[]) =>
    wanted.map((line) => chargeRow(line, bill, wording));
  return [
    { heading: labels.charges, rows: rows(lines.filter((line) => !isTax(line))) },
    { heading: labels.taxes, rows: rows(lines.filter(isTax)) },
  ].filter((group) => group.rows.length > 0);
}

function chargeRow(line: PresentedLine, bill: BillDocument, wording: Wording): ChargeRow {
  const { labels, formats } = wording;
  const part = daysPart(line, bill);
  const remarks = [
    daysText(line, bill, part, wording),
    line.lineType === 'Adjustment' ? labels.adjustment : '',
    lineText(line.description),
  ];
  return {
    label: lineText(line.label) || lineText(line.component),
    remark: joined(wording, ' · ', remarks),
    quantity: line.quantity === null ? '' : measureText(line.quantity, line.unit, wording),
    // Beside the quantity, a rate alone would promise another amount.
    rate: part === null ? rateText(line, wording) : '',
    amount: formats.amount(line.amount),
    steps: part === null ? stepTexts(line, wording) : partTexts(line, part, wording),
  };
}

/** Of a line over another span than the bill, or charged by the days. */
function daysText(
  line: PresentedLine,
  bill: BillDocument,
  part: DaysPart | null,
  wording: Wording,
): string {
  const isWhole =
    line.fromDate === (bill.billedFrom ?? bill.startDate) &&
    line.toDate === (bill.billedTo ?? bill.endDate);
  if (isWhole && part === null) return '';
  const { formats } = wording;
  const label = part !== null ? 'partDays' : line.days === 1 ? 'oneDay' : 'days';
  const days = worded(wording, label, {
    days: formats.count(line.days),
    all: part === null ? '' : formats.count(part.termDays),
  });
  const span = joined(wording, ' – ', [formats.date(line.fromDate), formats.date(line.toDate)]);
  return joined(wording, ' ', [span, `(${days})`]);
}

function measureText(quantity: string, unit: string | null, { formats }: Wording): string {
  return `${formats.quantity(quantity)} ${lineText(unit)}`.trim();
}

/** One step says no more than the line can, unless it has a flat part or counts something else. */
function isRateEnough(line: PresentedLine): boolean {
  const [first, ...others] = line.details;
  if (first === undefined) return true;
  const isOfLine = line.quantity === null || areStepsOfQuantity(line);
  return others.length === 0 && !hasFlat(first) && isOfLine;
}

function hasFlat({ flat }: LineDetail): boolean {
  return flat !== undefined && Number(flat) !== 0;
}

function rateText(line: PresentedLine, { formats }: Wording): string {
  const only = line.details.length === 1 ? line.details[0] : undefined;
  if (only !== undefined && hasFlat(only)) return '';
  const rate = line.rate ?? (isRateEnough(line) ? only?.rate : undefined);
  if (rate === undefined) return '';
  const isPercent = line.unit === '%' && line.quantity === null;
  return isPercent ? `${formats.quantity(rate)} %` : formats.quantity(rate);
}

function stepTexts(line: PresentedLine, wording: Wording): string[] {
  return isRateEnough(line) ? [] : wholeSteps(line, wording);
}

function wholeSteps(line: PresentedLine, wording: Wording): string[] {
  const { formats } = wording;
  const unit = areStepsOfQuantity(line) ? line.unit : null;
  return line.details.map((step) => {
    const flat = hasFlat(step) ? ` + ${formats.step(step.flat ?? '')}` : '';
    return `${ratedText(step, unit, wording)}${flat} = ${formats.step(step.amount)}`;
  });
}

function ratedText(
  step: { quantity: string | null; rate: string },
  unit: string | null,
  wording: Wording,
): string {
  const rate = wording.formats.quantity(step.rate);
  return step.quantity === null ? rate : `${measureText(step.quantity, unit, wording)} × ${rate}`;
}

/** What the whole term comes to, and what its days make of that. */
function partTexts(line: PresentedLine, part: DaysPart, wording: Wording): string[] {
  const { formats } = wording;
  const days = `${formats.count(part.days)}/${formats.count(part.termDays)}`;
  const ending = `× ${days} = ${formats.step(part.part)}`;
  if (!isRateEnough(line)) {
    return [...wholeSteps(line, wording), `${formats.step(part.whole)} ${ending}`];
  }
  const { quantity, rate } = line;
  const [only] = line.details;
  if (only !== undefined) {
    const unit = areStepsOfQuantity(line) ? line.unit : null;
    return [`${ratedText(only, unit, wording)} ${ending}`];
  }
  return [`${ratedText({ quantity, rate: rate ?? '' }, line.unit, wording)} ${ending}`];
}
