// The paper: its size, margins and colours, and the fonts that text is set in.
import type { Typefaces } from '../../../base/typeset/face.ts';
import type { Direction } from '../../../base/typeset/tokens.ts';
import type { PageSize } from '../letterhead.ts';

export type Sheet = {
  readonly typefaces: Typefaces;
  /** Everything is laid out from left to right and mirrored at the end. */
  readonly direction: Direction;
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  /** Where content ends; the page number is below. */
  readonly bottom: number;
  readonly colors: Colors;
  /** Of the room between rows: 1, or less where lines have room of their own. */
  readonly room: number;
  /** Of all type: 1, or less where that saves a page. */
  readonly scale: number;
};

export type Colors = {
  /** Of the letterhead, dark enough to be read on white. */
  readonly accent: string;
  readonly text: string;
  readonly muted: string;
  readonly rule: string;
  /** Backgrounds. */
  readonly tint: string;
  readonly bar: string;
  readonly warning: string;
};

/** Sizes of type in points. */
export const sizes = {
  title: 16,
  organisation: 12.5,
  payable: 15,
  name: 10.5,
  heading: 9.5,
  body: 8.5,
  table: 8,
  small: 7.5,
  chart: 5.5,
} as const;

/** With type smaller than this, rows are closer together too. */
const compactBelow = 0.9;
const margin = 42;
const topMargin = 34;
const bottomMargin = 24;
/** Of the line with the page's number. */
const footerHeight = 12;
const measures: Readonly<Record<PageSize, { width: number; height: number }>> = {
  A4: { width: 595.28, height: 841.89 },
  Letter: { width: 612, height: 792 },
};

type SheetOptions = {
  size: PageSize;
  direction: Direction;
  color: string;
  typefaces: Typefaces;
  scale: number;
};

/** Of one set of fonts. What is remembered of each takes usually less than 2 MB. */
const sheetsMax = 20;
const known = new WeakMap<Typefaces, Map<string, Sheet>>();

/** The same for all bills alike: what is drawn on it is remembered with it. */
export function sheetOf(options: SheetOptions): Sheet {
  const { typefaces, size, direction, color, scale } = options;
  let sheets = known.get(typefaces);
  if (sheets === undefined) {
    sheets = new Map();
    known.set(typefaces, sheets);
  }
  const key = `${size} ${direction} ${color} ${scale}`;
  let sheet = sheets.get(key);
  if (sheet === undefined) {
    sheet = newSheet(options);
    const [oldest] = sheets.keys();
    if (sheets.size >= sheetsMax && oldest !== undefined) sheets.delete(oldest);
    sheets.set(key, sheet);
  }
  return sheet;
}

function newSheet(options: SheetOptions): Sheet {
  const { width, height } = measures[options.size];
  return {
    typefaces: options.typefaces,
    direction: options.direction,
    width,
    height,
    left: margin,
    right: width - margin,
    top: topMargin,
    bottom: height - bottomMargin - footerHeight,
    colors: colorsOf(options.color),
    room: options.typefaces.isSloping ? 0.4 : options.scale < compactBelow ? 0.5 : 1,
    scale: options.scale,
  };
}

function colorsOf(color: string): Colors {
  const accent = darkEnough(color);
  return {
    accent,
    text: '#1b1f24',
    muted: '#57606a',
    rule: '#c4ccd4',
    tint: mixed(accent, 0.08),
    bar: mixed(accent, 0.4),
    warning: '#b42318',
  };
}

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}

function hex(parts: readonly number[]): string {
  return `#${parts.map((part) => Math.floor(part).toString(16).padStart(2, '0')).join('')}`;
}

/** A part of the colour on white. */
function mixed(color: string, part: number): string {
  return hex(channels(color).map((channel) => 255 - (255 - channel) * part));
}

/** Yellow on white cannot be read: lighter colours are darkened to the same lightness. */
export function darkEnough(color: string): string {
  const [red = 0, green = 0, blue = 0] = channels(color);
  const lightness = (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
  const lightnessMax = 0.45;
  if (lightness <= lightnessMax) return color.toLowerCase();
  return hex([red, green, blue].map((channel) => (channel * lightnessMax) / lightness));
}
