// A value over time: which item holds on which days, after inheritance and a customer's variants.

import { firstDay, lastDay } from '../../../base/days.ts';
import type { Scalar } from '../../../base/formula/function-kinds.ts';
import { add, divide, Exact, fraction, multiply, zero } from '../../../base/numbers/exact.ts';
import type { Frame, ValueItem } from '../compile/formula-frame.ts';

/** An item and the days on which it holds, both inclusive. */
export type Piece = { readonly from: number; readonly to: number; readonly item: ValueItem };

/**
 * One history out of several layers, the first of which has precedence. Pieces are disjoint and
 * rising; days on which no layer has an item are in no piece.
 */
export function overlay(layers: readonly (readonly Piece[])[]): Piece[] {
  const starts = new Set<number>([firstDay]);
  for (const layer of layers) {
    for (const piece of layer) {
      starts.add(piece.from);
      if (piece.to < lastDay) starts.add(piece.to + 1);
    }
  }
  const days = [...starts].sort((a, b) => a - b);
  const pieces: Piece[] = [];
  for (const [index, from] of days.entries()) {
    const to = (days[index + 1] ?? lastDay + 1) - 1;
    const item = firstItem(layers, from);
    if (item === undefined) continue;
    const last = pieces[pieces.length - 1];
    if (last !== undefined && last.item === item && last.to === from - 1) {
      pieces[pieces.length - 1] = { from: last.from, to, item };
    } else pieces.push({ from, to, item });
  }
  return pieces;
}

function firstItem(layers: readonly (readonly Piece[])[], day: number): ValueItem | undefined {
  for (const layer of layers) {
    const item = itemOn(layer, day);
    if (item !== undefined) return item;
  }
  return undefined;
}

export function itemOn(pieces: readonly Piece[], day: number): ValueItem | undefined {
  for (const piece of pieces) {
    if (piece.from <= day && day <= piece.to) return piece.item;
  }
  return undefined;
}

/** Days after `from` and up to `to` on which another item begins to hold. */
export function changesInside(pieces: readonly Piece[], from: number, to: number): number[] {
  const changes: number[] = [];
  for (const piece of pieces) {
    if (piece.from > from && piece.from <= to) changes.push(piece.from);
    const next = piece.to + 1;
    if (next > from && next <= to && itemOn(pieces, next) === undefined) changes.push(next);
  }
  return changes;
}

type WeightedPart = { readonly item: ValueItem; readonly days: number };

export function partsInside(pieces: readonly Piece[], from: number, to: number): WeightedPart[] {
  const parts: WeightedPart[] = [];
  for (const piece of pieces) {
    const first = Math.max(piece.from, from);
    const last = Math.min(piece.to, to);
    if (first <= last) parts.push({ item: piece.item, days: last - first + 1 });
  }
  return parts;
}

/** The day-weighted mean of what held; a single item stays itself. */
export function weightedItem(parts: readonly WeightedPart[]): ValueItem | undefined {
  const first = parts[0];
  if (first === undefined) return undefined;
  if (parts.every((part) => part.item === first.item)) return first.item;
  const mean = (frame: Frame | null): Exact => {
    let total = zero;
    let days = 0;
    for (const part of parts) {
      const value = (part.item.constant ?? part.item.formula?.(frame as Frame)) as Exact;
      total = add(total, multiply(value, fraction(part.days, 1)));
      days += part.days;
    }
    return divide(total, fraction(days, 1));
  };
  const text = parts.map((part) => `${part.item.text} for ${part.days} days`).join(', ');
  const last = (parts[parts.length - 1] as WeightedPart).item;
  const source = { ...last.source, ref: text };
  const steps = parts.reduce((sum, part) => sum + part.item.steps, 0);
  const isConstant = parts.every((part) => part.item.constant instanceof Exact);
  return isConstant
    ? { constant: mean(null), formula: null, steps: 0, text, source }
    : { constant: null, formula: mean as (frame: Frame) => Scalar, steps, text, source };
}
