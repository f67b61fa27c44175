// By its edition it is known whether a program makes the bytes that another one made.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { editionOf, rendererEdition, sourcesOf } from '../../src/domain/delivery/edition.ts';

const root = new URL('../../', import.meta.url);
const source = new URL('src/', root);
const libraries = fileURLToPath(new URL('node_modules', root));
const folder = mkdtempSync(join(tmpdir(), 'edition-'));
after(() => rmSync(folder, { recursive: true }));

/** The program in another folder. */
function copied(name: string): URL {
  cpSync(source, join(folder, name, 'src'), { recursive: true });
  return pathToFileURL(join(folder, name, 'src/'));
}

test('a program has the same edition in every folder, and another after any change of layout', () => {
  const copy = copied('moved');
  symlinkSync(libraries, join(folder, 'moved/node_modules'));
  assert.equal(editionOf(copy), rendererEdition());
  const change = (path: string) => appendFileSync(new URL(path, copy), '// otherwise\n');
  // What no document comes from.
  for (const path of ['operations/catalogue.ts', 'domain/rating/usage/usage.ts', 'main.ts'])
    change(path);
  assert.equal(editionOf(copy), rendererEdition());
  let before = rendererEdition();
  for (const path of [
    'domain/documents/layout/tables.ts',
    'domain/documents/layout/totals.ts',
    'domain/documents/labels-hi.ts',
    'domain/documents/template.ts',
    'domain/delivery/bill-input.ts',
    'domain/bills/bill-forms.ts',
    'base/numbers/rounding.ts',
    'base/typeset/subset.ts',
    'base/pdf/images.ts',
  ]) {
    change(path);
    const edition = editionOf(copy);
    assert.notEqual(edition, before, path);
    before = edition;
  }
});

test('another version of a library is another edition', () => {
  const copy = copied('upgraded');
  const own = join(folder, 'upgraded/node_modules');
  mkdirSync(join(own, 'qrcode'), { recursive: true });
  for (const name of readdirSync(libraries)) {
    if (name !== 'qrcode') symlinkSync(join(libraries, name), join(own, name));
  }
  const pack = (version: string) => {
    const text = JSON.stringify({ name: 'qrcode', version, main: 'index.js' });
    writeFileSync(join(own, 'qrcode/package.json'), text);
    return editionOf(copy);
  };
  const first = pack('1.0.0');
  assert.notEqual(pack('1.0.1'), first);
  assert.equal(pack('1.0.0'), first);
});

test('the edition is taken over every file that is loaded to render a bill', () => {
  const script = `
    import { registerHooks } from 'node:module';
    const seen = [];
    registerHooks({ load: (url, context, next) => { seen.push(url); return next(url, context); } });
    await import('${new URL('domain/delivery/bill-input.ts', source)}');
    await import('${new URL('domain/documents/render-bill.ts', source)}');
    console.log(JSON.stringify(seen));
  `;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script]);
  const loaded = (JSON.parse(printed.toString()) as string[])
    .filter((url) => url.startsWith(source.href))
    .map((url) => url.slice(source.href.length));
  const { files, libraries: found } = sourcesOf(source);
  assert.deepEqual([...files.keys()].sort(), loaded.sort());
  assert.deepEqual([...found.keys()].sort(), [
    'bidi-js',
    'harfbuzzjs',
    'pdfkit',
    'pngjs',
    'qrcode',
  ]);
});
