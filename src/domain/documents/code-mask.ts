// The mask of a QR code: of the eight, the one that leaves the least of what readers confuse, by
// the rules of ISO/IEC 18004. The library finds the same one in a hundred times the time: here the
// squares of a line are bits of a number, so that its columns are looked at together.

export type Squares = {
  readonly size: number;
  /** Row by row: 1 is dark. */
  readonly data: Uint8Array;
  /** 1 where a square is not masked. */
  readonly reservedBit: Uint8Array;
};

const masks: readonly ((row: number, column: number) => boolean)[] = [
  (row, column) => (row + column) % 2 === 0,
  (row) => row % 2 === 0,
  (_, column) => column % 3 === 0,
  (row, column) => (row + column) % 3 === 0,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
  (row, column) => ((row * column) % 2) + ((row * column) % 3) === 0,
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2 === 0,
  (row, column) => (((row * column) % 3) + ((row + column) % 2)) % 2 === 0,
];

/** A number for each line, with the squares of up to 31 columns and of the one after them. */
type Strip = Int32Array;

/** Rows as lines, and columns as lines. */
type Strips = { readonly rows: readonly Strip[]; readonly columns: readonly Strip[] };

/** What is turned over to have another mask than the first. */
type Change = { readonly squares: Uint8Array; readonly strips: Strips };

/** By the size of the code: there are forty sizes. */
const changesBySize = new Map<number, readonly Change[]>();

function changesOf({ size, reservedBit }: Squares): readonly Change[] {
  let found = changesBySize.get(size);
  if (found === undefined) {
    const all = masks.map((_, mask) => maskAlone(mask, size, reservedBit));
    found = all.map((squares) => {
      const turned = squares.map((square, at) => square ^ (all[0]?.[at] as number));
      return { squares: turned, strips: stripsOf(turned, size) };
    });
    changesBySize.set(size, found);
  }
  return found;
}

/** Of squares that are masked by the first mask, with error correction M. */
export function bestMasked(squares: Squares): Uint8Array {
  const { size, data } = squares;
  const changes = changesOf(squares);
  const strips = stripsOf(data, size);
  let best = changes[0] as Change;
  let least = Infinity;
  for (const change of changes) {
    const points = penaltyOf(strips, change.strips, size);
    if (points >= least) continue;
    least = points;
    best = change;
  }
  const masked = new Uint8Array(data.length);
  for (let at = 0; at < data.length; at++) {
    masked[at] = (data[at] as number) ^ (best.squares[at] as number);
  }
  return masked;
}

function maskAlone(mask: number, size: number, reservedBit: Uint8Array): Uint8Array {
  const squares = reservedBit.map((isReserved, at) =>
    isReserved === 0 && masks[mask]?.(Math.floor(at / size), at % size) ? 1 : 0,
  );
  writeFormat(squares, size, mask);
  return squares;
}

/** The number of the mask, with bits that correct it, twice. */
function writeFormat(data: Uint8Array, size: number, mask: number): void {
  let rest = mask << 10;
  for (let bit = 14; bit >= 10; bit--) if (rest & (1 << bit)) rest ^= 0x537 << (bit - 10);
  // Error correction M is 00.
  const bits = ((mask << 10) | rest) ^ 0x5412;
  for (let index = 0; index < 15; index++) {
    const bit = (bits >> index) & 1;
    const row = index < 6 ? index : index < 8 ? index + 1 : size - 15 + index;
    const column = index < 8 ? size - index - 1 : index < 9 ? 7 : 14 - index;
    data[row * size + 8] = bit;
    data[8 * size + column] = bit;
  }
}

const stripWidth = 31;

function stripsOf(data: Uint8Array, size: number): Strips {
  const strips: { rows: Strip[]; columns: Strip[] } = { rows: [], columns: [] };
  for (let from = 0; from < size; from += stripWidth) {
    const to = Math.min(from + stripWidth + 1, size);
    strips.rows.push(stripOf(data, size, { from, to, lineStep: size, squareStep: 1 }));
    strips.columns.push(stripOf(data, size, { from, to, lineStep: 1, squareStep: size }));
  }
  return strips;
}

