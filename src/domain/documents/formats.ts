// Numbers and dates in the forms of a locale.
import { parseDate } from '../../base/calendar.ts';

export type Formats = {
  /** With the decimals of the currency. */
  amount(value: number): string;
  money(value: number): string;
  /** Decimal text with the decimals it has. */
  quantity(value: string): string;
  /** Exact amounts of steps: at least the currency's decimals, at most four. */
  step(value: string): string;
  count(value: number): string;
  /** For small charts: at most some six characters. */
  short(value: number): string;
  /** DD/MM/YYYY -> with the name of the month, so that day and month cannot be confused. */
  date(value: string): string;
  /** YYYYMM -> the month and the year, so short that the months are still told apart. */
  month(value: string): readonly [string, string];
  /** With at most two decimals. */
  average(value: number): string;
};

const formatsMax = 50;
const known = new Map<string, Formats>();

/** Making formatters of the platform costs more than a bill; they are kept. */
export function formatsOf(locale: string, currency: string, decimals: number): Formats {
  const key = `${locale}/${currency}/${decimals}`;
  let found = known.get(key);
  if (found === undefined) {
    found = makeFormats(usableLocale(locale), currency, decimals);
    if (known.size >= formatsMax) known.clear();
    known.set(key, found);
  }
  return found;
}

const usable = new Map<string, string>();

export function usableLocale(locale: string): string {
  let found = usable.get(locale);
  if (found === undefined) {
    found = canonical(locale);
    if (usable.size >= formatsMax) usable.clear();
    usable.set(locale, found);
  }
  return found;
}

function canonical(locale: string): string {
  try {
    return Intl.getCanonicalLocales(locale)[0] ?? 'en';
  } catch {
    return 'en';
  }
}

/** English of a bill in Urdu is that of Pakistan, if the bill is. */
export function inRegionOf(first: string, second: string): string {
  const { region } = new Intl.Locale(first);
  const own = new Intl.Locale(second);
  if (region === undefined || own.region !== undefined) return second;
  return new Intl.Locale(second, { region }).toString();
}

/** Scripts of the fonts. */
const printed =
  /^[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{sc=Arab}\p{sc=Deva}\p{sc=Zyyy}\p{sc=Zinh}]*$/u;

/** With figures that can be printed: of some locales they would all be the sign for a gap. */
function withPrintedFigures(locale: string): string {
  if (printed.test(new Intl.NumberFormat(locale).format(1_234_567_890))) return locale;
  return new Intl.Locale(locale, { numberingSystem: 'latn' }).toString();
}

/** For months and short forms such as 3M; where they cannot be printed, in English. */
function withPrintedWords(locale: string): string {
  const months = new Intl.DateTimeFormat(locale, {
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
  const compact = new Intl.NumberFormat(locale, { notation: 'compact' });
  const words = [1e5, 1e6, 1e7, 1e9].map((value) => compact.format(value));
  // Often enough to meet every month of any calendar.
  for (let day = 0; day < 366; day += 14) words.push(months.format(day * dayMs));
  return printed.test(words.join('')) ? locale : 'en';
}

function middleOf(year: number, month: number): number {
  return Date.UTC(year, month - 1, 15);
}

function isEnglish(locale: string): boolean {
  return new Intl.Locale(locale).language === 'en';
}

/**
 * Of January to December: short, unless two short names are the same. English ones have three
 * letters each: of some countries they would be Sept, or June and July beside Aug.
 */
function monthNamesOf(wanted: string): string[] {
  const locale = isEnglish(wanted) ? 'en-US' : wanted;
  for (const month of ['short', 'long', '2-digit'] as const) {
    const format = new Intl.DateTimeFormat(locale, { month, timeZone: 'UTC' });
    const names = Array.from({ length: 12 }, (_, at) => format.format(middleOf(2025, at + 1)));
    if (new Set(names).size === 12) return names;
  }
  return Array.from({ length: 12 }, (_, at) => String(at + 1));
}

const dayMs = 86_400_000;

/** Of each form: most rates, dates and readings of a bill are on others too. */
const writtenMax = 5_000;

/** Writes each value once: the formatters of the platform take a microsecond for each. */
function remembered<Value extends string | number, Text>(
  write: (value: Value) => Text,
): (value: Value) => Text {
  const texts = new Map<Value, Text>();
  return (value) => {
    let text = texts.get(value);
    if (text === undefined) {
      text = write(value);
      if (texts.size >= writtenMax) texts.clear();
      texts.set(value, text);
    }
    return text;
  };
}

function makeFormats(wanted: string, currency: string, decimals: number): Formats {
  const locale = withPrintedFigures(wanted);
  const words = withPrintedWords(locale);
  const fixed = {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
    // Nothing is 0.00, never -0.00.
    signDisplay: 'negative',
  } as const;
  const amounts = new Intl.NumberFormat(locale, fixed);
  const steps = new Intl.NumberFormat(locale, {
    minimumFractionDigits: decimals,
    maximumFractionDigits: Math.max(decimals, 4),
  });
  const compact = new Intl.NumberFormat(words, { notation: 'compact', maximumFractionDigits: 1 });
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
  const small = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const shortForm = (size: number) => (size < 100 ? small : size < 100_000 ? whole : compact);
  const quantities = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 });
  const days = new Intl.DateTimeFormat(words, {
    day: '2-digit',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
  const monthNames = monthNamesOf(words);
  const years = new Intl.DateTimeFormat(words, { year: 'numeric', timeZone: 'UTC' });
  const dayText = (date: Temporal.PlainDate) => {
    const ms = date.toZonedDateTime('UTC').epochMilliseconds;
    if (!isEnglish(words)) return days.format(ms);
    const month = monthNames[date.month - 1];
    const parts = days.formatToParts(ms);
    return parts.map(({ type, value }) => (type === 'month' ? month : value)).join('');
  };
  const decimal = (format: Intl.NumberFormat, value: string) =>
    /^-?\d+(\.\d+)?$/.test(value) ? format.format(value as Intl.StringNumericLiteral) : value;
  const amount = remembered((value: number) => amounts.format(value));
  return {
    amount,
    money: (value) => `${currency}\u00a0${amount(value)}`,
    quantity: remembered((value: string) => decimal(quantities, value)),
    step: remembered((value: string) => decimal(steps, value)),
    short: remembered((value: number) => shortForm(Math.abs(value)).format(value)),
    count: remembered((value: number) => quantities.format(value)),
    average: (value) => small.format(value),
    month: remembered((value: string) => [
      monthNames[Number(value.slice(4)) - 1] ?? '',
      years.format(middleOf(Number(value.slice(0, 4)), Number(value.slice(4)))),
    ]),
    date: remembered((value: string) => {
      const date = parseDate(value);
      return date === undefined ? value : dayText(date);
    }),
  };
}
