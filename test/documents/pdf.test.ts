// Bills as PDF files.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppError } from '../../src/base/errors.ts';
import { mergePdfs } from '../../src/base/pdf/merge.ts';
import type { Piece } from '../../src/base/pdf/pieces.ts';
import type { BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import { renderBill, renderBills } from '../../src/domain/documents/render-bill.ts';
import { allBills, crowded, hindi, sectioned, urdu } from './bills.ts';
import { ordinary, ordinaryBill } from './ordinary-bill.ts';
import { pageCount, readPdf } from './pdf-reader.ts';

function named(partyName: string): BillDocumentInput {
  return { ...ordinary, bill: { ...ordinaryBill, partyName } };
}

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return (error as AppError).code;
  }
}

for (const [name, input] of Object.entries(allBills)) {
  test(`the bill '${name}' is a well-formed PDF with its fonts inside`, () => {
    const { objects } = readPdf(renderBill(input));
    const dictionaries = [...objects.values()].map(({ dictionary }) => dictionary);
    const fonts = dictionaries.filter((text) => text.includes('/Subtype /Type0'));
    assert.ok(fonts.length >= 2);
    for (const font of fonts) assert.match(font, /\/ToUnicode \d+ 0 R/);
    const files = dictionaries.filter((text) => text.includes('/FontFile2'));
    assert.equal(files.length, fonts.length);
    assert.ok(!dictionaries.some((text) => text.includes('Helvetica')));
  });
}

test('the same bill is the same bytes, whatever was made in between', () => {
  for (const input of [ordinary, urdu, hindi]) {
    const first = renderBill(input);
    for (const other of Object.values(allBills)) renderBill(other);
    assert.ok(renderBill(structuredCloneOf(input)).equals(first));
  }
});

/** A copy in which nothing is the same object, so that nothing is remembered by being it. */
function structuredCloneOf(input: BillDocumentInput): BillDocumentInput {
  const logo = input.letterhead.logo && Buffer.from(input.letterhead.logo);
  const { letterhead, ...rest } = input;
  return { ...structuredClone(rest), letterhead: { ...letterhead, logo } };
}

test('another bill is other bytes, and none has the time of its making', async () => {
  const one = renderBill(named('A. Khan'));
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  assert.ok(renderBill(named('A. Khan')).equals(one));
  assert.ok(!renderBill(named('B. Khan')).equals(one));
  const { objects } = readPdf(one);
  const all = [...objects.values()].map(({ dictionary }) => dictionary).join('');
  assert.match(all, /D:20250802000000Z/);
});

test('hostile texts are printed or left out, and change nothing else', () => {
  const names = [
    '=cmd|calc!A1',
    '@SUM(1+1)',
    'tab\there',
    'line\r\nbreak',
    '\u202egnp.exe',
    'zero\u200bwidth\ufeff',
    'nul\u0000in it',
    '😀👨‍👩‍👧‍👦',
    '\ud800lonely',
    'x'.repeat(4_000),
    'x '.repeat(2_000),
    ') Tj ET Q endstream endobj',
    '<script>alert(1)</script>',
    '{{bill.partyName}}',
    '',
  ];
  // Without the notes, which print a text in full.
  const made = (name: string) => renderBill({ ...named(name), template: null });
  const usual = readPdf(made('A. Khan')).objects.size;
  for (const name of names) {
    const { objects } = readPdf(made(name));
    assert.equal(objects.size, usual, JSON.stringify(name.slice(0, 40)));
    assert.equal(pageCount(made(name)), 1, JSON.stringify(name.slice(0, 40)));
  }
});

test('a name with overrides of direction prints as the name without', () => {
  const plain = renderBill(named('A. Khan'));
  assert.ok(renderBill(named('\u202eA.\u200b Khan\u2066\r\n')).equals(plain));
});

test('values in a text are not filled a second time', () => {
  const odd = named('{{bill.arrears}}');
  assert.equal(
    codeOf(() => renderBill(odd)),
    undefined,
  );
});

test('a template that cannot be filled fails that bill with its code, and no other', () => {
  const poison = { ...ordinary, template: { body: 'Meter at {{bill.connectionRefNo!}}' } };
  assert.equal(
    codeOf(() => renderBill(poison)),
    'TEMPLATE_INVALID',
  );
  const fine = { ...poison, bill: { ...ordinaryBill, connectionRefNo: 'Gate 4' } };
  assert.equal(
    codeOf(() => renderBill(fine)),
    undefined,
  );
});

test('a text of far too many pages fails the bill', () => {
  const endless = { ...ordinary, template: { body: 'again and again\n'.repeat(12_000) } };
  assert.equal(
    codeOf(() => renderBill(endless)),
    'DOCUMENT_TOO_LONG',
  );
});

test('a bill of as many subscriptions as a town has street lights is one document', () => {
  const { bill } = sectioned;
  const [section] = bill.sections;
  assert.ok(section);
  const numbers = Array.from({ length: 1_000 }, (_, index) => `E-${index}`);
  const sections = numbers.map((connectionNumber) => ({ ...section, connectionNumber }));
  const lines = numbers.flatMap((connectionNumber) =>
    ordinaryBill.lines.map((line) => ({ ...line, connectionNumber })),
  );
  const pages = pageCount(renderBill({ ...sectioned, bill: { ...bill, sections, lines } }));
  assert.ok(pages > 300, `${pages} pages`);
});

