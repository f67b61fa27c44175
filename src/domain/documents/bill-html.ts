// A bill as one HTML page that needs nothing else: no script, no style of an element, nothing
// fetched. Its own policy says so, by the hash of its one style sheet; text is escaped wherever it
// comes from.
import { createHash } from 'node:crypto';
import type { BillDocumentInput } from './bill-document.ts';
import { styleSheet } from './bill-style.ts';
import type { BillView } from './bill-view.ts';
import type { SectionView } from './charges-view.ts';
import { type LabelPiece, labelPiecesMax } from './chart-labels.ts';
import { barRow, codeRows } from './code.ts';
import { documentView } from './credit-note-view.ts';
import type { Fact } from './fact.ts';
import type { HistoryView } from './history-view.ts';
import { escaped, logoData, tag } from './html.ts';
import { darkEnough } from './layout/sheet.ts';
import type { ChargeRow } from './lines-view.ts';
import { isolated } from './plain-text.ts';
import { halvesOf, inOneRow } from './two-languages.ts';
import { joined } from './wording.ts';

export type BillPage = {
  readonly html: string;
  /** For the header Content-Security-Policy, where the page is served; the page has it as well. */
  readonly policy: string;
};

export function renderBillHtml(input: BillDocumentInput): BillPage {
  const view = documentView(input);
  return htmlPage(view, bodyOf(view));
}

export function htmlPage(view: BillView, body: readonly string[]): BillPage {
  const style = styleSheet(darkEnough(view.letterhead.color));
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const html = [
    '<!doctype html>',
    tag('html', { lang: view.wording.locale, dir: view.wording.direction }, [
      '<head><meta charset="utf-8">',
      `<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">`,
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
      tag('title', {}, [escaped(`${view.title} ${view.billNumber}`.trim())]),
      `<style>${style}</style></head>`,
      tag('body', {}, [tag('main', {}, body)]),
    ]),
  ].join('\n');
  return { html: `${inOneRow(html)}\n`, policy };
}

function bodyOf(view: BillView): string[] {
  return [
    headOf(view),
    partiesOf(view),
    ...view.sections.map((section) => sectionOf(view, section)),
    endOf(view),
    slipOf(view),
  ];
}

/** What is wrong with the document, the customer, and the panel with the amount. */
export function partiesOf(view: BillView): string {
  const { labels } = view;
  return [
    view.warning === null ? '' : paragraph('warning', view.warning),
    tag('section', { class: 'parties' }, [
      tag('div', { class: 'customer' }, [
        paragraph('muted', labels.billTo),
        paragraph('name', view.customer.name),
        tag(
          'address',
          {},
          view.customer.lines.map((line) => `${apart(line)}<br>`),
        ),
        factList(view.customer.facts),
      ]),
      tag('div', { class: 'panel' }, [
        factList(view.facts),
        view.payable === null ? '' : paragraph('muted', view.payable.label),
        view.payable === null ? '' : paragraph('payable', view.payable.value),
        view.payableLate === null ? '' : factList([view.payableLate]),
      ]),
    ]),
  ].join('');
}

/** The chart, the sums and the notes. */
export function endOf(view: BillView): string {
  return [
    tag('section', { class: 'ending' }, [
      view.history === null ? '' : chartOf(view.history, view.wording.direction),
      totalsOf(view),
    ]),
    wordsOf(view),
    notesOf(view),
    contactOf(view),
  ].join('');
}

export function headOf(view: BillView): string {
  const { letterhead } = view;
  return tag('header', {}, [
    logoOf(letterhead.logo),
    tag('div', { class: 'organisation' }, [
      paragraph('name', letterhead.name),
      ...view.organisationLines.map((line) => paragraph('muted', line)),
    ]),
    tag('h1', {}, [escaped(view.title)]),
  ]);
}

function logoOf(logo: Buffer | null): string {
  const source = logoData(logo);
  return source === null ? '' : `<img class="logo" alt="" src="${source}">`;
}

function sectionOf(view: BillView, section: SectionView): string {
  return tag('section', {}, [
    section.heading === null ? '' : tag('h2', {}, [escaped(section.heading)]),
    readingsOf(view, section),
    section.usage.length === 0 ? '' : paragraph('muted', usageText(view, section)),
    chargesOf(view, section),
  ]);
}

function usageText({ wording, labels }: BillView, { usage }: SectionView): string {
  const texts = usage.map((row) => row.text);
  return joined(wording, ' – ', [labels.usage, joined(wording, ' · ', texts)]);
}

