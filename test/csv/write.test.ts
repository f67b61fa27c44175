// What a spreadsheet makes of an export: no cell may begin like a formula, whichever delimiter the
// country of the reader uses, and an import gives every text back as it was.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import {
  type Cell,
  csvLines,
  lineEnd,
  withFormula,
  withoutFormula,
} from '../../src/base/csv/write.ts';

const signs = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/**
 * The cells that a program sees which splits at `delimiter` and takes a quote for one only where a
 * cell begins, as spreadsheets do.
 */
function cellsAt(text: string, delimiter: string): string[] {
  const options = { delimiter, relax_quotes: true, relax_column_count: true } as const;
  try {
    return parse(text, { ...options, quote: '"' }).flat();
  } catch {
    return parse(text, { ...options, quote: false }).flat();
  }
}

const isNumber = /^[+-]?\d+(\.\d+)?$/;
const looksLikeFormula = (cell: string) =>
  signs.some((sign) => cell.replace(/^["\s]+/, '').startsWith(sign)) && !isNumber.test(cell);

function formulasIn(cells: readonly Cell[]): string[] {
  const text = csvLines([cells]).join(lineEnd);
  return [',', ';', '\t', '|'].flatMap((delimiter) =>
    // A dumb reader that knows no quotes at all.
    [...cellsAt(text, delimiter), ...(delimiter === ',' ? [] : text.split(delimiter))].filter(
      looksLikeFormula,
    ),
  );
}

test('a text that begins like a formula is written with an apostrophe', () => {
  for (const sign of signs) assert.deepEqual(csvLines([[`${sign}1+1`]]), [`'${sign}1+1`]);
  for (const sign of ['\t', '|', "'"]) assert.equal(withoutFormula(`${sign}x`), `'${sign}x`);
  assert.equal(withoutFormula('\r=1'), "'\r'=1");
});

test('a text in which a delimiter would begin a formula is written with an apostrophe there', () => {
  for (const delimiter of [';', '\t', '|', '\n', '\r\n']) {
    for (const sign of signs) {
      const text = `Khan${delimiter}${sign}cmd`;
      assert.equal(withoutFormula(text), `Khan${delimiter}'${sign}cmd`);
      assert.deepEqual(formulasIn(['first', text, 'last']), [], JSON.stringify(text));
      assert.deepEqual(formulasIn([text]), [], JSON.stringify(text));
    }
  }
  assert.deepEqual(formulasIn(['first', 'Khan;"=cmd"']), []);
});

test('amounts stay numbers, and ordinary texts stay as they are', () => {
  const amounts = ['-5', '-12.50', '+3', '0.00'];
  assert.deepEqual(csvLines([amounts]), ['-5,-12.50,+3,0.00']);
  assert.deepEqual(csvLines([[-5, 12.5, true, null]]), ['-5,12.5,true,']);
  const texts = ['a-b', 'a=b', '5, -1', 'a; b', 'x@example.com', 'two\r\nlines', 'a|b'];
  for (const text of texts) assert.equal(withoutFormula(text), text);
});

const pieces = [...signs, ';', '\t', '|', '\n', '\r', '\r\n', ',', '"', "'", ' ', 'a', '1'];

test('what was written is read as it was, whatever the text', () => {
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((all) => all.join(''));
  fc.assert(
    fc.property(text, (one) => {
      assert.equal(withFormula(withoutFormula(one)), one);
      const [cell] = parse(csvLines([[one, 'x']]).join(lineEnd)).flat();
      assert.equal(withFormula(cell ?? ''), one);
    }),
    { numRuns: 5_000 },
  );
});

test('no row has a cell that begins a formula, whichever delimiter it is read with', () => {
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((all) => all.join(''));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 3 }), (cells) => {
      assert.deepEqual(formulasIn(['first', ...cells, 'last']), []);
    }),
    { numRuns: 2_000 },
  );
});
