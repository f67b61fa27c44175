// Renders documents other than bills as PDF.
import { parseDate } from '../../base/calendar.ts';
import { openPdf, type PdfFile } from '../../base/pdf/document.ts';
import { type Page, paintPage } from '../../base/pdf/page.ts';
import { type Piece, wholeFile } from '../../base/pdf/pieces.ts';
import type { Face, FaceUse, Typefaces } from '../../base/typeset/face.ts';
import { notoTypefaces } from '../../base/typeset/noto.ts';
import { fewerPages } from './layout/fewer-pages.ts';
import { paperPages } from './layout/paper-pages.ts';
import { sheetOf } from './layout/sheet.ts';
import type { Paper } from './paper.ts';
import type { PaperView } from './paper-view.ts';
import { viewOf } from './papers.ts';

/** The PDF of a paper. Same paper, same bytes. */
export function renderPaper(paper: Paper): Buffer {
  const file = paint(paper, undefined);
  return wholeFile(file.end());
}

/** The PDFs of some papers in pieces, as those of bills are made. */
export function renderPapers(papers: readonly Paper[]): (Piece[] | Error)[] {
  const uses = new Map<Face, FaceUse>();
  const files = papers.map((paper) => {
    try {
      return paint(paper, uses);
    } catch (error) {
      return error as Error;
    }
  });
  return files.map((file) => (file instanceof Error ? file : file.end()));
}

function paint(paper: Paper, uses: Map<Face, FaceUse> | undefined): PdfFile {
  const { view, issuedOn } = viewOf(paper);
  const { page } = view;
  const file = openPdf({
    title: `${page.title} ${page.billNumber}`.trim(),
    createdOn: parseDate(issuedOn) ?? Temporal.PlainDate.from('2000-01-01'),
    language: page.wording.locale,
    ...(uses && { uses }),
  });
  for (const one of layOutPaper(view, notoTypefaces(page.wording.locale))) paintPage(file, one);
  return file;
}

/** The items on the pages with their positions. */
export function layOutPaper(view: PaperView, typefaces: Typefaces): Page[] {
  const { letterhead, wording } = view.page;
  const { direction } = wording;
  const options = { size: letterhead.pageSize, direction, color: letterhead.color, typefaces };
  return fewerPages((scale) => paperPages(sheetOf({ ...options, scale }), view));
}
