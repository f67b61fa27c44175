// The structure of Factur-X files: what PDF/A-3 and Factur-X want of a file, without a validator.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileInside } from '../../src/base/pdf/archive.ts';
import { sRgbProfile } from '../../src/base/pdf/color-profile.ts';
import type { Piece } from '../../src/base/pdf/pieces.ts';
import { markFile } from '../../src/domain/documents/mark.ts';
import { renderBill, renderBills } from '../../src/domain/documents/render-bill.ts';
import { eInvoiceSamples } from './e-invoice-samples.ts';
import { pageCount, readPdf } from './pdf-reader.ts';

const xml = '<?xml version="1.0" encoding="UTF-8"?>\n<invoice>محمد</invoice>\n';
const sample = eInvoiceSamples['ur-many-rates'];
assert.ok(sample);
const { input } = sample;
const file = renderBill({ ...input, facturX: xml });

function objectWith(pattern: RegExp) {
  const found = readPdf(file)
    .objects.values()
    .find(({ dictionary }) => pattern.test(dictionary));
  assert.ok(found, String(pattern));
  return found;
}

test('a Factur-X file has the XML inside, as an alternative of its pages', () => {
  assert.equal(fileInside(file)?.toString(), xml);
  const { dictionary } = objectWith(/\/Type \/Filespec/);
  assert.match(dictionary, /\/AFRelationship \/Alternative/);
  assert.match(dictionary, /\/UF \(factur-x\.xml\)/);
  const inside = objectWith(/\/Type \/EmbeddedFile/).dictionary;
  assert.match(inside, /\/Subtype \/text#2Fxml/);
  // The issue date of the bill.
  assert.match(inside, /\/ModDate \(D:20250802000000Z\)/);
  assert.match(objectWith(/\/Type \/Catalog/).dictionary, /\/AF \[\d+ 0 R\]/);
});

test('a Factur-X file says in its metadata that it is PDF/A-3b, and agrees with its Info', () => {
  const metadata = objectWith(/\/Type \/Metadata/).stream?.toString() ?? '';
  assert.match(metadata, /<pdfaid:part>3<\/pdfaid:part>\s*<pdfaid:conformance>B</);
  assert.match(metadata, /<fx:ConformanceLevel>EN 16931</);
  assert.match(metadata, /<fx:DocumentFileName>factur-x\.xml</);
  assert.match(metadata, /<pdfaSchema:prefix>fx</);
  assert.match(metadata, /<xmp:CreateDate>2025-08-02T00:00:00Z</);
  assert.match(metadata, /x-default">ELEC-2025-000991</);
  const text = file.toString('latin1');
  assert.match(text, /\(ELEC-2025-000991\)/);
  assert.match(text, /\(D:20250802000000Z\)/);
  assert.match(text, /\/ID \[/);
});

test('a Factur-X file has a profile of its colours', () => {
  assert.match(objectWith(/\/Type \/OutputIntent/).dictionary, /\/S \/GTS_PDFA1/);
  const profile = sRgbProfile();
  assert.equal(profile.readUInt32BE(0), profile.length);
  assert.equal(profile.toString('latin1', 36, 40), 'acsp');
  assert.ok(
    readPdf(file)
      .objects.values()
      .some(({ stream }) => stream?.equals(profile)),
  );
});

test('the pages of a Factur-X file are those of the bill, and its bytes the same each time', () => {
  assert.deepEqual(renderBill({ ...input, facturX: xml }), file);
  const ordinary = renderBill(input);
  assert.equal(pageCount(file), pageCount(ordinary));
  const pages = (bytes: Buffer) =>
    readPdf(bytes)
      .objects.values()
      .filter(({ stream }) => stream?.includes(' Tm\n'))
      .map(({ stream }) => stream?.toString('latin1'))
      .toArray();
  assert.deepEqual(pages(file), pages(ordinary));
});

test('files of one chunk share the profile of their colours', () => {
  const inputs = [xml, `${xml} `].map((facturX) => () => ({ ...input, facturX }));
  const [first = [], second = []] = renderBills(inputs).map((pieces) => {
    assert.ok(!(pieces instanceof Error));
    return pieces.filter((piece: Piece) => piece.isShared).map(({ bytes }) => bytes);
  });
  assert.ok(first.some((bytes) => bytes.includes('/GTS_PDFA1')));
  assert.deepEqual(first, second);
});

test('a bill without an e-invoice is no PDF/A and has nothing inside', () => {
  const ordinary = renderBill(input);
  assert.equal(fileInside(ordinary), undefined);
  assert.doesNotMatch(ordinary.toString('latin1'), /pdfaid|OutputIntent|EmbeddedFile/);
});

test('a copy of a Factur-X file is marked and has no XML: it is no invoice', () => {
  const copy = markFile({ file, mark: 'copy', locale: 'en', title: 'Bill' });
  assert.equal(pageCount(copy), pageCount(file));
  assert.equal(fileInside(copy), undefined);
});
