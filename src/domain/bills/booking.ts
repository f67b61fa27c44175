// What posting books of a bill, written beside its document when it is made.
import type { StoredLine, StoredUsage } from './document.ts';

/** As the history of a subscription keeps it; an estimate is told from what was read. */
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
  const sums: Record<string, number> = {};
  for (const { component, type, amount } of lines) {
    const key = `${type} ${component}`;
    sums[key] = (sums[key] ?? 0) + amount;
  }
  return JSON.stringify(sums);
}

/** The other way round: a type has no space in it. */
export function chargeOf(key: string): { type: string; component: string } {
  const at = key.indexOf(' ');
  return { type: key.slice(0, at), component: key.slice(at + 1) };
}
