// Bills as PDF.
import { parseDate } from '../../base/calendar.ts';
import { openPdf, type PdfFile } from '../../base/pdf/document.ts';
import { type Page, paintPage } from '../../base/pdf/page.ts';
import { type Piece, wholeFile } from '../../base/pdf/pieces.ts';
import type { Face, FaceUse, Typefaces } from '../../base/typeset/face.ts';
import { notoTypefaces } from '../../base/typeset/noto.ts';
import type { BillDocumentInput } from './bill-document.ts';
import { documentView } from './credit-note-view.ts';
import { facturX } from './e-invoice/factur-x.ts';
import { billPages } from './layout/bill-pages.ts';
import { fewerPages } from './layout/fewer-pages.ts';
import { sheetOf } from './layout/sheet.ts';
import { lineText } from './plain-text.ts';

/** The PDF of a bill. Same input, same bytes. */
export function renderBill(input: BillDocumentInput, typefaces = typefacesOf(input)): Buffer {
  const file = openBillPdf(input, titleOf(input));
  for (const page of layOutBill(input, typefaces)) paintPage(file, page);
  return wholeFile(file.end());
}

/**
 * The PDFs of some bills, each in pieces. They embed the same glyphs, so that their fonts are the
 * same bytes. A bill that cannot be rendered has its error instead.
 */
export function renderBills(inputs: readonly (() => BillDocumentInput)[]): (Piece[] | Error)[] {
  const uses = new Map<Face, FaceUse>();
  const files = inputs.map((read) => {
    try {
      const input = read();
      const file = openBillPdf(input, titleOf(input), uses);
      for (const page of layOutBill(input)) paintPage(file, page);
      return file;
    } catch (error) {
      return error as Error;
    }
  });
  return files.map((file) => (file instanceof Error ? file : file.end()));
}

function typefacesOf({ locale, secondLocale }: BillDocumentInput): Typefaces {
  return notoTypefaces(locale, secondLocale);
}

function titleOf({ bill, creditNote }: BillDocumentInput): string {
  return lineText(creditNote?.number ?? bill.billNumber ?? bill.billRefNo);
}

/** The items on the pages of a bill with their positions. */
export function layOutBill(input: BillDocumentInput, typefaces = typefacesOf(input)): Page[] {
  const view = documentView(input);
  const options = {
    size: input.pageSize ?? input.letterhead.pageSize,
    direction: view.wording.direction,
    color: input.letterhead.color,
    typefaces,
  };
  return fewerPages((scale) => billPages(sheetOf({ ...options, scale }), view));
}

function openBillPdf(
  { bill, creditNote, locale, facturX: xml }: BillDocumentInput,
  title: string,
  uses?: Map<Face, FaceUse>,
): PdfFile {
  const issueDate = creditNote?.issueDate ?? bill.issueDate;
  const date = parseDate(issueDate ?? '') ?? parseDate(bill.endDate);
  return openPdf({
    title: title === '' ? `Bill ${bill.billID}` : title,
    createdOn: date ?? Temporal.PlainDate.from('2000-01-01'),
    language: locale,
    ...(uses && { uses }),
    archive: xml === undefined ? undefined : facturX(xml),
  });
}
