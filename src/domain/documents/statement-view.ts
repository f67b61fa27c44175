// A statement of account as words and figures.
import type { Cell } from './layout/tables.ts';
import type { Paper, StatementPaper } from './paper.ts';
import {
  type PaperTable,
  type PaperView,
  type PaperWords,
  pageOf,
  paperWords,
} from './paper-view.ts';
import { lineText } from './plain-text.ts';
import { wordOf } from './receipt-view.ts';
import type { TotalRow } from './totals-view.ts';
import { joined } from './wording.ts';

export function statementView(paper: Paper, statement: StatementPaper): PaperView {
  const words = paperWords(paper.setting);
  const { kinds, wording, worded } = words;
  const { formats, labels } = wording;
  const to = formats.date(statement.toDate);
  const days =
    statement.fromDate === null
      ? worded('upTo', { date: to })
      : joined(wording, ' – ', [formats.date(statement.fromDate), to]);
  const page = pageOf(paper, words, {
    title: kinds.statementTitle,
    addressee: kinds.statementFor,
    number: '',
    facts: [
      [labels.account, lineText(statement.account)],
      [labels.period, days],
      [labels.issueDate, formats.date(statement.issuedOn)],
    ],
    amount: { label: kinds.closingBalance, value: formats.money(statement.closingBalance) },
    totals: totalsOf(words, statement),
  });
  return {
    page,
    before: '',
    tables: [entriesTable(words, statement), agingTable(words, statement)],
  };
}

function entriesTable({ kinds, wording }: PaperWords, statement: StatementPaper): PaperTable {
  const { formats } = wording;
  const shown = (amount: number) => (amount === 0 ? '' : formats.amount(amount));
  const sum = (date: string, label: string, balance: number): Cell[] => [
    { text: date, isBold: true },
    { text: label, isBold: true },
    { text: '' },
    { text: '' },
    { text: formats.amount(balance), isBold: true },
  ];
  const rows = statement.entries.map((entry): Cell[] => [
    { text: formats.date(entry.date) },
    {
      text: joined(wording, ' ', [wordOf(kinds, entry.type), lineText(entry.reference)]),
      below: lineText(entry.description),
    },
    { text: shown(entry.debit) },
    { text: shown(entry.credit) },
    { text: formats.amount(entry.balance) },
  ]);
  const { fromDate, openingBalance, toDate, closingBalance } = statement;
  const first = fromDate === null ? '' : formats.date(fromDate);
  return {
    heading: kinds.entries,
    columns: [
      { heading: kinds.date, part: 0.15, align: 'start' },
      { heading: kinds.entry, part: 0.37, align: 'start' },
      { heading: kinds.debit, part: 0.16, align: 'end' },
      { heading: kinds.credit, part: 0.16, align: 'end' },
      { heading: kinds.balance, part: 0.16, align: 'end' },
    ],
    rows: [
      sum(first, kinds.openingBalance, openingBalance),
      ...rows,
      sum(formats.date(toDate), kinds.closingBalance, closingBalance),
    ],
  };
}

function agingTable({ kinds, wording, worded }: PaperWords, { aging }: StatementPaper): PaperTable {
  const { formats } = wording;
  const days = (from: number, to: number) => `${formats.count(from)}–${formats.count(to)}`;
  const columns = [
    [kinds.notDue, aging.current],
    [worded('overdueDays', { days: days(1, 30) }), aging.d1_30],
    [worded('overdueDays', { days: days(31, 60) }), aging.d31_60],
    [worded('overdueDays', { days: days(61, 90) }), aging.d61_90],
    [worded('overdueOver', { days: formats.count(90) }), aging.over90],
  ] as const;
  return {
    heading: kinds.aging,
    columns: columns.map(([heading]) => ({ heading, part: 1 / columns.length, align: 'end' })),
    rows: [columns.map(([, amount]) => ({ text: formats.amount(amount) }))],
  };
}

function totalsOf({ kinds, wording }: PaperWords, statement: StatementPaper): TotalRow[] {
  const { formats } = wording;
  const { walletBalance: wallet, disputedBalance: disputed } = statement;
  const rows: [string, number, TotalRow['weight']][] = [
    [kinds.openingBalance, statement.openingBalance, 'plain'],
    [kinds.debits, statement.debits, 'plain'],
    [kinds.credits, -statement.credits, 'plain'],
    [kinds.closingBalance, statement.closingBalance, 'strong'],
    ...(wallet === 0 ? [] : [[kinds.walletBalance, wallet, 'detail'] as const]),
    ...(disputed === 0 ? [] : [[kinds.disputedBalance, disputed, 'detail'] as const]),
  ].map(
    ([label, amount, weight]) => [label, amount, weight] as [string, number, TotalRow['weight']],
  );
  return rows.map(([label, amount, weight]) => ({ label, value: formats.amount(amount), weight }));
}
