// A PDF file that is written page by page, over pdfkit. Same calls, same bytes: dates and ids come
// from the caller. Bytes are handed out as they are made, so that a file of any length needs little
// memory.
import PDFDocument from 'pdfkit';
import type { Face, FaceUse } from '../typeset/face.ts';
import type { PdfImage } from './images.ts';
import type { PdfObjects, Reference } from './objects.ts';

export type PdfInfo = {
  /** pdfkit writes it into XML as it is: letters, digits and plain signs. */
  readonly title: string;
  /** Of the document, not of its making. */
  readonly createdOn: Temporal.PlainDate;
  /** BCP 47. */
  readonly language: string;
};

export type PdfFile = {
  /** Adds a page with its content stream, whose origin is the top left corner. */
  addPage(size: { width: number; height: number }, content: string, used: PageResources): void;
  /** A face or image with its name in content streams. */
  font(face: Face): { readonly name: string; readonly use: FaceUse };
  image(image: PdfImage): { readonly name: string };
  /** What was written since the last call. */
  take(): Buffer;
  end(): void;
};

export type PageResources = {
  readonly faces: Iterable<Face>;
  readonly images: Iterable<PdfImage>;
};

type FontResource = { name: string; use: FaceUse; dictionary: Reference };

export function openPdf(info: PdfInfo): PdfFile {
  const document = new PDFDocument({
    autoFirstPage: false,
    // No font of pdfkit's own is read.
    font: '',
    pdfVersion: '1.7',
    lang: info.language,
    info: {
      Title: info.title.replace(/[^\p{L}\p{N} ._/-]/gu, ' '),
      Creator: 'Billwright',
      Producer: 'Billwright',
      CreationDate: new Date(info.createdOn.toZonedDateTime('UTC').epochMilliseconds),
    },
  });
  const sink = gather(document);
  const objects = document as unknown as PdfObjects;
  const fonts = new Map<Face, FontResource>();
  const images = new Map<PdfImage, { name: string; object: Reference }>();

  function fontOf(face: Face): FontResource {
    let found = fonts.get(face);
    if (found === undefined) {
      const use = { face, glyphs: new Map<number, string>() };
      found = { name: `F${fonts.size + 1}`, use, dictionary: objects.ref({}) };
      fonts.set(face, found);
    }
    return found;
  }

  function imageOf(image: PdfImage) {
    let found = images.get(image);
    if (found === undefined) {
      found = { name: `I${images.size + 1}`, object: image.embed(objects) };
      images.set(image, found);
    }
    return found;
  }

  return {
    addPage(size, content, used) {
      document.addPage({ size: [size.width, size.height], margin: 0 });
      const { page } = document;
      for (const face of used.faces) {
        const { name, dictionary } = fontOf(face);
        page.fonts[name] = dictionary;
      }
      for (const image of used.images) {
        const { name, object } = imageOf(image);
        page.xobjects[name] = object;
      }
      document.addContent(Buffer.from(content, 'latin1'));
      document.flushPages();
      // The list of pages keeps each page's object to the end; what it refers to is written.
      page.dictionary.data = {} as typeof page.dictionary.data;
    },
    font: fontOf,
    image: imageOf,
    take: sink.take,
    end() {
      for (const { use, dictionary } of fonts.values()) use.face.embed(objects, dictionary, use);
      document.end();
    },
  };
}

/** A file ends with a line of some 20 bytes for each object: they are joined before handing on. */
const blockBytes = 16_384;

/** Takes the place of the stream's own buffer, which handles each line for itself. */
function gather(document: PDFKit.PDFDocument): { take(): Buffer } {
  const full: Buffer[] = [];
  const block = Buffer.allocUnsafe(blockBytes);
  let used = 0;
  const endBlock = () => {
    if (used > 0) full.push(Buffer.from(block.subarray(0, used)));
    used = 0;
  };
  const add = (chunk: Uint8Array) => {
    if (used + chunk.length > blockBytes) endBlock();
    if (chunk.length > blockBytes) full.push(Buffer.from(chunk));
    else {
      block.set(chunk, used);
      used += chunk.length;
    }
  };
  // The head of the file was written before, in chunks that come one at a time.
  let head = document.read() as Buffer | null;
  while (head !== null) {
    add(head);
    head = document.read() as Buffer | null;
  }
  document.push = (chunk: Uint8Array | null) => {
    if (chunk !== null) add(chunk);
    return chunk !== null;
  };
  return {
    take() {
      endBlock();
      return Buffer.concat(full.splice(0));
    },
  };
}
