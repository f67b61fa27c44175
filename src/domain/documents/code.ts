// The code on a payment slip, as rows of dark and light squares.
import { create } from 'qrcode';

/** What fits a code that a telephone can still read from paper. */
const codeCharactersMax = 300;

/** Undefined where there is nothing to say, or too much. */
export function codeRows(text: string): boolean[][] | undefined {
  if (text === '' || text.length > codeCharactersMax) return undefined;
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  return Array.from({ length: modules.size }, (_, row) =>
    Array.from({ length: modules.size }, (_, column) => modules.get(row, column) === 1),
  );
}
