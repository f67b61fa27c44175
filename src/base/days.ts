// Calendar days as whole numbers (days since 01/01/1970), for code that compares and counts days by
// the thousand. The wire form is DD/MM/YYYY; calendar.ts keeps everything that needs a time zone.

const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/** Before and after every date that can be written. */
export const firstDay = -720_000;
export const lastDay = 2_933_000;

let lastText = '';
let lastNumber: number | undefined;

/** DD/MM/YYYY -> day number; undefined when the text has another form or names no real day. */
export function parseDay(text: string): number | undefined {
  // Of many dates in a row most are the same: a subscription and all it has begin together.
  if (text !== lastText) {
    lastNumber = readDay(text);
    lastText = text;
  }
  return lastNumber;
}

function readDay(text: string): number | undefined {
  if (text.length !== 10 || text.charCodeAt(2) !== 47 || text.charCodeAt(5) !== 47)
    return undefined;
  const day = twoDigits(text, 0);
  const month = twoDigits(text, 3);
  const century = twoDigits(text, 6);
  const ofCentury = twoDigits(text, 8);
  if (day < 1 || month < 1 || month > 12 || century < 0 || ofCentury < 0) return undefined;
  const year = century * 100 + ofCentury;
  if (year < 1) return undefined;
  return day <= daysInMonth(year, month) ? dayNumber(year, month, day) : undefined;
}

export function dayOf(date: Temporal.PlainDate): number {
  return dayNumber(date.year, date.month, date.day);
}

const firstDate = Temporal.PlainDate.from('1970-01-01');

export function dateOfDay(number: number): Temporal.PlainDate {
  return firstDate.add({ days: number });
}

export function formatDay(number: number): string {
  const date = civil(number);
  const year = Math.floor(date / 10_000);
  return `${pad(date % 100)}/${pad(Math.floor(date / 100) % 100)}/${padYear(year)}`;
}

/** YYYY-MM-DD. */
export function formatIsoDay(number: number): string {
  const date = civil(number);
  const year = Math.floor(date / 10_000);
  return `${padYear(year)}-${pad(Math.floor(date / 100) % 100)}-${pad(date % 100)}`;
}

/** Day number -> year, month and day as one number, 20261231. */
function civil(number: number): number {
  // Shifted so that the year starts on 1 March and the leap day is its last day.
  const z = number + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return year * 10_000 + month * 100 + day;
}

/** Negative if one of the two characters is not a digit. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens < 0 || tens > 9 || ones < 0 || ones > 9 ? -1 : tens * 10 + ones;
}

function daysInMonth(year: number, month: number): number {
  if (month !== 2) return lengths[month - 1] as number;
  const isLeap = (year & 3) === 0 && (year % 100 !== 0 || year % 400 === 0);
  return isLeap ? 29 : 28;
}

/** Days of the years before, of the months before, and of the month, counted from 01/01/0001. */
function dayNumber(year: number, month: number, day: number): number {
  const past = year - 1;
  const leapDays = (past >> 2) - ((past / 100) | 0) + ((past / 400) | 0);
  const leapDay = month > 2 && daysInMonth(year, 2) === 29 ? 1 : 0;
  return past * 365 + leapDays + (daysBefore[month - 1] as number) + leapDay + day - 719_163;
}

function padYear(year: number): string {
  return year > 999 ? String(year) : String(year).padStart(4, '0');
}

function pad(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

/** YYYY-MM-DD, as it is stored -> DD/MM/YYYY. */
export function wireDay(isoDate: string): string {
  return `${isoDate.slice(8, 10)}/${isoDate.slice(5, 7)}/${isoDate.slice(0, 4)}`;
}

/** YYYY-MM-DD, as it is stored -> the number of the day. */
export function storedDay(isoDate: string): number {
  return parseDay(wireDay(isoDate)) ?? 0;
}

/** DD/MM/YYYY -> YYYY-MM-DD. */
export function isoDay(wireDate: string): string {
  return `${wireDate.slice(6)}-${wireDate.slice(3, 5)}-${wireDate.slice(0, 2)}`;
}
