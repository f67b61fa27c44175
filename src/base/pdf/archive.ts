// What makes a PDF file PDF/A-3b, with a file inside: what its colours mean, its metadata, and the
// file with its relation to the pages.
import { createHash } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';
import { sRgbProfile } from './color-profile.ts';
import { readPdf, referenceAfter } from './merge.ts';
import {
  asWritten,
  dateValue,
  keptBlock,
  type ObjectBlock,
  textValue,
  writeBlock,
} from './objects.ts';
import type { Output } from './output.ts';

/** Of the program, in the metadata. */
export const maker = 'Billwright';

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

const space = 'sRGB';
let profile: Buffer | undefined;

/** The same bytes in every file whose objects before it are as many. */
export function colorSpace(firstId: number): ObjectBlock {
  profile ??= deflateSync(sRgbProfile(), { level: 9 });
  const bytes = profile;
  return keptBlock(bytes, firstId, (objects) => {
    const embedded = objects.ref({ N: 3, Filter: 'FlateDecode' });
    embedded.end(bytes);
    const intent = objects.ref({
      Type: 'OutputIntent',
      S: 'GTS_PDFA1',
      Info: textValue(space),
      OutputConditionIdentifier: textValue(space),
      DestOutputProfile: embedded,
    });
    intent.end();
    return intent;
  });
}

type Archived = {
  readonly archive: PdfArchive;
  readonly colors: ObjectBlock;
  readonly title: string;
  readonly createdOn: Temporal.PlainDate;
};

/** Writes the file and the metadata. Returns what the catalog says of them. */
export function archiveEntries(output: Output, { archive, colors, ...info }: Archived): string {
  const { file } = archive;
  let metadataId = 0;
  const block = writeBlock(output.nextId, (objects) => {
    const metadata = objects.ref({ Type: 'Metadata', Subtype: 'XML' });
    metadata.end(Buffer.from(metadataOf(archive, info)));
    metadataId = metadata.id;
    const bytes = objects.ref({
      Type: 'EmbeddedFile',
      Subtype: file.type.replace('/', '#2F'),
      Params: {
        Size: file.bytes.length,
        ModDate: dateValue(info.createdOn),
        CheckSum: createHash('md5').update(file.bytes).digest(),
      },
      Filter: 'FlateDecode',
    });
    bytes.end(deflateSync(file.bytes));
    const specification = objects.ref({
      Type: 'Filespec',
      F: textValue(file.name),
      UF: textValue(file.name),
      Desc: textValue(file.description),
      AFRelationship: file.relation,
      EF: { F: bytes, UF: bytes },
    });
    specification.end();
    return specification;
  });
  output.addBlock(block, { isShared: false });
  const specification = `${block.id} 0 R`;
  const names = `[${asWritten(textValue(file.name))} ${specification}]`;
  return [
    `/OutputIntents [${colors.id} 0 R]`,
    `/Metadata ${metadataId} 0 R`,
    `/Names << /EmbeddedFiles << /Names ${names} >> >>`,
    `/AF [${specification}]\n`,
  ].join('\n');
}

/** In XMP. The title has no sign that XML has a meaning for. */
function metadataOf(
  { metadata }: PdfArchive,
  { title, createdOn }: Pick<Archived, 'title' | 'createdOn'>,
): string {
  return `<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/">
<pdfaid:part>3</pdfaid:part>
<pdfaid:conformance>B</pdfaid:conformance>
</rdf:Description>
${metadata.trim()}
<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/">
<xmp:CreateDate>${createdOn}T00:00:00Z</xmp:CreateDate>
<xmp:CreatorTool>${maker}</xmp:CreatorTool>
</rdf:Description>
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">${title}</rdf:li></rdf:Alt></dc:title>
</rdf:Description>
<rdf:Description rdf:about="" xmlns:pdf="http://ns.adobe.com/pdf/1.3/">
<pdf:Producer>${maker}</pdf:Producer>
</rdf:Description>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>`;
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