/** One pixel. */
const jpeg =
  '/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwc' +
  'KDcpLDAxNDQ0Hyc5PTgyPC4zNDL/wAARCAABAAEDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAn/xAAUEAEA' +
  'AAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAAAP/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhED' +
  'EQA/AKpgA//Z';

test('a logo may be a JPEG, which goes into the file as it is', () => {
  const logo = Buffer.from(jpeg, 'base64');
  const input = { ...ordinary, letterhead: { ...ordinary.letterhead, logo } };
  const { objects } = readPdf(renderBill(input));
  const image = [...objects.values()].find(({ dictionary }) => /\/DCTDecode/.test(dictionary));
  assert.ok(image?.stream?.equals(logo));
  assert.match(image?.dictionary ?? '', /\/Width 1\n/);
});

test('a damaged logo is left out', () => {
  const { logo } = ordinary.letterhead;
  assert.ok(logo);
  for (const bytes of [Buffer.from('no picture'), logo.subarray(0, 60), Buffer.alloc(0)]) {
    const input = { ...ordinary, letterhead: { ...ordinary.letterhead, logo: bytes } };
    const { objects } = readPdf(renderBill(input));
    const images = [...objects.values()].filter(({ dictionary }) => /\/Image\n/.test(dictionary));
    assert.equal(images.length, 0);
  }
});

/** The documents of the bills, in pieces, and one file of them all. */
async function merged(bills: readonly BillDocumentInput[]) {
  const documents = renderBills(bills.map((bill) => () => bill));
  const failed = documents.filter((one) => one instanceof Error);
  const files = documents.flatMap((one) =>
    one instanceof Error ? [] : [Buffer.concat(one.map((piece) => piece.bytes))],
  );
  const pieces: Buffer[] = [];
  for await (const piece of mergePdfs(files, { title: 'Bills', language: 'en' }))
    pieces.push(piece);
  return { documents, files, bytes: Buffer.concat(pieces), pieces, failed };
}

test('documents that are made together are well formed, and share their fonts and logo', async () => {
  const { documents, files } = await merged([ordinary, urdu, hindi, ordinary]);
  for (const file of files) assert.equal(pageCount(file), 1);
  const shared = documents.map((pieces) =>
    (pieces as Piece[]).filter((piece) => piece.isShared).map((piece) => piece.bytes),
  );
  const own = files.map(
    (file, index) => file.length - (shared[index] ?? []).reduce((sum, one) => sum + one.length, 0),
  );
  assert.ok(Math.max(...own) < 14_000, `${own} bytes of their own`);
  assert.deepEqual(shared[0], shared[3]);
});

test('many bills in one file: all their pages, each font and logo once', async () => {
  const bills = [ordinary, urdu, crowded, hindi, sectioned, ordinary];
  const { bytes, failed } = await merged(bills);
  const wanted = bills.reduce((sum, bill) => sum + pageCount(renderBill(bill)), 0);
  assert.equal(pageCount(bytes), wanted);
  assert.deepEqual(failed, []);
  const { objects } = readPdf(bytes);
  const dictionaries = [...objects.values()].map(({ dictionary }) => dictionary);
  // Regular and bold of: common letters, Devanagari, Arabic.
  assert.equal(dictionaries.filter((text) => text.includes('/FontFile2')).length, 6);
  assert.equal(dictionaries.filter((text) => /\/Subtype \/Image\n/.test(text)).length, 2);
});

test('in a file of many bills, one that cannot be rendered is left out and reported', async () => {
  const poison = {
    ...ordinary,
    bill: { ...ordinaryBill, billID: 13 },
    template: { body: '{{bill.nothing}}' },
  };
  const { bytes, failed } = await merged([ordinary, poison, ordinary]);
  assert.equal(pageCount(bytes), 2);
  assert.deepEqual(
    failed.map((error) => (error as AppError).code),
    ['TEMPLATE_INVALID'],
  );
});

test('a file of many bills comes in pieces, and holds on to none of them', async () => {
  const many = Array.from({ length: 50 }, (_, index) => named(`Customer ${index}`));
  const { pieces } = await merged(many);
  assert.equal(pieces.length, 51);
  // The first has the fonts and the logo.
  const largest = Math.max(...pieces.slice(1, -1).map((piece) => piece.length));
  assert.ok(largest < 10_000, `${largest} bytes for one bill`);
});

test('no bills are no file', async () => {
  const { bytes } = await merged([]);
  assert.equal(bytes.length, 0);
});

test('the file of a bill has at most 60 kB for a page, in Nastaliq at most 200 kB', () => {
  for (const [name, input] of Object.entries(allBills)) {
    const { length } = renderBill(input);
    const most = input.locale.startsWith('ur') ? 200_000 : 60_000;
    assert.ok(length <= most, `${name}: ${length} bytes`);
  }
});
