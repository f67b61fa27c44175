// CSV files as spreadsheets write them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Encoding } from '../../src/base/csv/decode.ts';
import { readCsv } from '../../src/base/csv/read.ts';
import { csvLines, withFormula, withoutFormula } from '../../src/base/csv/write.ts';

async function* pieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function rowsOf(content: string | Uint8Array, encoding: Encoding | null = null, size = 7) {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const rows: [number, ...string[]][] = [];
  const options = { encoding, rowsAtOnce: 2 };
  for await (const chunk of readCsv(pieces(bytes, size), options)) {
    assert.ok(chunk.length <= 2);
    rows.push(...chunk.map(({ line, cells }) => [line, ...cells] as [number, ...string[]]));
  }
  return rows;
}

const plain = [
  [1, 'name', 'city'],
  [2, 'Zoë Ünal', 'Lahore'],
  [3, 'A, B', 'x'],
];
const text = 'name,city\r\nZoë Ünal,Lahore\r\n"A, B",x\r\n';

function utf16(content: string, isBig: boolean): Uint8Array {
  const bytes = Buffer.from(content, 'utf16le');
  return isBig ? bytes.swap16() : bytes;
}

test('marks, semicolons, tabs, UTF-16 and line ends of any kind give the same rows', async () => {
  const semicolons = text.replaceAll(',', ';').replace('A; B', 'A, B');
  const files: [string, string | Uint8Array][] = [
    ['plain', text],
    ['mark', `\ufeff${text}`],
    ['semicolons', semicolons],
    ['semicolons, named', text.replace('name,city', 'name,city')],
    ['tabs', 'name\tcity\nZoë Ünal\tLahore\n"A, B"\tx'],
    ['line feeds', text.replaceAll('\r\n', '\n')],
    ['UTF-16 with mark', utf16(`\ufeff${text}`, false)],
    ['UTF-16 the other way', utf16(`\ufeff${text}`, true)],
    ['UTF-16 without mark', utf16(text, false)],
    ['UTF-16 the other way without mark', utf16(text, true)],
  ];
  for (const [name, content] of files) assert.deepEqual(await rowsOf(content), plain, name);
  for (const size of [1, 3, 1_000]) assert.deepEqual(await rowsOf(text, null, size), plain);
});

test('the line that names the delimiter is no row, and counts as a line', async () => {
  assert.deepEqual(await rowsOf('sep=;\r\na;b\r\n1;2\r\n'), [
    [2, 'a', 'b'],
    [3, '1', '2'],
  ]);
});

test('rows keep the line they begin on, over empty lines and cells of several lines', async () => {
  assert.deepEqual(await rowsOf('a,b\n\n"x\ny",1\n,\nlast,2\n'), [
    [1, 'a', 'b'],
    [3, 'x\ny', '1'],
    [5, '', ''],
    [6, 'last', '2'],
  ]);
});

test('a cell of several lines does not move the lines of the rows after it', async () => {
  for (const end of ['\r\n', '\n', '\r']) {
    const content = ['a,b', '"x', 'y', 'z",1', '"p', 'q",2', 'last,3', ''].join(end);
    for (const size of [1, 5, 1_000]) {
      const rows = await rowsOf(content, null, size);
      const lines = rows.map(([line]) => line);
      assert.deepEqual(lines, [1, 2, 5, 7], JSON.stringify(end));
    }
    const broken = (row: string, line: number) =>
      assert.rejects(rowsOf(`${content}${row}${end}4,5${end}`), {
        message: new RegExp(`^Line ${line}: `),
      });
    await broken('"open,3', 8);
    await broken('x"y,3', 8);
  }
});

test('a file of another encoding is refused, and read when its encoding is named', async () => {
  const bytes = Buffer.from('name\nZo\xeb\n', 'latin1');
  await assert.rejects(rowsOf(bytes), { code: 'INVALID_FORMAT' });
  assert.deepEqual(await rowsOf(bytes, 'windows-1252'), [
    [1, 'name'],
    [2, 'Zoë'],
  ]);
});

test('a quote that is not closed, or is in a wrong place, is named with its line', async () => {
  for (const content of ['a,b\n1,2\n"x,3\n', 'a,b\n1,2\nx"y,3\n', 'a,b\n1,2\n"x"y,3\n']) {
    await assert.rejects(rowsOf(content), (error: Error & { code: string }) => {
      assert.equal(error.code, 'INVALID_FORMAT');
      assert.match(error.message, /^Line \d/);
      return true;
    });
  }
});

test('an empty file has no rows', async () => {
  assert.deepEqual(await rowsOf(''), []);
  assert.deepEqual(await rowsOf('\n\n'), []);
});

test('what a spreadsheet would run is written as text, and numbers as numbers', async () => {
  const nasty = ['=cmd|x', '@SUM(A1)', '+92 300 1', '-1+1', '\tx', '\rx', "'quoted", '|x'];
  const kept = ['-5', '12.50', '+7', 'a=b', '', 'plain', '\u202etxt', '🙂', 'a"b,c', 'x\ny'];
  for (const cell of nasty) {
    assert.match(withoutFormula(cell), /^'/);
    assert.equal(withFormula(withoutFormula(cell)), cell);
  }
  for (const cell of kept) assert.equal(withoutFormula(cell), cell);
  const cells = [...nasty, ...kept];
  const header = cells.map((_, index) => `c${index}`);
  const [, row] = await rowsOf(csvLines([header, cells]).join('\r\n'));
  assert.deepEqual(
    row?.slice(1).map((cell) => withFormula(String(cell))),
    cells,
  );
});
