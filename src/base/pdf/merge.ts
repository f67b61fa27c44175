// Many PDF files as one, page after page. It reads the files that this program writes: a table of
// all objects at the end, no compressed objects. What several files have in common, such as fonts,
// is written once.
import { hash } from 'node:crypto';
import { catalogId, infoId, Output, type PdfObject, pagesId, pagesText } from './output.ts';
import { wholeFile } from './pieces.ts';

export type MergeInfo = {
  /** Letters, digits and plain signs. */
  readonly title: string;
  /** BCP 47. */
  readonly language: string;
};

/** In pieces, as fast as they are taken. Nothing is yielded for no file. */
export async function* mergePdfs(
  files: AsyncIterable<Buffer> | Iterable<Buffer>,
  info: MergeInfo,
): AsyncGenerator<Buffer, void> {
  const merged = openMerged();
  for await (const file of files) {
    const source = readPdf(file);
    const copied = new Map<number, number>();
    for (const page of source.pages) merged.addPage(source, page, copied);
    yield merged.take();
  }
  if (merged.pages() > 0) yield merged.end(info);
}

type ReadObject = { text: string; stream: Buffer | null };

export type Source = {
  pages: readonly number[];
  /** The text of its object. */
  catalog: string;
  object(id: number): ReadObject;
};

const reference = /(\d+) 0 R\b/g;

export function readPdf(file: Buffer): Source {
  const tail = file.toString('latin1', Math.max(0, file.length - 64));
  const start = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(tail)?.[1] ?? Number.NaN);
  const table = /^xref\s+0 (\d+)\s+/.exec(file.toString('latin1', start, start + 40));
  if (!table) throw new Error('a document has no table of its objects');
  const entries = start + table[0].length;
  const entryBytes = 20;
  const offsetOf = (id: number) => {
    const at = entries + id * entryBytes;
    return Number(file.toString('latin1', at, at + 10));
  };
  const object = (id: number) => readObject(file, offsetOf(id), id);
  const trailer = file.toString('latin1', entries + Number(table[1]) * entryBytes);
  const catalog = object(referenceAfter(trailer, 'Root'));
  const pages = object(referenceAfter(catalog.text, 'Pages'));
  const kids = /\/Kids \[([^\]]*)\]/.exec(pages.text)?.[1] ?? '';
  const kidIds = [...kids.matchAll(reference)].map((kid) => Number(kid[1]));
  return { pages: kidIds, catalog: catalog.text, object };
}

export function referenceAfter(text: string, name: string): number {
  const found = new RegExp(`/${name} (\\d+) 0 R`).exec(text)?.[1];
  if (found === undefined) throw new Error(`a document does not say where its ${name} is`);
  return Number(found);
}

function readObject(file: Buffer, offset: number, id: number): ReadObject {
  const head = `${id} 0 obj\n`;
  if (file.toString('latin1', offset, offset + head.length) !== head) {
    throw new Error(`object ${id} of a document is not at its place`);
  }
  const from = offset + head.length;
  const end = file.indexOf('endobj', from);
  const streamAt = file.indexOf('\nstream\n', from);
  if (streamAt < 0 || streamAt > end) {
    return { text: file.toString('latin1', from, end).trimEnd(), stream: null };
  }
  const text = file.toString('latin1', from, streamAt);
  const length = Number(/\/Length (\d+)/.exec(text)?.[1] ?? 0);
  const first = streamAt + '\nstream\n'.length;
  return { text, stream: file.subarray(first, first + length) };
}

/** The dictionary of a page as it is written, from itself and from what it was in its file. */
type PageChange = (text: string, own: string) => string;

const unchanged: PageChange = (text) => text;

export function openMerged() {
  const output = new Output();
  const pages: number[] = [];
  /** By what is in them. */
  const written = new Map<string, number>();

  /** What it refers to comes first, so that it has its numbers. */
  function copy(source: Source, id: number, copied: Map<number, number>): number {
    const known = copied.get(id);
    if (known !== undefined) return known;
    const { text, stream } = source.object(id);
    const object = { text: renumbered(source, text, copied), stream };
    const content = [Buffer.from(object.text, 'latin1'), stream ?? Buffer.alloc(0)];
    const digest = hash('sha1', Buffer.concat(content));
    const same = written.get(digest) ?? output.add(object);
    written.set(digest, same);
    copied.set(id, same);
    return same;
  }

  function renumbered(source: Source, text: string, copied: Map<number, number>): string {
    return text.replace(reference, (_, id) => `${copy(source, Number(id), copied)} 0 R`);
  }

  return {
    take: () => wholeFile(output.take()),
    pages: () => pages.length,
    add: (object: PdfObject) => output.add(object),
    copy,
    renumbered,
    addPage(source: Source, id: number, copied: Map<number, number>, change = unchanged) {
      const own = source.object(id).text.replace(/\/Parent \d+ 0 R\s*/, '');
      const text = change(renumbered(source, own, copied), own);
      const page = text.replace('<<', `<<\n/Parent ${pagesId} 0 R`);
      pages.push(output.add({ text: page, stream: null }));
    },
    end({ title, language }: MergeInfo) {
      const lang = `/Lang (${plain(language)})`;
      const maker = '/Producer (Billwright)\n/Creator (Billwright)';
      output.write(catalogId, `<<\n/Type /Catalog\n/Pages ${pagesId} 0 R\n${lang}\n>>`);
      output.write(pagesId, pagesText(pages));
      output.write(infoId, `<<\n/Title (${plain(title)})\n${maker}\n>>`);
      output.end();
      return wholeFile(output.take());
    },
  };
}

/** Fit for a string of a PDF without escapes. */
function plain(text: string): string {
  return text.replace(/[^A-Za-z0-9 ._/-]/g, ' ');
}