function readingsOf(view: BillView, section: SectionView): string {
  if (section.readings.length === 0) return '';
  const { labels } = view;
  const headings = [
    labels.meter,
    labels.register,
    labels.previous,
    labels.current,
    labels.factor,
    labels.consumption,
    labels.readingType,
  ];
  const rows = section.readings.map((row) => [
    row.meter,
    row.register,
    joined(view.wording, ' ', [row.previous, row.previousDate && `(${row.previousDate})`]),
    joined(view.wording, ' ', [row.current, row.currentDate && `(${row.currentDate})`]),
    row.factor,
    row.consumption,
    joined(view.wording, ', ', [row.type, row.rollover]),
  ]);
  const isUsed = headings.map((_, index) => rows.some((row) => row[index] !== ''));
  const shown = headings.filter((_, index) => isUsed[index]);
  return (
    tag('h3', {}, [escaped(labels.readings)]) +
    tag('table', { class: 'readings' }, [
      headRow(shown),
      ...rows.map((row) =>
        namedRow(
          shown,
          row.filter((_, index) => isUsed[index]),
        ),
      ),
    ])
  );
}

function chargesOf(view: BillView, section: SectionView): string {
  const { labels } = view;
  const [first, ...others] = section.groups;
  if (first === undefined) return '';
  const all = section.groups.flatMap((group) => group.rows);
  const used: Used = {
    quantity: all.some((row) => row.quantity !== ''),
    rate: all.some((row) => row.rate !== ''),
  };
  const between = [used.quantity ? [labels.quantity] : [], used.rate ? [labels.rate] : []].flat();
  const headings = [labels.description, ...between, view.amountHeading];
  const later = others.flatMap((group) => [
    `<tr><th colspan="${headings.length}">${escaped(group.heading)}</th></tr>`,
    ...group.rows.map((row) => chargeRow(row, used)),
  ]);
  const sum = section.subtotal;
  const empty = between.map(() => '');
  return (
    tag('h3', {}, [escaped(first.heading)]) +
    tag('table', { class: 'charges' }, [
      headRow(headings),
      ...first.rows.map((row) => chargeRow(row, used)),
      ...later,
      sum === null ? '' : cellRow([labels.subtotal, ...empty, sum], 'strong'),
    ])
  );
}

/** Columns that some row has a value in. */
type Used = { readonly quantity: boolean; readonly rate: boolean };

function chargeRow(row: ChargeRow, used: Used): string {
  const below = [row.remark, ...row.steps].filter((text) => text !== '');
  const label = [apart(row.label), ...below.map((text) => tag('small', {}, [apart(text)]))].join(
    '',
  );
  const cells = [used.quantity ? [row.quantity] : [], used.rate ? [row.rate] : [], row.amount];
  const others = cells.flat().map((cell) => `<td>${apart(cell)}</td>`);
  return `<tr><td>${label}</td>${others.join('')}</tr>`;
}

function totalsOf(view: BillView): string {
  if (view.totals.length === 0) return '';
  const rows = view.totals.map((row) => cellRow([row.label, row.value], row.weight));
  return tag('div', { class: 'totals' }, [
    tag('h3', {}, [escaped(view.labels.summary)]),
    tag('table', {}, rows),
  ]);
}

