// Days as the browser's date field and the API write them.

/** 2026-07-31 of the browser's field as the API writes it: 31/07/2026. */
export function toWire(day: string): string {
  return day.split('-').reverse().join('/');
}

/** 31/07/2026 of the API as the browser's field takes it: 2026-07-31. */
export function toField(day: string): string {
  return day.split('/').reverse().join('-');
}

/** Days of subscriptions come as 31072026; people read 31/07/2026. */
export function shownDay(day: string | null | undefined): string {
  if (!day) return '';
  return /^\d{8}$/.test(day) ? `${day.slice(0, 2)}/${day.slice(2, 4)}/${day.slice(4)}` : day;
}

/** 01/10/2026 of the API gives 02/10/2026. */
export function dayAfter(day: string): string {
  const next = new Date(`${toField(day)}T00:00:00Z`);
  next.setUTCDate(next.getUTCDate() + 1);
  return toWire(next.toISOString().slice(0, 10));
}

/** 31/01/2027 of the API, so many months later, and never beyond the end of the month: 28/02/2027. */
export function monthsAfter(day: string, months: number): string {
  const [date = 1, month = 1, year = 1970] = day.split('/').map(Number);
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  const made = new Date(Date.UTC(year, month - 1 + months, Math.min(date, last)));
  return Number.isNaN(made.getTime()) ? day : toWire(made.toISOString().slice(0, 10));
}

/** The first and the last day of the month before that of 2026-11-19: 2026-10-01, 2026-10-31. */
export function monthBefore(day: string): { start: string; end: string } {
  const [year = 1970, month = 1] = day.split('-').map(Number);
  const iso = (at: number) => new Date(at).toISOString().slice(0, 10);
  return { start: iso(Date.UTC(year, month - 2, 1)), end: iso(Date.UTC(year, month - 1, 0)) };
}

/** 2026-11-19 01:08:10 of the workspace's clock, as its days are written: 19/11/2026 01:08. */
export function shownTime(at: string | null | undefined): string {
  if (!at) return '';
  const [, day = '', time = ''] = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)/.exec(at) ?? [];
  return day === '' ? at : `${toWire(day)} ${time}`;
}
