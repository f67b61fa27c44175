// A receipt as words and figures.
import type { KindLabels } from './kind-labels-en.ts';
import type { Paper, PaperSetting, ReceiptPaper, SettledLine } from './paper.ts';
import {
  type PaperTable,
  type PaperView,
  type PaperWords,
  pageOf,
  paperWords,
} from './paper-view.ts';
import { linesText, lineText } from './plain-text.ts';
import type { TotalRow } from './totals-view.ts';
import { joined } from './wording.ts';

export function receiptView(paper: Paper, receipt: ReceiptPaper): PaperView {
  const words = paperWords(paper.setting);
  const { kinds, wording } = words;
  const { formats } = wording;
  const number = lineText(receipt.receiptNumber ?? String(receipt.paymentID));
  const page = pageOf(paper, words, {
    title: kinds.receiptTitle,
    addressee: kinds.receivedFrom,
    number,
    facts: [
      [kinds.receiptNumber, lineText(receipt.receiptNumber)],
      [kinds.cashDesk, lineText(receipt.cashDesk)],
      [kinds.paymentNumber, String(receipt.paymentID)],
      [kinds.paymentReference, lineText(receipt.reference)],
      [kinds.paidOn, formats.date(receipt.paidOn)],
      [kinds.paidBy, wordOf(kinds, receipt.method)],
      [kinds.chequeNumber, lineText(receipt.chequeNumber)],
    ],
    amount: { label: kinds.amountReceived, value: formats.money(receipt.amount) },
    totals: totalsOf(words, receipt),
    notes: notesOf(kinds, receipt),
  });
  const tables = receipt.settled.length === 0 ? [] : [settledTable(paper, words, receipt.settled)];
  return { page, before: '', tables };
}

function notesOf(kinds: KindLabels, { chequeNumber, remark }: ReceiptPaper): string {
  const note = chequeNumber === null ? '' : kinds.chequeNote;
  return [note, linesText(remark ?? '')].filter((text) => text !== '').join('\n');
}

/** The word for a name of the API, or the name itself. */
export function wordOf(kinds: KindLabels, name: string): string {
  return Object.hasOwn(kinds, name) ? kinds[name as keyof KindLabels] : lineText(name);
}

function settledTable(
  { setting }: Paper,
  words: PaperWords,
  settled: readonly SettledLine[],
): PaperTable {
  const { kinds, wording } = words;
  const { formats, labels } = wording;
  const amount = labels.amount.replace('{currency}', setting.currency);
  return {
    heading: kinds.settles,
    columns: [
      { heading: kinds.item, part: 0.75, align: 'start' },
      { heading: amount, part: 0.25, align: 'end' },
    ],
    rows: settled.map((line) => [
      {
        text: joined(wording, ' ', [wordOf(kinds, line.kind), lineText(line.billNumber)]),
        below:
          line.surcharge === 0
            ? ''
            : words.worded('withSurcharge', { amount: formats.amount(line.surcharge) }),
      },
      { text: formats.amount(line.amount) },
    ]),
  };
}

function totalsOf({ kinds, wording }: PaperWords, receipt: ReceiptPaper): TotalRow[] {
  const { labels, formats } = wording;
  const rows: [string, number, TotalRow['weight'], boolean][] = [
    [kinds.settles, receipt.settledAmount, 'plain', receipt.settledAmount !== 0],
    [kinds.recovered, receipt.recoveredAmount, 'plain', receipt.recoveredAmount !== 0],
    [labels.toWallet, receipt.walletAmount, 'plain', receipt.walletAmount !== 0],
    [kinds.amountReceived, receipt.amount, 'strong', true],
  ];
  return rows
    .filter(([, , , isShown]) => isShown)
    .map(([label, value, weight]) => ({ label, value: formats.amount(value), weight }));
}

/** Why a receipt no longer counts; without a day, that it is a copy. */
export function reversedWords(setting: PaperSetting, reversedOn: string | null): string {
  const { kinds, wording, worded } = paperWords(setting);
  if (reversedOn === null) return kinds.copy;
  return worded('reversedOn', { date: wording.formats.date(reversedOn) });
}