/** Sizes as attributes: a policy without inline styles leaves them alone. */
function chartOf(history: HistoryView, direction: 'ltr' | 'rtl'): string {
  const slot = 28;
  const tallest = 80;
  const base = tallest + 10;
  const highest = Math.max(...history.points.map((point) => point.value), 1e-9);
  const points = direction === 'rtl' ? history.points.toReversed() : history.points;
  const bars = points.map((point, index) => {
    const tall = Math.max(1, Math.floor((point.value / highest) * tallest));
    const x = index * slot;
    const kind = point.isPresent ? 'bar present' : 'bar';
    const text = (y: number, words: string) =>
      `<text x="${x + slot / 2}" y="${y}">${escaped(words)}</text>`;
    const size = `width="${slot - 8}" height="${tall}"`;
    return [
      `<rect class="${kind}" x="${x + 4}" y="${base - tall}" ${size}/>`,
      text(base - tall - 3, point.text),
      ...point.label.map((piece, line) => text(base + 8 + line * 7, pieceText(piece, direction))),
    ].join('');
  });
  const width = points.length * slot;
  const height = base + 8 + labelPiecesMax * 7;
  const size = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`;
  return tag('div', { class: 'history' }, [
    tag('h3', {}, [escaped(history.heading)]),
    points.length === 0 ? '' : `<svg role="img" ${size}>${bars.join('')}</svg>`,
    factList(history.facts),
  ]);
}

/** That have room under a bar. */
const labelLettersMax = 8;

function pieceText({ text, marked }: LabelPiece, direction: 'ltr' | 'rtl'): string {
  const hasRoom = marked !== text && marked.length <= labelLettersMax;
  return hasRoom ? isolated(marked, direction) : text;
}

function wordsOf({ inWords, wording }: BillView): string {
  if (inWords === null) return '';
  return paragraph('name', joined(wording, ': ', [inWords.label, inWords.value]));
}

function notesOf(view: BillView): string {
  if (view.notes === '') return '';
  const paragraphs = halvesOf(view.notes).map((notes = '') => {
    const text = notes.split('\n').map(escaped).join('<br>');
    return `<p dir="auto">${text}</p>`;
  });
  return tag('section', {}, [tag('h3', {}, [escaped(view.labels.notes)]), ...paragraphs]);
}

function contactOf({ contact }: BillView): string {
  if (contact === null) return '';
  return tag('section', { class: 'panel contact' }, [
    paragraph('name', contact.heading),
    paragraph('muted', contact.text),
  ]);
}

function slipOf(view: BillView): string {
  if (!view.isPayable) return '';
  const { labels } = view;
  const facts = [{ label: labels.reference, value: view.reference }, view.payable, view.payableLate]
    .filter((fact) => fact !== null)
    .filter((fact) => fact.value !== '');
  return tag('footer', { class: 'slip' }, [
    tag('div', {}, [
      tag('h3', {}, [escaped(labels.slip)]),
      factList(facts),
      ...view.banks.map((bank) => paragraph('name', bank.title) + factList(bank.facts)),
    ]),
    codeOf(view),
    barcodeOf(view),
  ]);
}

function codeOf({ code, labels }: BillView): string {
  const rows = codeRows(code.text);
  if (rows === undefined) return '';
  const caption = code.isPayment ? labels.scan : labels.reference;
  return codeFigure(rows, { width: 120, height: 120, margin: 4 }, caption);
}

function barcodeOf({ barcode }: BillView): string {
  const bars = barRow(barcode);
  if (bars === undefined) return '';
  const size = { width: 2 * (bars.length + 20), height: 56, margin: 10 };
  return codeFigure([bars], size, barcode);
}

/** With the light margin that readers of codes look for, in cells; none above a single row. */
function codeFigure(
  rows: readonly (readonly boolean[])[],
  { width, height, margin }: { width: number; height: number; margin: number },
  caption: string,
): string {
  const dark = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  const above = rows.length === 1 ? 0 : margin;
  const across = (rows[0]?.length ?? 0) + 2 * margin;
  const down = rows.length + 2 * above;
  return tag('figure', {}, [
    `<svg role="img" viewBox="${-margin} ${-above} ${across} ${down}" width="${width}"`,
    ` height="${height}" preserveAspectRatio="none" shape-rendering="crispEdges">`,
    `<path d="${dark.join('')}"/></svg>`,
    tag('figcaption', {}, [apart(caption)]),
  ]);
}

function factList(facts: readonly Fact[]): string {
  const rows = facts.map(({ label, value }) => `<dt>${apart(label)}</dt><dd>${apart(value)}</dd>`);
  return rows.length === 0 ? '' : `<dl>${rows.join('')}</dl>`;
}

export function headRow(headings: readonly string[]): string {
  const cells = headings.map((heading) => `<th scope="col">${escaped(heading)}</th>`);
  return `<tr class="head">${cells.join('')}</tr>`;
}

/** Of a table of a paper, with what is written below in smaller letters. */
export function rowOf(cells: readonly { text: string; below?: string }[]): string {
  const inner = cells.map(({ text, below = '' }) => {
    const small = below === '' ? '' : tag('small', {}, [apart(below)]);
    return `<td>${apart(text)}${small}</td>`;
  });
  return `<tr>${inner.join('')}</tr>`;
}

/** On a narrow screen each cell is a line of its own, which begins with its heading. */
function namedRow(headings: readonly string[], cells: readonly string[]): string {
  const inner = cells.map((cell, index) => {
    const name = escaped(headings[index] ?? '');
    return `<td data-name="${name}">${apart(cell)}</td>`;
  });
  return `<tr>${inner.join('')}</tr>`;
}

function cellRow(cells: readonly string[], kind = ''): string {
  const inner = cells.map((cell) => `<td>${apart(cell)}</td>`).join('');
  return kind === '' ? `<tr>${inner}</tr>` : `<tr class="${kind}">${inner}</tr>`;
}

function paragraph(kind: string, text: string): string {
  return `<p class="${kind}">${apart(text)}</p>`;
}

/** Text of its own direction, which leaves that of its neighbours alone. */
function apart(text: string): string {
  return text === '' ? '' : `<bdi>${escaped(text)}</bdi>`;
}
