// A reminder of overdue debts as words and figures.
import type { Paper, ReminderPaper } from './paper.ts';
import {
  type PaperTable,
  type PaperView,
  type PaperWords,
  pageOf,
  paperWords,
} from './paper-view.ts';
import { linesText, lineText } from './plain-text.ts';
import { wordOf } from './receipt-view.ts';
import { joined, worded } from './wording.ts';

export function reminderView(paper: Paper, reminder: ReminderPaper): PaperView {
  const words = paperWords(paper.setting);
  const { kinds, wording } = words;
  const { formats, labels } = wording;
  const page = pageOf(paper, words, {
    title: kinds.reminderTitle,
    addressee: kinds.reminderTo,
    number: String(reminder.reminderID),
    facts: [
      [kinds.reminderNumber, String(reminder.reminderID)],
      [kinds.date, formats.date(reminder.date)],
      // The number of a subscription identifies a transfer, as that of a bill does.
      [labels.reference, lineText(paper.party.connectionNumber)],
    ],
    amount: {
      label: worded(wording, 'overdueSince', { date: formats.date(reminder.oldestDueDate) }),
      value: formats.money(reminder.amount),
    },
    totals: [],
  });
  const tables = [itemsTable(paper, words, reminder)];
  if (reminder.banks.length > 0) tables.push(banksTable(words, reminder));
  return { page, before: linesText(reminder.words), tables };
}

function itemsTable(
  { setting }: Paper,
  { kinds, wording }: PaperWords,
  { items, amount }: ReminderPaper,
): PaperTable {
  const { formats, labels } = wording;
  const amountHeading = worded(wording, 'amount', { currency: setting.currency });
  const sum = [{ text: kinds.overdueInAll, isBold: true }, { text: '' }, { text: '' }];
  return {
    heading: kinds.overdueItems,
    columns: [
      { heading: kinds.item, part: 0.43, align: 'start' },
      { heading: labels.dueDate, part: 0.2, align: 'end' },
      { heading: kinds.daysOverdue, part: 0.17, align: 'end' },
      { heading: amountHeading, part: 0.2, align: 'end' },
    ],
    rows: [
      ...items.map((item) => [
        { text: joined(wording, ' ', [wordOf(kinds, item.kind), lineText(item.billNumber)]) },
        { text: formats.date(item.dueDate) },
        { text: formats.count(item.daysOverdue) },
        { text: formats.amount(item.amount) },
      ]),
      [...sum, { text: formats.amount(amount), isBold: true }],
    ],
  };
}

function banksTable({ wording }: PaperWords, { banks }: ReminderPaper): PaperTable {
  const { labels } = wording;
  return {
    heading: labels.howToPay,
    columns: [
      { heading: labels.payTo, part: 0.45, align: 'start' },
      { heading: labels.accountNumber, part: 0.55, align: 'start' },
    ],
    rows: banks.map(({ title, facts }) => [
      { text: title },
      {
        text: joined(
          wording,
          ' · ',
          facts.map(({ label, value }) => joined(wording, ' ', [label, value])),
        ),
      },
    ]),
  };
}
