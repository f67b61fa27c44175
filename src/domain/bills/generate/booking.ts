// The bookings of a bill, stored with its contents when it is generated.
import type { StoredLine, StoredUsage } from '../bill-forms.ts';

/** As the history of a subscription keeps it: estimates are marked. */
export function bookedUsage(usage: readonly StoredUsage[]): string {
  const byInput: Record<string, { quantity: string; type: string; carried?: string }> = {};
  for (const { input, quantity, estimated, carried } of usage) {
    const type = estimated === undefined ? 'Actual' : 'Estimated';
    byInput[input] = carried == null ? { quantity, type } : { quantity, type, carried };
  }
  return JSON.stringify(byInput);
}

/** Lines of one component add up. */
export function bookedCharges(lines: readonly StoredLine[]): string {
  let text = '{';
  for (let index = 0; index < lines.length; index += 1) {
    const { component, type, amount } = lines[index] as StoredLine;
    if (isRepeated(lines, index)) return summedCharges(lines);
    text += `${index === 0 ? '' : ','}${quotedKey(type, component)}:${amount}`;
  }
  return `${text}}`;
}

function isRepeated(lines: readonly StoredLine[], at: number): boolean {
  const { component, type } = lines[at] as StoredLine;
  for (let index = 0; index < at; index += 1) {
    const line = lines[index] as StoredLine;
    if (line.component === component && line.type === type) return true;
  }
  return false;
}

function summedCharges(lines: readonly StoredLine[]): string {
  const sums = new Map<string, number>();
  for (const { component, type, amount } of lines) {
    const key = quotedKey(type, component);
    sums.set(key, (sums.get(key) ?? 0) + amount);
  }
  return `{${[...sums].map(([key, amount]) => `${key}:${amount}`)}}`;
}

/** What JSON writes otherwise than it is. */
const special = /[^ !#-[\]-~]/;

/** Types, and for each the components that were met: the same few of every bill. */
const quotedKeys = new Map<string, Map<string, string>>();
const keysMax = 1_000;

function quotedKey(type: string, component: string): string {
  const known = quotedKeys.get(type)?.get(component);
  if (known !== undefined) return known;
  const key = `${type} ${component}`;
  const quoted = special.test(key) ? JSON.stringify(key) : `"${key}"`;
  const ofType = quotedKeys.getOrInsertComputed(type, () => new Map());
  if (ofType.size >= keysMax) ofType.clear();
  ofType.set(component, quoted);
  return quoted;
}

/** The other way round: a type has no space in it. */
export function chargeOf(key: string): { type: string; component: string } {
  const at = key.indexOf(' ');
  return { type: key.slice(0, at), component: key.slice(at + 1) };
}
