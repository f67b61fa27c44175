// The edition of the program that makes documents. A change of the layout, of a font or of a
// library changes the bytes of documents; a hash over all of these distinguishes that from
// tampering. A hash over the documents of some fixed bills would miss every change that none of
// them shows.
import { createHash, type Hash, hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { notoFiles } from '../../base/typeset/noto.ts';

/** Where the way of a stored bill to its bytes begins; the rest is what these import. */
const beginnings = ['domain/delivery/bill-input.ts', 'domain/documents/render-bill.ts'];

const importForm = /^(?:import|export)(?! type\b)(?:[^;']*?\sfrom)? '([^']+)';$/gm;

/** Names, forms of numbers and the order of letters; how pages are packed. */
const platformParts = ['icu', 'cldr', 'unicode', 'zlib'];

/** Taken when the program is loaded: its files may be replaced while it runs. */
const edition = editionOf(new URL('../../', import.meta.url));

export function rendererEdition(): string {
  return edition;
}

/** Of the program whose sources are in a folder, whatever that is called. */
export function editionOf(source: URL): string {
  const sum = createHash('sha256');
  const { files, libraries } = sourcesOf(source);
  for (const [name, text] of files) addPart(sum, name, text);
  for (const [name, version] of versionsOf(libraries)) addPart(sum, name, version);
  for (const path of notoFiles()) addPart(sum, 'font', readFileSync(path));
  for (const name of platformParts) addPart(sum, name, process.versions[name] ?? '');
  return sum.digest('hex').slice(0, 16);
}

function addPart(sum: Hash, name: string, content: string | Buffer): void {
  sum.update(`${name} ${content.length}\n`).update(content);
}

export type Sources = {
  /** Text by path from the folder, in the order in which they are met. */
  readonly files: ReadonlyMap<string, string>;
  /** Libraries by name, with a file that imports each. */
  readonly libraries: ReadonlyMap<string, URL>;
};

/** What is loaded when a bill is rendered; types are not. */
export function sourcesOf(source: URL): Sources {
  const files = new Map<string, string>();
  const libraries = new Map<string, URL>();
  const waiting = beginnings.map((path) => new URL(path, source));
  // Ends: no file is read twice.
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const name = file.href.slice(source.href.length);
    if (files.has(name)) continue;
    const text = readFileSync(file, 'utf8');
    files.set(name, text);
    for (const [, wanted = ''] of text.matchAll(importForm)) {
      if (wanted.startsWith('.')) waiting.push(new URL(wanted, file));
      else if (!wanted.startsWith('node:')) libraries.set(wanted, file);
    }
  }
  return { files, libraries };
}

/** Of the libraries and all that they depend on, by name and version. */
function versionsOf(libraries: ReadonlyMap<string, URL | string>): [string, string][] {
  const versions = new Map<string, [string, string]>();
  const waiting = [...libraries];
  // Ends: no package is read twice.
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [name, from] = next;
    const path = findPackageJSON(name, from);
    if (path === undefined || versions.has(path)) continue;
    const { version = '', dependencies = {} } = JSON.parse(readFileSync(path, 'utf8')) as {
      version?: string;
      dependencies?: Record<string, string>;
    };
    versions.set(path, [name, version]);
    for (const other of Object.keys(dependencies)) waiting.push([other, path]);
  }
  return [...versions.values()];
}

export function sha256(bytes: Buffer): string {
  return hash('sha256', bytes, 'hex');
}
