// The fonts that every reader of PDF files has, set by the same code as ours: what a bill costs
// without embedding any font.
import PDFDocument from 'pdfkit';
import { writeBlock } from '../src/base/pdf/objects.ts';
import type { Face, ShapedWord, Typefaces } from '../src/base/typeset/face.ts';

const winAnsi = new Map(
  Object.entries({
    '€': 0x80,
    '…': 0x85,
    '‘': 0x91,
    '’': 0x92,
    '“': 0x93,
    '”': 0x94,
    '•': 0x95,
    '–': 0x96,
    '—': 0x97,
  }).map(([character, code]) => [character.charCodeAt(0), code]),
);

function codeOf(codePoint: number): number | undefined {
  return codePoint < 256 ? codePoint : winAnsi.get(codePoint);
}

export function standardTypefaces(): Typefaces {
  return { regular: [standardFace('Helvetica')], bold: [standardFace('Helvetica-Bold')] };
}

function standardFace(name: string): Face {
  const ruler = new PDFDocument({ font: name }).fontSize(1000);
  const widths = new Map<string, number>();
  const words = new Map<string, ShapedWord>();
  const widthOf = (text: string) => {
    let width = widths.get(text);
    if (width === undefined) {
      width = ruler.widthOfString(text);
      widths.set(text, width);
    }
    return width;
  };

  function shape(word: string): ShapedWord {
    let operands = '<';
    let advance = 0;
    for (let index = 0; index < word.length; index++) {
      const letter = word.charAt(index);
      const next = word.charAt(index + 1);
      operands += (codeOf(letter.charCodeAt(0)) ?? 63).toString(16).padStart(2, '0');
      advance += widthOf(letter);
      const kern = next === '' ? 0 : widthOf(letter + next) - widthOf(letter) - widthOf(next);
      if (Math.abs(kern) < 0.5) continue;
      operands += `>${-Math.trunc(kern)}<`;
      advance += kern;
    }
    const spans = [{ text: null, parts: [{ rise: 0, operands: `${operands}>` }] }];
    return { advance, spans, glyphs: [], texts: [] };
  }

  return {
    isWhole: true,
    name,
    ascent: 950,
    descent: 300,
    covers: (codePoint) => codeOf(codePoint) !== undefined,
    shape(word) {
      let shaped = words.get(word);
      if (shaped === undefined) {
        shaped = shape(word);
        if (words.size >= 8_000) words.clear();
        words.set(word, shaped);
      }
      return shaped;
    },
    embed: (firstId) =>
      writeBlock(firstId, (objects) => {
        const font = objects.ref({
          Type: 'Font',
          Subtype: 'Type1',
          BaseFont: name,
          Encoding: 'WinAnsiEncoding',
        });
        font.end();
        return font;
      }),
  };
}
