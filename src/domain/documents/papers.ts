// The kinds of papers, and the view of each.
import type { Paper } from './paper.ts';
import type { PaperView } from './paper-view.ts';
import { receiptView } from './receipt-view.ts';

export type ViewedPaper = {
  view: PaperView;
  /** DD/MM/YYYY */
  issuedOn: string;
};

export function viewOf(paper: Paper): ViewedPaper {
  const { receipt } = paper;
  return { view: receiptView(paper, receipt), issuedOn: receipt.issuedOn };
}
