// A page as a list of items with their positions, and its painting. Measures are points from the
// top left corner. Layout makes the list; tests read from it that nothing overlaps or leaves the
// page.
import { utf16 } from '../typeset/embed-font.ts';
import { type Face, type FaceUse, joinedOperands } from '../typeset/face.ts';
import type { Run, TextLine } from '../typeset/lines.ts';
import type { PdfFile } from './document.ts';
import type { PdfImage } from './images.ts';

type Box = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

/** Colours are #rrggbb. */
export type PageItem = Box &
  (
    | {
        readonly kind: 'text';
        readonly line: TextLine;
        readonly size: number;
        readonly color: string;
      }
    | { readonly kind: 'fill'; readonly color: string }
    | { readonly kind: 'rule'; readonly color: string; readonly isDashed: boolean }
    | { readonly kind: 'image'; readonly image: PdfImage }
    /** Rows of cells, dark or light: the squares of a QR code, the bars of a bar code. */
    | { readonly kind: 'matrix'; readonly rows: readonly (readonly boolean[])[] }
  );

export type Page = {
  readonly width: number;
  readonly height: number;
  readonly items: readonly PageItem[];
};

const dashPattern = '[3 3] 0 d';

export function paintPage(file: PdfFile, page: Page): void {
  const brush = openBrush(file);
  for (const item of page.items) {
    if (item.kind === 'text') brush.text(item.line, item.x, item.y, item.size, item.color);
    else if (item.kind === 'fill') brush.fill(item, item.color);
    else if (item.kind === 'rule') brush.rule(item, item.color, item.isDashed);
    else if (item.kind === 'image') brush.image(item, item.image);
    else brush.matrix(item, item.rows);
  }
  const { content, faces, images } = brush.finish();
  file.addPage(page, content, { faces, images });
}

/** Content is one string: an array of its lines would cost more than the lines. */
function openBrush(file: PdfFile) {
  const faces = new Set<Face>();
  const images = new Set<PdfImage>();
  let content = '';
  let fillColor = '';
  let fontAndSize = '';
  let isInText = false;

  /** Texts that follow each other are one object: two lines less for each. */
  function setInText(isText: boolean): void {
    if (isText !== isInText) content += isText ? 'BT\n' : 'ET\n';
    isInText = isText;
  }

  function setFill(color: string): void {
    if (color === fillColor) return;
    fillColor = color;
    content += `${rgb(color)} rg\n`;
  }

  function setFont(face: Face, size: number): FaceUse {
    const { name, use } = file.font(face);
    faces.add(face);
    const wanted = `/${name} ${number(size)} Tf`;
    if (wanted !== fontAndSize) content += `${wanted}\n`;
    fontAndSize = wanted;
    return use;
  }

  return {
    text(line: TextLine, x: number, y: number, size: number, color: string) {
      setFill(color);
      setInText(true);
      content += `1 0 0 -1 ${number(x)} ${number(y + line.ascent)} Tm\n`;
      for (const run of line.runs) {
        const own = size * (run.face.scale ?? 1);
        const use = setFont(run.face, own);
        content += runContent(run, use, own);
      }
    },
    fill({ x, y, width, height }: Box, color: string) {
      setFill(color);
      setInText(false);
      content += `${number(x)} ${number(y)} ${number(width)} ${number(height)} re f\n`;
    },
    /** Along the longer side, as thick as the shorter. */
    rule(box: Box, color: string, isDashed: boolean) {
      if (!isDashed) return this.fill(box, color);
      setInText(false);
      content += dashedLine(box, color);
    },
    image(box: Box, image: PdfImage) {
      images.add(image);
      setInText(false);
      content += picture(box, file.image(image).name);
    },
    matrix(box: Box, rows: readonly (readonly boolean[])[]) {
      setFill('#000000');
      setInText(false);
      content += cells(rows, box);
    },
    finish() {
      setInText(false);
      return { content, faces, images };
    },
  };
}

function dashedLine({ x, y, width, height }: Box, color: string): string {
  const middle = number(y + height / 2);
  const pen = `${rgb(color)} RG ${number(height)} w ${dashPattern}`;
  return `q ${pen}\n${number(x)} ${middle} m ${number(x + width)} ${middle} l S Q\n`;
}

function picture({ x, y, width, height }: Box, name: string): string {
  const matrix = [width, 0, 0, -height, x, y + height].map(number).join(' ');
  return `q ${matrix} cm /${name} Do Q\n`;
}

function runContent(run: Run, use: FaceUse, size: number): string {
  use.words.add(run.words);
  if (run.drawn?.size !== size) run.drawn = { size, content: drawing(run, size) };
  return run.drawn.content;
}

function drawing(run: Run, size: number): string {
  let content = '';
  let open = '';
  let rise = 0;
  const flush = () => {
    if (open !== '') content += `[${open}] TJ\n`;
    open = '';
  };
  const setRise = (wanted: number) => {
    if (wanted === rise) return;
    flush();
    content += `${number((wanted * size) / 1000)} Ts\n`;
    rise = wanted;
  };
  for (const word of run.words) {
    if (word.operands !== undefined) {
      setRise(0);
      open = joinedOperands(open, word.operands);
    }
    for (const { text, parts } of word.spans) {
      if (text !== null) {
        flush();
        content += `/Span << /ActualText <feff${utf16(text)}> >> BDC\n`;
      }
      for (const part of parts) {
        setRise(part.rise);
        open = joinedOperands(open, part.operands);
      }
      if (text === null) continue;
      flush();
      content += 'EMC\n';
    }
  }
  flush();
  if (rise !== 0) content += '0 Ts\n';
  return content;
}

/**
 * In units of the cells, so that each rectangle is a few digits. Neighbours in a row are one
 * rectangle, so that no hairline shows between them.
 */
function cells(rows: readonly (readonly boolean[])[], box: Box): string {
  const wide = box.width / (rows[0]?.length ?? 1);
  const high = box.height / rows.length;
  const place = `${number(box.x)} ${number(box.y)}`;
  let content = `q ${exact(wide)} 0 0 ${exact(high)} ${place} cm\n`;
  rows.forEach((row, line) => {
    let from = 0;
    while (from < row.length) {
      let to = from;
      while (row[to]) to++;
      if (to > from) content += `${from} ${line} ${to - from} 1 re\n`;
      from = to + 1;
    }
  });
  return `${content}f\nQ\n`;
}

/** Of a cell, of which there may be many in a row. */
function exact(value: number): string {
  return value.toFixed(5);
}

const numbersMax = 100_000;
/** Texts of numbers: pages have the same ones again and again, and making them anew takes long. */
const numbers = new Array<string | undefined>(numbersMax);

/** Hundredths of a point are finer than any printer. */
function number(value: number): string {
  const hundredths = Math.floor(value * 100 + 0.5);
  if (!(hundredths >= 0 && hundredths < numbersMax)) return String(hundredths / 100);
  let text = numbers[hundredths];
  if (text === undefined) {
    text = String(hundredths / 100);
    numbers[hundredths] = text;
  }
  return text;
}

const colors = new Map<string, string>();
const colorsMax = 1_000;

function rgb(color: string): string {
  let found = colors.get(color);
  if (found === undefined) {
    const parts = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);
    found = parts.map((part) => Math.floor(part * 1000 + 0.5) / 1000).join(' ');
    if (colors.size >= colorsMax) colors.clear();
    colors.set(color, found);
  }
  return found;
}
