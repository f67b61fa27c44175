// What makes a PDF file PDF/A-3b, with a file inside: what its colours mean, its metadata, and the
// file with its relation to the pages.
import { createHash } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';
import { sRgbProfile } from './color-profile.ts';
import { readPdf, referenceAfter } from './merge.ts';
import type { PdfObjects, Reference } from './objects.ts';

export type PdfArchive = {
  readonly file: {
    /** Plain letters. */
    readonly name: string;
    /** MIME. */
    readonly type: string;
    readonly relation: string;
    readonly description: string;
    readonly bytes: Buffer;
  };
  /** Descriptions of RDF that are written besides those of the file. */
  readonly metadata: string;
};

/** The part of pdfkit's document that this needs, beside objects. */
type ArchiveDocument = PdfObjects & {
  readonly _root: Pick<Reference, 'data'>;
  appendXML(xml: string): void;
  addNamedEmbeddedFile(name: string, file: Reference): void;
};

const isPdfA3b = `
<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/">
<pdfaid:part>3</pdfaid:part>
<pdfaid:conformance>B</pdfaid:conformance>
</rdf:Description>`;

const space = 'sRGB';
let profile: Buffer | undefined;

/** The same bytes in every file whose objects before it are as many. */
export function addColorSpace(objects: PdfObjects): Reference {
  profile ??= deflateSync(sRgbProfile(), { level: 9 });
  const embedded = objects.ref({ N: 3, Filter: 'FlateDecode' });
  embedded.end(profile);
  const intent = objects.ref({
    Type: 'OutputIntent',
    S: 'GTS_PDFA1',
    Info: Object(space),
    OutputConditionIdentifier: Object(space),
    DestOutputProfile: embedded,
  });
  intent.end();
  return intent;
}

/** Before the end of the document. `date` is that of the file inside. */
export function addArchive(
  document: unknown,
  { file, metadata }: PdfArchive,
  intent: Reference,
  date: Date,
): void {
  const archive = document as ArchiveDocument;
  const { data } = archive._root;
  data.OutputIntents = [intent];
  archive.appendXML(isPdfA3b);
  archive.appendXML(metadata);
  const bytes = archive.ref({
    Type: 'EmbeddedFile',
    Subtype: file.type.replace('/', '#2F'),
    Params: { Size: file.bytes.length, ModDate: date, CheckSum: checksumOf(file.bytes) },
    Filter: 'FlateDecode',
  });
  bytes.end(deflateSync(file.bytes));
  const specification = archive.ref({
    Type: 'Filespec',
    F: Object(file.name),
    UF: Object(file.name),
    Desc: Object(file.description),
    AFRelationship: file.relation,
    EF: { F: bytes, UF: bytes },
  });
  specification.end();
  archive.addNamedEmbeddedFile(file.name, specification);
  data.AF = [specification];
}

/** pdfkit writes bytes in hexadecimal. */
function checksumOf(bytes: Buffer): Uint8Array {
  return new Uint8Array(createHash('md5').update(bytes).digest());
}

/** The file inside a PDF file of this program; undefined if there is none. */
export function fileInside(pdf: Buffer): Buffer | undefined {
  const { catalog, object } = readPdf(pdf);
  const found = /\/AF \[(\d+) 0 R\]/.exec(catalog)?.[1];
  if (found === undefined) return undefined;
  const specification = object(Number(found)).text;
  const inner = specification.slice(specification.indexOf('/EF'));
  const { stream } = object(referenceAfter(inner, 'F'));
  return stream === null ? undefined : inflateSync(stream);
}
