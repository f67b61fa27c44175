// A PDF file that is written page by page, over pdfkit. Same calls, same bytes: dates and ids come
// from the caller. Bytes are handed out as they are made, so that a file of any length needs little
// memory, or at the end in pieces: those of fonts and pictures are the same in many files.
import PDFDocument from 'pdfkit';
import type { Face, FaceUse } from '../typeset/face.ts';
import { addArchive, addColorSpace, type PdfArchive } from './archive.ts';
import type { PdfImage } from './images.ts';
import type { PdfObjects, Reference } from './objects.ts';
import { gather, type Piece } from './pieces.ts';

export type PdfInfo = {
  /** pdfkit writes it into XML as it is: letters, digits and plain signs. */
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
  addPage(size: { width: number; height: number }, content: string, used: PageResources): void;
  /** A face or image with its name in content streams. */
  font(face: Face): { readonly name: string; readonly use: FaceUse };
  image(image: PdfImage): { readonly name: string };
  /** What was written since the last call. */
  take(): Buffer;
  takePieces(): Piece[];
  end(): void;
};

export type PageResources = {
  readonly faces: Iterable<Face>;
  readonly images: Iterable<PdfImage>;
};

type FontResource = { name: string; use: FaceUse; dictionary: Reference };

export function openPdf(info: PdfInfo): PdfFile {
  const date = new Date(info.createdOn.toZonedDateTime('UTC').epochMilliseconds);
  const document = newDocument(info, date);
  const sink = gather(document);
  const objects = document as unknown as PdfObjects;
  const fonts = new Map<Face, FontResource>();
  const images = new Map<PdfImage, { name: string; object: Reference }>();
  const { archive } = info;
  // First, so that its objects have the same numbers in all files.
  const colors = archive && sink.share(() => addColorSpace(objects));

  function fontOf(face: Face): FontResource {
    let found = fonts.get(face);
    if (found === undefined) {
      const use = useOf(face, info.uses);
      found = { name: `F${fonts.size + 1}`, use, dictionary: objects.ref({}) };
      fonts.set(face, found);
    }
    return found;
  }

  function imageOf(image: PdfImage) {
    let found = images.get(image);
    if (found === undefined) {
      const object = sink.share(() => image.embed(objects));
      found = { name: `I${images.size + 1}`, object };
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
    takePieces: sink.takePieces,
    end() {
      sink.share(() => {
        for (const { use, dictionary } of fonts.values()) use.face.embed(objects, dictionary, use);
      });
      if (archive && colors) addArchive(document, archive, colors, date);
      document.end();
    },
  };
}

function newDocument(info: PdfInfo, date: Date): PDFKit.PDFDocument {
  return new PDFDocument({
    autoFirstPage: false,
    // No font of pdfkit's own is read.
    font: '',
    pdfVersion: '1.7',
    lang: info.language,
    info: {
      Title: info.title.replace(/[^\p{L}\p{N} ._/-]/gu, ' '),
      Creator: 'Billwright',
      Producer: 'Billwright',
      CreationDate: date,
    },
  });
}

function useOf(face: Face, uses: PdfInfo['uses']): FaceUse {
  const shared = face.isWhole ? undefined : uses;
  let use = shared?.get(face);
  if (use === undefined) {
    use = { face, glyphs: new Map(), isShared: shared !== undefined };
    shared?.set(face, use);
  }
  return use;
}
