// Bills as PDF: one, or many in one file.
import { parseDate } from '../../base/calendar.ts';
import { AppError } from '../../base/errors.ts';
import { openPdf, type PdfFile } from '../../base/pdf/document.ts';
import { type Page, paintPage } from '../../base/pdf/page.ts';
import type { Typefaces } from '../../base/typeset/face.ts';
import { notoTypefaces } from '../../base/typeset/noto.ts';
import type { BillDocumentInput } from './bill-document.ts';
import { documentView } from './credit-note-view.ts';
import { billPages } from './layout/bill-pages.ts';
import { sheetOf } from './layout/sheet.ts';
import { lineText } from './plain-text.ts';

/** The PDF of a bill. Same input, same bytes. */
export function renderBill(input: BillDocumentInput, typefaces = notoTypefaces()): Buffer {
  const file = openBillPdf(input, titleOf(input));
  for (const page of layOutBill(input, typefaces)) paintPage(file, page);
  file.end();
  return file.take();
}

function titleOf({ bill, creditNote }: BillDocumentInput): string {
  return lineText(creditNote?.number ?? bill.billNumber ?? bill.billRefNo);
}

/** Type that can still be read without effort, where it saves a page. */
const smallerScale = 0.9;
/** A longer document is not set in smaller type: one page less would hardly matter. */
const pagesToSaveMax = 4;

/** The items on the pages of a bill with their positions. */
export function layOutBill(input: BillDocumentInput, typefaces: Typefaces): Page[] {
  const view = documentView(input);
  const options = {
    size: input.pageSize ?? input.letterhead.pageSize,
    direction: view.wording.direction,
    color: input.letterhead.color,
    typefaces,
  };
  const pages = billPages(sheetOf({ ...options, scale: 1 }), view);
  if (pages.length === 1 || pages.length > pagesToSaveMax) return pages;
  const smaller = billPages(sheetOf({ ...options, scale: smallerScale }), view);
  return smaller.length < pages.length ? smaller : pages;
}

/**
 * One PDF of many bills, in pieces: as fast as they are taken, and with little more memory than one
 * bill needs. A bill that cannot be rendered is left out and reported to `onFailed`.
 */
export async function* mergeBills(
  bills: AsyncIterable<BillDocumentInput> | Iterable<BillDocumentInput>,
  onFailed: (input: BillDocumentInput, error: AppError) => void,
): AsyncGenerator<Buffer, void> {
  const typefaces = notoTypefaces();
  let file: PdfFile | undefined;
  for await (const input of bills) {
    const pages = pagesOrError(input, typefaces);
    if (pages instanceof AppError) {
      onFailed(input, pages);
      continue;
    }
    file ??= openBillPdf(input, lineText(input.bill.termLabel));
    for (const page of pages) paintPage(file, page);
    yield file.take();
  }
  if (file === undefined) return;
  file.end();
  yield file.take();
}

function pagesOrError(input: BillDocumentInput, typefaces: Typefaces): Page[] | AppError {
  try {
    return layOutBill(input, typefaces);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

function openBillPdf({ bill, creditNote, locale }: BillDocumentInput, title: string): PdfFile {
  const issueDate = creditNote?.issueDate ?? bill.issueDate;
  const date = parseDate(issueDate ?? '') ?? parseDate(bill.endDate);
  return openPdf({
    title: title === '' ? `Bill ${bill.billID}` : title,
    createdOn: date ?? Temporal.PlainDate.from('2000-01-01'),
    language: locale,
  });
}
