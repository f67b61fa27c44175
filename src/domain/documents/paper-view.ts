// The page of a document that is no bill: letterhead, addressee, facts and sums in the places where
// a bill has them, and tables between.
import type { BillView } from './bill-view.ts';
import { addressLines, organisationLines } from './bill-view.ts';
import type { Fact } from './fact.ts';
import { formatsOf, usableLocale } from './formats.ts';
import { kindLabelsOf } from './kind-labels.ts';
import type { KindLabels } from './kind-labels-en.ts';
import { filled, labelsOf } from './labels.ts';
import type { Cell, Column } from './layout/tables.ts';
import { readLetterhead } from './letterhead.ts';
import type { Paper, PaperParty, PaperSetting } from './paper.ts';
import { noCode } from './payment-code.ts';
import { lineText } from './plain-text.ts';
import type { TotalRow } from './totals-view.ts';
import type { Wording } from './wording.ts';

export type PaperTable = {
  readonly heading: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
};

export type PaperView = {
  /** Without charges, chart and slip. */
  readonly page: BillView;
  /** Words before the tables. */
  readonly before: string;
  readonly tables: readonly PaperTable[];
};

export type PaperWords = {
  readonly wording: Wording;
  readonly kinds: KindLabels;
  /** A label of these with its values. */
  worded(label: keyof KindLabels, values: Readonly<Record<string, string>>): string;
};

export function paperWords(setting: PaperSetting): PaperWords {
  const { currency, currencyDecimals: decimals } = setting;
  const locale = usableLocale(setting.locale);
  const formats = formatsOf(locale, currency, decimals);
  const wording: Wording = { locale, decimals, formats, ...labelsOf(locale, false) };
  const kinds = kindLabelsOf(locale);
  return {
    wording,
    kinds,
    worded: (label, values) => filled(kinds[label], values, wording.direction),
  };
}

export type PageParts = {
  title: string;
  /** Above the name of the party. */
  addressee: string;
  number: string;
  facts: readonly (readonly [label: string, value: string])[];
  amount: Fact | null;
  /** Above the sums. */
  summary?: string;
  totals: readonly TotalRow[];
  notes?: string;
};

export function pageOf({ setting, party, warning }: Paper, words: PaperWords, parts: PageParts) {
  const { wording } = words;
  const letterhead = readLetterhead(setting.organisation);
  const { labels } = wording;
  const page: BillView = {
    wording,
    labels: {
      ...labels,
      billTo: parts.addressee,
      summary: parts.summary ?? labels.summary,
    },
    letterhead,
    organisationLines: organisationLines(letterhead, wording),
    title: parts.title,
    warning: warning ?? null,
    customer: customerOf(party, wording),
    facts: factsOf(parts.facts),
    payable: parts.amount,
    payableLate: null,
    sections: [],
    amountHeading: '',
    totals: parts.totals,
    inWords: null,
    history: null,
    notes: parts.notes ?? '',
    contact: null,
    isPayable: false,
    banks: [],
    code: noCode,
    barcode: '',
    billNumber: parts.number,
    reference: '',
  };
  return page;
}

function customerOf(party: PaperParty, wording: Wording): BillView['customer'] {
  const { labels } = wording;
  return {
    name: lineText(party.name),
    lines: addressLines({ address: party.address }, wording),
    facts: factsOf([
      [labels.customerNumber, String(party.number)],
      [labels.connection, lineText(party.connectionNumber)],
    ]),
  };
}

function factsOf(facts: PageParts['facts']): Fact[] {
  return facts.filter(([, value]) => value !== '').map(([label, value]) => ({ label, value }));
}
