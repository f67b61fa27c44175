// Units of estimates: units billed too high are credited, except those of a cancelled bill, which
// the customer does not pay.
import { decimalText, exactFrom } from '../../../base/numbers/decimal-text.ts';
import {
  add,
  compare,
  type Exact,
  maximum,
  minimum,
  signOf,
  subtract,
  zero,
} from '../../../base/numbers/exact.ts';
import type { EstimateBefore } from '../../rating/frozen-inputs.ts';
import type { HistoryEntry } from '../../terms/usage-history-store.ts';

type History = readonly HistoryEntry[];

/**
 * Units that were billed too much, as the newest term with the input left them: one in which
 * nothing was measured has neither used them nor carried them on. A bill that was cancelled has
 * used none of them, but may have found more. Below zero, more were credited than were paid for.
 */
export function carriedOf(history: History, input: string): string | undefined {
  let most: string | undefined;
  for (const { usage, isCancelled } of history) {
    const used = usage[input];
    if (used === undefined) continue;
    const { carried } = used;
    if (carried !== undefined && isMore(carried, most)) most = carried;
    if (!isCancelled) break;
  }
  return most;
}

function isMore(units: string, than: string | undefined): boolean {
  const [one, other] = [exactFrom(units), exactFrom(than)];
  return one !== undefined && (other === undefined || compare(one, other) > 0);
}

/** The estimates since the last reading, the newest first; undefined where all were billed. */
export function estimatesOf(history: History, input: string): EstimateBefore[] | undefined {
  const found: EstimateBefore[] = [];
  for (const [index, { usage }] of history.entries()) {
    const used = usage[input];
    if (used === undefined) continue;
    if (used.type !== 'Estimated') break;
    const { unbilled } = used;
    if (unbilled !== undefined) found.push({ units: unbilled, unbilled: true });
    else found.push({ units: decimalText(useOf(history, index, input)) });
  }
  return found.some((one) => one.unbilled) ? found : undefined;
}

/** What a term measured: what was carried into it was taken off, or carried on. */
function useOf(history: History, index: number, input: string): Exact {
  const used = history[index]?.usage[input];
  const before = carriedOf(history.slice(index + 1), input);
  return subtract(add(unitsOf(used?.quantity), unitsOf(before)), unitsOf(used?.carried));
}

function unitsOf(text: string | undefined): Exact {
  return exactFrom(text) ?? zero;
}

/**
 * A history whose bill of a term is cancelled and not made again. What was used in that term is no
 * measure for the next ones. What it had found billed too much before it is still to be credited;
 * what it had estimated itself is not, also where a later bill has found it already: what that or a
 * later one has credited is billed by the next. Bills that are made in advance still look back at
 * the term: what was used on its days is on none.
 */
export function withoutBill(
  history: History,
  { termId, isLookedAt }: { termId: number; isLookedAt: boolean },
): HistoryEntry[] {
  const at = history.findIndex((entry) => entry.termId === termId);
  const entry = history[at];
  if (entry === undefined) return [...history];
  let newer = history.slice(0, at);
  const usage: HistoryEntry['usage'] = {};
  for (const [input, used] of Object.entries(entry.usage)) {
    const units = used.type === 'Estimated' ? useOf(history, at, input) : zero;
    const isEstimate = signOf(units) > 0;
    if (isEstimate) newer = withoutCredit(history, newer, { input, units });
    const { carried, ...measured } = used;
    const hasFound = signOf(unitsOf(carried)) > 0;
    if (!hasFound && !isEstimate) continue;
    const kept = { ...(hasFound ? used : measured), quantity: '0' };
    usage[input] = isEstimate ? { ...kept, unbilled: decimalText(units) } : kept;
  }
  const { amount: _amount, rounding: _rounding, ...rest } = entry;
  const isKept = isLookedAt || Object.keys(usage).length > 0;
  const kept: HistoryEntry[] = isKept ? [{ ...rest, usage, isCancelled: true }] : [];
  return [...newer, ...kept, ...history.slice(at + 1)];
}

/** Newer terms, without the credit for units that the one before them had estimated. */
function withoutCredit(
  history: History,
  newer: readonly HistoryEntry[],
  { input, units }: { input: string; units: Exact },
): HistoryEntry[] {
  let later = zero;
  for (let index = newer.length - 1; index >= 0; index -= 1) {
    const used = history[index]?.usage[input];
    if (used === undefined || used.unbilled !== undefined) continue;
    if (used.type === 'Estimated') {
      later = add(later, useOf(history, index, input));
      continue;
    }
    const before = carriedOf(history.slice(index + 1), input);
    const found = subtract(subtract(unitsOf(used.carried), unitsOf(before)), later);
    const unpaid = minimum(units, maximum(zero, found));
    return newer.map((entry, place) => (place > index ? entry : lessened(entry, input, unpaid)));
  }
  return [...newer];
}

/** Units that a bill has credited and not carried on are owed, unless it was cancelled. */
function lessened(entry: HistoryEntry, input: string, units: Exact): HistoryEntry {
  const used = entry.usage[input];
  if (used === undefined) return entry;
  const { carried, ...rest } = used;
  const left = subtract(unitsOf(carried), units);
  const isKept = entry.isCancelled ? signOf(left) > 0 : signOf(left) !== 0;
  const kept = isKept ? { ...rest, carried: decimalText(left) } : rest;
  return { ...entry, usage: { ...entry.usage, [input]: kept } };
}
