// The slab readings. A quantity below zero (a correction) is priced in the first slab, so the
// graduated reading stays continuous and rising over all quantities.
import {
  ArithmeticError,
  add,
  compare,
  type Exact,
  multiply,
  one,
  signOf,
  subtract,
  zero,
} from '../numbers/exact.ts';
import { type Slabs, type SlabText, slabText } from './table.ts';

export type SlabReading = 'SLAB' | 'SLABVOLUME' | 'SLABPREVIOUS' | 'SLABRATE';

/** One evaluation of a slab function. */
export type SlabUse = {
  readonly reading: SlabReading;
  readonly slabs: Slabs;
  readonly slab: number;
  readonly quantity: Exact;
  readonly factor: Exact;
};

/** Index of the slab in which a quantity lies; an upper limit belongs to the lower slab. */
export function slabReached(slabs: Slabs, quantity: Exact, factor: Exact): number {
  const limits = slabs.limits;
  if (factor !== one && signOf(factor) < 0) {
    throw new ArithmeticError('AMOUNT_OUT_OF_RANGE', 'the limits of slabs cannot be negative');
  }
  let low = 0;
  let high = limits.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(quantity, scaled(limits[middle] as Exact, factor)) <= 0) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** True if the limits apply unchanged; the common case of a full term of one month. */
function isOne(factor: Exact): boolean {
  return factor.big === null && factor.n === factor.d;
}

function scaled(limit: Exact, factor: Exact): Exact {
  return isOne(factor) ? limit : multiply(limit, factor);
}

/** Scaled limit below a slab. */
function floorOf(slabs: Slabs, slab: number, factor: Exact): Exact {
  return slab === 0 ? zero : scaled(slabs.limits[slab - 1] as Exact, factor);
}

/** Slab reached, quantity and factor of the limits: what every reading starts from. */
type SlabFormula = (slabs: Slabs, slab: number, quantity: Exact, factor: Exact) => Exact;

function slabGraduated(slabs: Slabs, slab: number, quantity: Exact, factor: Exact): Exact {
  const rate = slabs.rates[slab] as Exact;
  const own = multiply(subtract(quantity, floorOf(slabs, slab, factor)), rate);
  const rated = slab === 0 ? own : add(scaled(slabs.below[slab] as Exact, factor), own);
  return slabs.flats === null ? rated : add(rated, slabs.flatsTo[slab] as Exact);
}

function slabVolume(slabs: Slabs, slab: number, quantity: Exact): Exact {
  const rated = multiply(quantity, slabs.rates[slab] as Exact);
  return slabs.flats === null ? rated : add(rated, slabs.flats[slab] as Exact);
}

function slabPrevious(slabs: Slabs, slab: number, quantity: Exact, factor: Exact): Exact {
  const flat = slabs.flats?.[slab] ?? zero;
  if (slab === 0) return add(multiply(quantity, slabs.rates[0] as Exact), flat);
  const floor = floorOf(slabs, slab, factor);
  const lower = multiply(floor, slabs.rates[slab - 1] as Exact);
  const upper = multiply(subtract(quantity, floor), slabs.rates[slab] as Exact);
  return add(add(lower, upper), flat);
}

function slabRate(slabs: Slabs, slab: number): Exact {
  return slabs.rates[slab] as Exact;
}

export const slabFormulas: Readonly<Record<SlabReading, SlabFormula>> = {
  SLAB: slabGraduated,
  SLABVOLUME: slabVolume,
  SLABPREVIOUS: slabPrevious,
  SLABRATE: slabRate,
};

/** How a slab function came to its amount, for the lines of a bill. */
export function slabBreakdown(use: SlabUse): SlabText[] {
  const { reading, slabs, slab, quantity, factor } = use;
  if (reading === 'SLABRATE') return [];
  const flat = slabs.flats === null ? null : (slabs.flats[slab] as Exact);
  if (reading === 'SLABVOLUME') return [slabText(slabs, slab, quantity, flat)];
  const floor = floorOf(slabs, slab, factor);
  const upper = slabText(slabs, slab, subtract(quantity, floor), flat);
  if (slab === 0) return [upper];
  if (reading === 'SLABPREVIOUS') return [slabText(slabs, slab - 1, floor, null), upper];
  const parts: SlabText[] = [];
  const isPlain = isOne(factor);
  for (let at = 0; at < slab; at++) {
    parts.push(isPlain ? (slabs.filled[at] as SlabText) : filledSlab(slabs, at, factor));
  }
  parts.push(upper);
  return parts;
}

function filledSlab(slabs: Slabs, slab: number, factor: Exact): SlabText {
  const limit = scaled(slabs.limits[slab] as Exact, factor);
  const width = subtract(limit, floorOf(slabs, slab, factor));
  return slabText(slabs, slab, width, slabs.flats?.[slab] ?? null);
}
