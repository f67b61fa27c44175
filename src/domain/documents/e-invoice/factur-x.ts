// What makes the PDF of a bill a Factur-X (ZUGFeRD) invoice: the XML inside, and what the metadata
// of the file say about it.
import type { PdfArchive } from '../../../base/pdf/archive.ts';

const facturXName = 'factur-x.xml';

const namespace = 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#';

const properties = [
  ['DocumentFileName', facturXName, 'The name of the embedded XML document'],
  ['DocumentType', 'INVOICE', 'The type of the hybrid document in capital letters'],
  ['Version', '1.0', 'The version of the standard that the XML document follows'],
  ['ConformanceLevel', 'EN 16931', 'The conformance level of the XML document'],
] as const;

/** PDF/A wants a description of each property that is not of its own. */
const metadata = `
<rdf:Description rdf:about="" xmlns:fx="${namespace}">
${properties.map(([name, value]) => `<fx:${name}>${value}</fx:${name}>`).join('\n')}
</rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
 xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#"
 xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>
<pdfaSchema:namespaceURI>${namespace}</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>fx</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq>
${properties.map(([name, , text]) => propertyOf(name, text)).join('\n')}
</rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>`;

function propertyOf(name: string, text: string): string {
  const parts = [
    ['name', name],
    ['valueType', 'Text'],
    ['category', 'external'],
    ['description', text],
  ].map(([part, value]) => `<pdfaProperty:${part}>${value}</pdfaProperty:${part}>`);
  return `<rdf:li rdf:parseType="Resource">${parts.join('')}</rdf:li>`;
}

/** The XML says the same as the pages: it is an alternative of them. */
export function facturX(xml: string): PdfArchive {
  const file = {
    name: facturXName,
    type: 'text/xml',
    relation: 'Alternative',
    description: 'Invoice by EN 16931',
    bytes: Buffer.from(xml),
  };
  return { file, metadata };
}
