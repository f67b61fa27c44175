// The codes on a payment slip, as rows of dark and light cells.
import JsBarcode from 'jsbarcode';
import { create } from 'qrcode';
import { bestMasked, type Squares } from './code-mask.ts';

/** What fits a code that a telephone can still read from paper. */
export const codeCharactersMax = 300;
/** What fits a bar code on a payment slip. */
const barcodeCharactersMax = 40;

/** The squares of a QR code. Undefined where there is nothing to say, or too much. */
export function codeRows(text: string): boolean[][] | undefined {
  if (text === '' || text.length > codeCharactersMax) return undefined;
  const { modules } = create(text, { errorCorrectionLevel: 'M', maskPattern: 0 });
  const { size } = modules;
  const squares = bestMasked(modules as Squares);
  const rows: boolean[][] = [];
  for (let from = 0; from < squares.length; from += size) {
    const row: boolean[] = [];
    for (let at = from; at < from + size; at++) row.push(squares[at] === 1);
    rows.push(row);
  }
  return rows;
}

/** The bars of Code 128, without light margins. Undefined if the text is not printable ASCII. */
export function barRow(text: string): boolean[] | undefined {
  if (text.length > barcodeCharactersMax || !/^[ -~]+$/.test(text)) return undefined;
  const drawn: { encodings?: { data: string }[] } = {};
  JsBarcode(drawn, text, { format: 'CODE128' });
  const bars = drawn.encodings?.map(({ data }) => data).join('') ?? '';
  return [...bars].map((bar) => bar === '1');
}
