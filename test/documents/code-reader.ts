// Reads the codes of documents back with a library that did not write them.
import {
  BinaryBitmap,
  Code128Reader,
  DecodeHintType,
  HybridBinarizer,
  QRCodeReader,
  RGBLuminanceSource,
} from '@zxing/library';

type Cells = readonly (readonly boolean[])[];

/** Light cells around the dark ones, which both standards demand. */
const margin = 10;

function pictureOf(rows: Cells, cell: { width: number; height: number }): BinaryBitmap {
  const width = ((rows[0]?.length ?? 0) + 2 * margin) * cell.width;
  const height = (rows.length + 2 * margin) * cell.height;
  const light = new Uint8ClampedArray(width * height).fill(255);
  rows.forEach((row, y) => {
    row.forEach((isDark, x) => {
      if (!isDark) return;
      for (let down = 0; down < cell.height; down++) {
        const from = ((y + margin) * cell.height + down) * width + (x + margin) * cell.width;
        light.fill(0, from, from + cell.width);
      }
    });
  });
  return new BinaryBitmap(new HybridBinarizer(new RGBLuminanceSource(light, width, height)));
}

export function readQr(rows: Cells): string {
  const hints = new Map<DecodeHintType, unknown>([[DecodeHintType.CHARACTER_SET, 'UTF-8']]);
  return new QRCodeReader().decode(pictureOf(rows, { width: 4, height: 4 }), hints).getText();
}

export function readBars(bars: readonly boolean[]): string {
  return new Code128Reader().decode(pictureOf([bars], { width: 3, height: 40 })).getText();
}

/** The cells that the path of an SVG draws, each as a square of its own. */
export function cellsOf(path: string): boolean[][] {
  const places = [...path.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(([, x, y]) => [
    Number(x),
    Number(y),
  ]);
  const across = Math.max(...places.map(([x = 0]) => x)) + 1;
  const down = Math.max(...places.map(([, y = 0]) => y)) + 1;
  const dark = new Set(places.map(([x, y]) => `${x} ${y}`));
  return Array.from({ length: down }, (_, y) =>
    Array.from({ length: across }, (_, x) => dark.has(`${x} ${y}`)),
  );
}
