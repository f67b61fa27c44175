// A PDF file that is made page by page. Same calls, same bytes: dates and ids come from the caller.
// Fonts and pictures come first in the file, under the same numbers however many pages there are,
// so that they are the same bytes in many files.
import { hash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import type { Face, FaceUse } from '../typeset/face.ts';
import { archiveEntries, colorSpace, maker, type PdfArchive } from './archive.ts';
import type { PdfImage } from './images.ts';
import { asWritten, dateValue, textValue } from './objects.ts';
import { catalogId, infoId, Output, pagesId, pagesText } from './output.ts';
import type { Piece } from './pieces.ts';

export type PdfInfo = {
  readonly title: string;
  /** Of the document, not of its making. */
  readonly createdOn: Temporal.PlainDate;
  /** BCP 47. */
  readonly language: string;
  /** Of several files: each of them embeds the glyphs that any of them draws. */
  readonly uses?: Map<Face, FaceUse>;
  /** The file is PDF/A-3b, with this inside. */
  readonly archive?: PdfArchive | undefined;
};

export type PdfFile = {
  /** Adds a page with its content stream, whose origin is the top left corner. */
  addPage(size: PageSize, content: string, used: PageResources): void;
  /** A face or image with its name in content streams. */
  font(face: Face): FontResource;
  image(image: PdfImage): { readonly name: string };
  /** The whole file. Nothing is added after it. */
  end(): Piece[];
};

type PageSize = { readonly width: number; readonly height: number };

export type PageResources = {
  readonly faces: ReadonlySet<Face>;
  readonly images: ReadonlySet<PdfImage>;
};

type FontResource = { readonly name: string; readonly use: FaceUse };

type DrawnPage = PageResources & { readonly size: PageSize; readonly content: Buffer };

/** Of a page's content: a tenth larger than the smallest, at half the time. */
const level = 3;

export function openPdf(info: PdfInfo): PdfFile {
  const fonts = new Map<Face, FontResource>();
  const images = new Map<PdfImage, { name: string }>();
  const pages: DrawnPage[] = [];

  return {
    addPage(size, content, used) {
      // Measures of pages are from the top left corner; those of PDF, from the bottom left.
      const turned = `1 0 0 -1 0 ${asWritten(size.height)} cm\n${content}`;
      const bytes = deflateSync(Buffer.from(turned, 'latin1'), { level });
      pages.push({ ...used, size, content: bytes });
    },
    font(face) {
      let found = fonts.get(face);
      if (found === undefined) {
        found = { name: `F${fonts.size + 1}`, use: useOf(face, info.uses) };
        fonts.set(face, found);
      }
      return found;
    },
    image(image) {
      let found = images.get(image);
      if (found === undefined) {
        found = { name: `I${images.size + 1}` };
        images.set(image, found);
      }
      return found;
    },
    end: () => writeFile(info, pages, { fonts, images }),
  };
}

function useOf(face: Face, uses: PdfInfo['uses']): FaceUse {
  const shared = face.isWhole ? undefined : uses;
  let use = shared?.get(face);
  if (use === undefined) {
    use = { face, words: new Set(), isShared: shared !== undefined };
    shared?.set(face, use);
  }
  return use;
}

type Resources = {
  readonly fonts: ReadonlyMap<Face, FontResource>;
  readonly images: ReadonlyMap<PdfImage, { readonly name: string }>;
};

function writeFile(info: PdfInfo, pages: readonly DrawnPage[], resources: Resources): Piece[] {
  const { archive, createdOn, language } = info;
  const title = info.title.replace(/[^\p{L}\p{N} ._/-]/gu, ' ');
  const output = new Output();
  // First, so that its objects have the same numbers in all files.
  const colors = archive && colorSpace(output.nextId);
  if (colors) output.addBlock(colors, { isShared: true });
  const names = writeResources(output, resources);
  const more =
    archive && colors ? archiveEntries(output, { archive, colors, title, createdOn }) : '';
  const known = new Map<string, number>();
  const kids = pages.map((page) => writePage(output, page, names, known));
  const lang = `/Lang ${asWritten(textValue(language))}\n`;
  output.write(catalogId, `<<\n/Type /Catalog\n/Pages ${pagesId} 0 R\n${lang}${more}>>`);
  output.write(pagesId, pagesText(kids));
  const date = dateValue(createdOn);
  const by = textValue(maker);
  output.write(
    infoId,
    asWritten({ Title: textValue(title), Creator: by, Producer: by, CreationDate: date }),
  );
  output.end(hash('md5', `${title} ${createdOn}`));
  return output.take();
}

type Names = { readonly fonts: Map<Face, string>; readonly images: Map<PdfImage, string> };

/** Returns each name with the object that it is of. */
function writeResources(output: Output, { fonts, images }: Resources): Names {
  const names: Names = { fonts: new Map(), images: new Map() };
  for (const [face, { name, use }] of fonts) {
    const block = face.embed(output.nextId, use);
    output.addBlock(block, { isShared: true });
    names.fonts.set(face, `/${name} ${block.id} 0 R\n`);
  }
  for (const [image, { name }] of images) {
    const block = image.embed(output.nextId);
    output.addBlock(block, { isShared: true });
    names.images.set(image, `/${name} ${block.id} 0 R\n`);
  }
  return names;
}

/** `known` are lists of resources: pages of a file may have the same. */
function writePage(
  output: Output,
  page: DrawnPage,
  { fonts, images }: Names,
  known: Map<string, number>,
): number {
  const { width, height } = page.size;
  const used =
    dictionaryOf('Font', page.faces, fonts) + dictionaryOf('XObject', page.images, images);
  let resources = known.get(used);
  if (resources === undefined) {
    resources = output.add({ text: `<<\n${used}>>`, stream: null });
    known.set(used, resources);
  }
  const content = output.add({
    text: `<<\n/Length ${page.content.length}\n/Filter /FlateDecode\n>>`,
    stream: page.content,
  });
  const box = `/MediaBox [0 0 ${asWritten(width)} ${asWritten(height)}]`;
  const parts = `/Contents ${content} 0 R\n/Resources ${resources} 0 R`;
  const text = `<<\n/Type /Page\n/Parent ${pagesId} 0 R\n${box}\n${parts}\n>>`;
  return output.add({ text, stream: null });
}

function dictionaryOf<Of>(kind: string, used: ReadonlySet<Of>, names: Map<Of, string>): string {
  if (used.size === 0) return '';
  let entries = '';
  for (const one of used) entries += names.get(one) ?? '';
  return `/${kind} <<\n${entries}>>\n`;
}
