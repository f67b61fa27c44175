// Numbers that people see, in the form that the workspace has chosen, such as
// {serviceCode}-{number:8}.

const placeholder = /\{(\w+)(?::(\d{1,2}))?\}/g;
const counter = /\{number(?::(\d{1,2}))?\}/g;
const widthMax = 20;

/** What a format may name besides the number itself. */
const names = new Set(['number', 'serviceCode', 'batchCode', 'year', 'month']);

/** A format needs its number, or every document would get the same one. */
export function isNumberFormat(format: string): boolean {
  const found = [...format.matchAll(placeholder)];
  const isKnown = found.every(([, name = '', width]) => {
    if (width === undefined) return names.has(name);
    return name === 'number' && Number(width) >= 1 && Number(width) <= widthMax;
  });
  const rest = format.replaceAll(placeholder, '');
  return isKnown && !/[{}]/.test(rest) && found.some(([, name]) => name === 'number');
}

/**
 * Bills are numbered gaplessly in each service and year, so that both have to be in the number, and
 * the counter once.
 */
export function isBillNumberFormat(format: string): boolean {
  if (!isNumberFormat(format)) return false;
  const found = [...format.matchAll(placeholder)].map(([, name]) => name);
  const isNamed = (wanted: string) => found.includes(wanted);
  const counters = found.filter((name) => name === 'number').length;
  return isNamed('serviceCode') && isNamed('year') && counters === 1;
}

export type NumberParts = {
  number: number;
  serviceCode: string;
  batchCode: string;
  date: Temporal.PlainDate;
};

export function formatNumber(format: string, { number, ...parts }: NumberParts): string {
  return printNumber(fillFormat(format, parts), number);
}

/** The format of one series: the texts around its counter, and the digits of that at least. */
export type SeriesFormat = { texts: string[]; widths: number[] };

export function fillFormat(format: string, parts: Omit<NumberParts, 'number'>): SeriesFormat {
  const filled = (text: string) =>
    text.replaceAll(placeholder, (whole, name: string) => {
      switch (name) {
        case 'serviceCode':
          return parts.serviceCode;
        case 'batchCode':
          return parts.batchCode;
        case 'year':
          return String(parts.date.year);
        case 'month':
          return String(parts.date.month).padStart(2, '0');
        default:
          return whole;
      }
    });
  return {
    texts: format.split(/\{number(?::\d{1,2})?\}/).map(filled),
    widths: [...format.matchAll(counter)].map(([, width]) => Number(width ?? 0)),
  };
}

export function printNumber({ texts, widths }: SeriesFormat, number: number): string {
  const digits = String(number);
  return texts.reduce(
    (printed, text, index) => printed + digits.padStart(widths[index - 1] ?? 0, '0') + text,
  );
}

/** What the format prints without its counter. */
export function seriesKey({ texts }: SeriesFormat): string {
  return texts.join('');
}

/** Consecutive numbers in one format. */
export type PrintedRange = { format: SeriesFormat; first: number; count: number };

/**
 * The first number that two ranges print alike, if there is one. Formats whose beginnings or ends
 * differ have none in common: this is so for nearly all of them, and no number is looked at.
 */
export function findCommonNumber(one: PrintedRange, other: PrintedRange): string | undefined {
  const [before, after] = textAround(one.format);
  const [otherBefore, otherAfter] = textAround(other.format);
  const isAlike =
    (before.startsWith(otherBefore) || otherBefore.startsWith(before)) &&
    (after.endsWith(otherAfter) || otherAfter.endsWith(after));
  if (!isAlike) return undefined;
  for (let number = one.first; number < one.first + one.count; number += 1) {
    const printed = printNumber(one.format, number);
    const digits = printed.slice(otherBefore.length, printed.length - otherAfter.length);
    const same = Number.parseInt(digits, 10);
    const isInRange = same >= other.first && same < other.first + other.count;
    if (isInRange && printNumber(other.format, same) === printed) return printed;
  }
  return undefined;
}

function textAround({ texts }: SeriesFormat): [before: string, after: string] {
  return [texts[0] ?? '', texts.at(-1) ?? ''];
}