type Part = { from: number; to: number; lineStep: number; squareStep: number };

function stripOf(data: Uint8Array, size: number, part: Part): Strip {
  const { from, to, lineStep, squareStep } = part;
  const strip = new Int32Array(size);
  for (let line = 0; line < size; line++) {
    let bits = 0;
    for (let at = from; at < to; at++) {
      bits |= (data[line * lineStep + at * squareStep] as number) << (at - from);
    }
    strip[line] = bits;
  }
  return strip;
}

function penaltyOf(data: Strips, change: Strips, size: number): number {
  let dark = 0;
  let points = 0;
  for (let index = 0; index < data.rows.length; index++) {
    const rows = changed(data.rows[index] as Strip, change.rows[index] as Strip);
    const columns = changed(data.columns[index] as Strip, change.columns[index] as Strip);
    const width = Math.min(stripWidth, size - index * stripWidth);
    const within = lowBits(width);
    // The last column of a code has no neighbour.
    const pairs = lowBits(Math.min(stripWidth, size - 1 - index * stripWidth));
    for (const line of rows) dark += ones(line & within);
    points += 3 * blocks(rows, pairs) + runs(rows, within) + runs(columns, within);
    points += 40 * (corners(rows, within) + corners(columns, within));
  }
  return points + Math.abs(Math.ceil((dark * 20) / (size * size)) - 10) * 10;
}

function changed(strip: Strip, change: Strip): Strip {
  const lines = new Int32Array(strip.length);
  for (let at = 0; at < lines.length; at++) {
    lines[at] = (strip[at] as number) ^ (change[at] as number);
  }
  return lines;
}

function lowBits(count: number): number {
  return (1 << count) - 1;
}

function ones(bits: number): number {
  let sum = bits - ((bits >>> 1) & 0x55555555);
  sum = (sum & 0x33333333) + ((sum >>> 2) & 0x33333333);
  return (((sum + (sum >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/** Two by two squares alike. */
function blocks(strip: Strip, pairs: number): number {
  let count = 0;
  for (let line = 0; line + 1 < strip.length; line++) {
    const own = strip[line] as number;
    const isLikeNext = ~(own ^ (strip[line + 1] as number));
    count += ones(isLikeNext & (isLikeNext >>> 1) & ~(own ^ (own >>> 1)) & pairs);
  }
  return count;
}

/** Points for five alike or more down a column: three, and one for each beyond the fifth. */
function runs(strip: Strip, within: number): number {
  let points = 0;
  let before = 0;
  for (let line = 0; line + 4 < strip.length; line++) {
    const own = strip[line] as number;
    let differs = 0;
    for (let next = 1; next < 5; next++) differs |= own ^ (strip[line + next] as number);
    const isRun = ~differs & within;
    // A run of seven has three runs of five, of which the first counts three times.
    if (isRun !== 0) points += ones(isRun) + 2 * ones(isRun & ~before);
    before = isRun;
  }
  return points;
}

/** What looks like the corner of a code down a column, with four light squares at an end. */
function corners(strip: Strip, within: number): number {
  const at = (line: number) => strip[line] as number;
  let count = 0;
  for (let line = 0; line + 6 < strip.length; line++) {
    const dark = at(line) & at(line + 2) & at(line + 3) & at(line + 4) & at(line + 6);
    const isCorner = dark & ~at(line + 1) & ~at(line + 5) & within;
    if (isCorner === 0) continue;
    if (line >= 4) count += ones(isCorner & lightBetween(strip, line - 4));
    if (line + 10 < strip.length) count += ones(isCorner & lightBetween(strip, line + 7));
  }
  return count;
}

/** Of four lines, the columns that are light in all. */
function lightBetween(strip: Strip, line: number): number {
  let dark = 0;
  for (let next = line; next < line + 4; next++) dark |= strip[next] as number;
  return ~dark;
}
