// Pictures small enough for a repository: PNG files with at most 256 colours.
import { crc32, deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';

const coloursMax = 256;

/** The same picture with a palette. Its most frequent colours stay exact. */
export function shrink(png: Buffer): Buffer {
  const { width, height, data } = PNG.sync.read(png);
  const counts = new Map<number, number>();
  for (let at = 0; at < data.length; at += 4) {
    const colour = colourAt(data, at);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = choosePalette(counts);
  const nearest = new Map(palette.map((colour, index) => [colour, index]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const colour = colourAt(data, (y * width + x) * 4);
      let index = nearest.get(colour);
      if (index === undefined) {
        index = nearestTo(colour, palette);
        nearest.set(colour, index);
      }
      rows[y * (width + 1) + x + 1] = index;
    }
  }
  return encode({ width, height, palette, rows });
}

function colourAt(data: Buffer, at: number): number {
  return ((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0);
}

function parts(colour: number): [number, number, number] {
  return [colour >> 16, (colour >> 8) & 255, colour & 255];
}

function distance(one: number, other: number): number {
  const [r1, g1, b1] = parts(one);
  const [r2, g2, b2] = parts(other);
  return 2 * (r1 - r2) ** 2 + 4 * (g1 - g2) ** 2 + 3 * (b1 - b2) ** 2;
}

function nearestTo(colour: number, palette: readonly number[]): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, other] of palette.entries()) {
    const far = distance(colour, other);
    if (far < least) [best, least] = [index, far];
  }
  return best;
}

/** Each colour is the one that adds most: frequent, and far from those that were chosen. */
function choosePalette(counts: ReadonlyMap<number, number>): number[] {
  const frequent = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 20_000);
  const far = frequent.map(() => Number.POSITIVE_INFINITY);
  const chosen: number[] = [];
  let next = 0;
  while (chosen.length < Math.min(coloursMax, frequent.length)) {
    const [colour] = frequent[next] ?? [0];
    chosen.push(colour);
    let most = -1;
    for (const [index, [other, count]] of frequent.entries()) {
      far[index] = Math.min(far[index] ?? 0, distance(colour, other));
      const gain = (far[index] ?? 0) * count;
      if (gain > most) [next, most] = [index, gain];
    }
    if (most <= 0) break;
  }
  return chosen;
}

type Indexed = { width: number; height: number; palette: readonly number[]; rows: Buffer };

function encode({ width, height, palette, rows }: Indexed): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits, indexed colours, no interlacing.
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flatMap(parts))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(content.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
