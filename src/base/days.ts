// Calendar days as whole numbers (days since 01/01/1970), for code that compares and counts days by
// the thousand. The wire form is DD/MM/YYYY; calendar.ts keeps everything that needs a time zone.

const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Before and after every date that can be written. */
export const firstDay = -720_000;
export const lastDay = 2_933_000;

/** DD/MM/YYYY -> day number; undefined when the text has another form or names no real day. */
export function parseDay(text: string): number | undefined {
  if (text.length !== 10 || text.charCodeAt(2) !== 47 || text.charCodeAt(5) !== 47)
    return undefined;
  const day = digit(text, 0) * 10 + digit(text, 1);
  const month = digit(text, 3) * 10 + digit(text, 4);
  const year = digit(text, 6) * 1000 + digit(text, 7) * 100 + digit(text, 8) * 10 + digit(text, 9);
  // A character that is no digit makes its sum NaN, and every comparison with NaN is false.
  if (!(year >= 1 && month >= 1 && month <= 12 && day >= 1)) return undefined;
  return day <= daysInMonth(year, month) ? dayNumber(year, month, day) : undefined;
}

export function formatDay(number: number): string {
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
  return `${pad(day)}/${pad(month)}/${String(year).padStart(4, '0')}`;
}

function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - 48;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}

function daysInMonth(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && isLeap ? 29 : (lengths[month - 1] as number);
}

function dayNumber(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const shifted = month > 2 ? month - 3 : month + 9;
  const dayOfYear = Math.floor((153 * shifted + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function pad(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
