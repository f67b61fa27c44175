// A credit note as words and figures: the page of its bill, with what is credited in place of what
// was charged.
import type { BillDocument, BillDocumentInput, CreditNoteDocument } from './bill-document.ts';
import { type BillView, billView, inWordsOf } from './bill-view.ts';
import { kindLabelsOf } from './kind-labels.ts';
import type { ChargeRow } from './lines-view.ts';
import { noCode } from './payment-code.ts';
import { lineText } from './plain-text.ts';
import type { TotalRow } from './totals-view.ts';

/** The view of the bill or, if the input names one, of a credit note. */
export function documentView(input: BillDocumentInput): BillView {
  const view = billView(input);
  if (input.isCopy) return { ...view, warning: kindLabelsOf(view.wording.locale).copy };
  if (!input.creditNote) return view;
  const inWords = inWordsOf(input, input.creditNote.amount, view.wording);
  return { ...creditNoteView(view, input.creditNote, input.bill), inWords };
}

/** As the bill calls it. */
function labelOf({ lines }: BillDocument, component: string): string {
  return lines.find((line) => line.component === component)?.label ?? component;
}

function creditNoteView(view: BillView, note: CreditNoteDocument, bill: BillDocument): BillView {
  const { labels, wording } = view;
  const { formats } = wording;
  const rows = note.lines.map(({ component, amount }): ChargeRow => {
    const label = component === null ? labels.rounding : lineText(labelOf(bill, component));
    const empty = { remark: '', quantity: '', rate: '', steps: [] };
    return { label, ...empty, amount: formats.amount(amount) };
  });
  const sum = { label: labels.credited, value: formats.amount(note.amount), weight: 'strong' };
  const toWallet = { label: labels.toWallet, value: formats.amount(note.walletAmount) };
  const group = { heading: labels.credited, rows };
  return {
    ...view,
    title: labels.creditNoteTitle,
    warning: null,
    facts: [
      { label: labels.creditNote, value: lineText(note.number) },
      { label: labels.creditedBill, value: view.billNumber },
      { label: labels.issueDate, value: formats.date(note.issueDate) },
    ],
    payable: { label: labels.credited, value: formats.money(note.amount) },
    payableLate: null,
    sections: [{ heading: null, readings: [], usage: [], groups: [group], subtotal: null }],
    totals: [
      sum as TotalRow,
      ...(note.walletAmount === 0 ? [] : [{ ...toWallet, weight: 'plain' } as TotalRow]),
    ],
    history: null,
    notes: lineText(note.reason),
    isPayable: false,
    banks: [],
    code: noCode,
    barcode: '',
    billNumber: lineText(note.number),
    reference: '',
  };
}
