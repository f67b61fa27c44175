// Days as the browser's date field and the API write them.

/** 2026-07-31 of the browser's field as the API writes it: 31/07/2026. */
export function toWire(day: string): string {
  return day.split('-').reverse().join('/');
}

/** 31/07/2026 of the API as the browser's field takes it: 2026-07-31. */
export function toField(day: string): string {
  return day.split('/').reverse().join('-');
}

/** Today by the calendar of the person. */
export function today(): string {
  const now = new Date();
  const two = (part: number) => String(part).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
