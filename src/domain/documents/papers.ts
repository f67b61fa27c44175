// The kinds of papers, and the view of each.
import type { Paper } from './paper.ts';
import type { PaperView } from './paper-view.ts';
import { receiptView } from './receipt-view.ts';
import { reminderView } from './reminder-view.ts';
import { statementView } from './statement-view.ts';

export type ViewedPaper = {
  view: PaperView;
  /** DD/MM/YYYY */
  issuedOn: string;
};

export function viewOf(paper: Paper): ViewedPaper {
  if ('statement' in paper) {
    const { statement } = paper;
    return { view: statementView(paper, statement), issuedOn: statement.issuedOn };
  }
  if ('reminder' in paper) {
    const { reminder } = paper;
    return { view: reminderView(paper, reminder), issuedOn: reminder.date };
  }
  const { receipt } = paper;
  return { view: receiptView(paper, receipt), issuedOn: receipt.issuedOn };
}
