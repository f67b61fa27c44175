import { namesNoTime, parseDate } from '../base/calendar.ts';
import { UsageError } from './usage.ts';

/** A date on the command line; null where the option was not given. */
export function dateOption(text: string | undefined, name: string): Temporal.PlainDate | null {
  if (text === undefined) return null;
  const parsed = parseDate(text);
  if (namesNoTime(text)) throw new UsageError(`${name} is ${text}, a day that does not exist`);
  if (!parsed) throw new UsageError(`${name} must be a date such as 31/01/2026, not '${text}'`);
  return parsed;
}
