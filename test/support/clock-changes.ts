// Every change of clocks of a time zone; also those that only change its name.

export type Change = { timezone: string; at: Temporal.Instant; beforeMs: number; afterMs: number };

export const from = Temporal.Instant.from('2020-01-01T00:00:00Z');
const to = Temporal.Instant.from('2031-01-01T00:00:00Z');

export function changesOf(timezone: string): Change[] {
  const found: Change[] = [];
  let zoned = from.toZonedDateTimeISO(timezone).getTimeZoneTransition('next');
  while (zoned && Temporal.Instant.compare(zoned.toInstant(), to) < 0) {
    const at = zoned.toInstant();
    const last = at.subtract({ milliseconds: 1 }).toZonedDateTimeISO(timezone);
    const offset = (one: Temporal.ZonedDateTime) => one.offsetNanoseconds / 1e6;
    found.push({ timezone, at, beforeMs: offset(last), afterMs: offset(zoned) });
    zoned = zoned.getTimeZoneTransition('next');
  }
  return found;
}
