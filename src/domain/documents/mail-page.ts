// A mail about money as HTML and as plain text, from one page of words and figures: both parts say
// the same. Mail programs know little of HTML: tables for layout, a style in each element, nothing
// to fetch, no script. Every block sets its text colour and its background, so that a program that
// darkens mails changes both or neither.
import type { BankView } from './bill-view.ts';
import type { Fact } from './fact.ts';
import { escaped, tag } from './html.ts';
import { darkEnough } from './layout/sheet.ts';
import type { Letterhead } from './letterhead.ts';
import { withoutIsolates } from './plain-text.ts';
import type { TotalRow } from './totals-view.ts';
import { joined, type Wording } from './wording.ts';

export type MailPage = {
  readonly wording: Wording;
  readonly letterhead: Letterhead;
  readonly subject: string;
  /** The operator's template, filled. */
  readonly words: string;
  /** Why the amount is not to be paid. */
  readonly warning: string | null;
  readonly amount: Fact | null;
  readonly facts: readonly Fact[];
  /** Sums; the plain text has them among the words. */
  readonly totals: readonly TotalRow[];
  /** Null if nothing is to be paid by the customer. */
  readonly payment: { readonly facts: readonly Fact[]; readonly banks: readonly BankView[] } | null;
  /** Where the customer sees the own bills; null in a workspace that has no address for it. */
  readonly portal: string | null;
};

/** The page of the portal that mails link to. */
export function portalOf(address: string | null): string | null {
  return address === null ? null : `${address}/portal/bills`;
}

const colors = {
  text: '#1b1f24',
  muted: '#57606a',
  card: '#ffffff',
  page: '#eef1f4',
  panel: '#f3f6f8',
  rule: '#c4ccd4',
  warning: '#b42318',
};

/** For programs that follow the reader's choice of a dark screen; others ignore it. */
const darkStyle = `
@media (prefers-color-scheme: dark) {
  .page { background: #14171a !important; }
  .card { background: #1e2226 !important; color: #e8eaed !important; }
  .panel { background: #2a3036 !important; color: #e8eaed !important; }
  .muted { color: #b3bcc5 !important; }
  .rule { border-color: #4a535c !important; }
  .warning { color: #ff9d94 !important; }
  .link { color: #9ecbff !important; }
}
`;

/** `logo` is the address of the picture: inside the mail, or the picture itself. */
export function mailHtml(page: MailPage, logo: string | null): string {
  const { wording } = page;
  const rows = [
    headOf(page, logo),
    page.warning === null ? '' : block(warningOf(page.warning, wording), wording),
    page.words === '' ? '' : block(paragraphs(page.words, wording), wording),
    panelOf(page),
    page.totals.length === 0 ? '' : block(factTable(page.totals, wording), wording),
    paymentOf(page),
    portalPart(page),
    contactOf(page),
  ];
  const accent = `border-top:4px solid ${darkEnough(page.letterhead.color)};`;
  const card = table(`width:100%;max-width:600px;${accent}${pair('card')}`, rows, {
    class: 'card',
    width: '600',
    align: 'center',
  });
  const { locale, direction } = wording;
  const html = [
    '<!doctype html>',
    tag('html', { lang: locale, dir: direction }, [
      '<head><meta charset="utf-8">',
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
      '<meta name="color-scheme" content="light dark">',
      '<meta name="supported-color-schemes" content="light dark">',
      tag('title', {}, [escaped(page.subject)]),
      `<style>${darkStyle}</style></head>`,
      tag('body', { class: 'page', style: `margin:0;padding:0;${pair('page')}` }, [
        table(`width:100%;${pair('page')}`, [cell('padding:12px 8px', [card], {})], {
          class: 'page',
          width: '100%',
          dir: direction,
        }),
      ]),
    ]),
  ];
  return `${html.join('\n')}\n`;
}

/** The same in plain text; a template's words first, as they were written. */
export function mailPlain(page: MailPage): string {
  const { wording, payment } = page;
  const line = ({ label, value }: Fact) => `${label}: ${value}`;
  const figures = [...(page.amount ? [page.amount] : []), ...page.facts].map(line);
  const ways = payment === null ? [] : [wording.labels.howToPay, ...payment.facts.map(line)];
  const banks = payment?.banks.map((bank) => [bank.title, ...bank.facts.map(line)]) ?? [];
  const contact = contactLines(page);
  const blocks = [
    page.warning === null ? [] : [page.warning],
    [page.words],
    figures,
    ways,
    ...banks,
    page.portal === null ? [] : [line({ label: wording.labels.portal, value: page.portal })],
    [wording.labels.questions, ...contact],
  ];
  const texts = blocks.map((lines) => lines.join('\n').trim()).filter((text) => text !== '');
  return `${withoutIsolates(texts.join('\n\n'))}\n`;
}

function headOf({ letterhead, wording }: MailPage, logo: string | null): string {
  const name = spanOf(letterhead.name, wording, 'font-size:18px;font-weight:bold');
  // A logo is drawn for white paper, so it keeps a white ground.
  const style = 'display:block;max-height:48px;max-width:140px;background:#ffffff;padding:4px';
  const picture =
    logo === null ? '' : `<img src="${escaped(logo)}" alt="" height="48" style="${style}">`;
  const cells = [
    picture === '' ? '' : `<td style="padding:0 12px" width="1">${picture}</td>`,
    `<td style="padding:0 12px;${fontOf(wording)}${pair('card')}" class="card">${name}</td>`,
  ];
  return cell(`padding:16px 8px;${pair('card')}`, [
    table('width:100%', [tag('tr', {}, cells)], { width: '100%' }),
  ]);
}

function warningOf(text: string, wording: Wording): string {
  const style = `font-weight:bold;color:${colors.warning}`;
  return `<p class="warning" style="margin:0;${style}">${spanOf(text, wording, '')}</p>`;
}

/** An empty line begins a paragraph; its direction is that of its own words. */
function paragraphs(words: string, wording: Wording): string {
  return words
    .split(/\n{2,}/)
    .map((text) => {
      const dir = directionOf(text, wording.direction);
      const lines = text.split('\n').map(escaped).join('<br>');
      const align = dir === 'rtl' ? 'right' : 'left';
      const style = `margin:0 0 12px;text-align:${align};overflow-wrap:anywhere`;
      return `<p dir="${dir}" style="${style}">${lines}</p>`;
    })
    .join('\n');
}

function panelOf({ amount, facts, wording }: MailPage): string {
  if (amount === null && facts.length === 0) return '';
  const muted = `margin:0;color:${colors.muted}`;
  const large =
    'margin:0 0 8px;font-size:26px;line-height:1.3;font-weight:bold;overflow-wrap:anywhere';
  const parts = [
    amount === null ? '' : `<p class="muted" style="${muted}">${escaped(amount.label)}</p>`,
    amount === null ? '' : `<p style="${large}">${spanOf(amount.value, wording, '')}</p>`,
    factTable(facts, wording),
  ];
  const style = `padding:14px 16px;${fontOf(wording)}${pair('panel')}`;
  const inner = table('width:100%', [cell(style, parts, { class: 'panel' })], { width: '100%' });
  return cell(`padding:4px 20px 12px;${pair('card')}`, [inner]);
}

const room = '<div style="height:8px;line-height:8px">&nbsp;</div>';

function paymentOf({ payment, wording }: MailPage): string {
  if (payment === null) return '';
  const { banks, facts } = payment;
  const bankParts = banks.map((bank) => {
    const style = `margin:10px 0 2px;font-weight:bold`;
    const title = `<p style="${style}">${spanOf(bank.title, wording, '')}</p>`;
    return title + factTable(bank.facts, wording);
  });
  return block(
    [headingOf(wording.labels.howToPay), factTable(facts, wording), ...bankParts, room].join('\n'),
    wording,
  );
}

function portalPart({ portal, wording, letterhead }: MailPage): string {
  if (portal === null) return '';
  const style = `color:${darkEnough(letterhead.color)};font-weight:bold`;
  const link = `<a href="${escaped(portal)}" class="link" style="${style}">`;
  return block(
    `<p style="margin:0 0 8px">${link}${escaped(wording.labels.portal)}</a></p>`,
    wording,
  );
}

/** A line each: a phone offers to call or to write by what it recognises. */
function contactLines({ letterhead, wording }: MailPage): string[] {
  const { name, addressLines, phone, email, website, taxNumber } = letterhead;
  const { labels } = wording;
  const called = phone && joined(wording, ' ', [labels.phone, phone]);
  const taxed = taxNumber && joined(wording, ' ', [labels.taxNumber, taxNumber]);
  return [name, ...addressLines, called, email, website, taxed].filter(
    (line) => !!line,
  ) as string[];
}

function contactOf(page: MailPage): string {
  const { wording } = page;
  const lines = contactLines(page).map((line) => spanOf(line, wording, ''));
  const style = `padding:14px 20px 20px;font-size:13px;border-top:1px solid ${colors.rule};`;
  const muted = `color:${colors.muted};background:${colors.card}`;
  return cell(
    `${fontOf(wording)}${style}${muted}`,
    [`${escaped(wording.labels.questions)}<br>${lines.join('<br>')}`],
    { class: 'card muted rule' },
  );
}

function headingOf(text: string): string {
  return `<p style="margin:8px 0 4px;font-size:16px;font-weight:bold">${escaped(text)}</p>`;
}

/** Characters of a value that fit beside a label on a phone: a bill number does not break. */
const unbrokenMax = 18;

/** The label may wrap; the value keeps the end of the line. */
function factTable(facts: readonly (Fact | TotalRow)[], wording: Wording): string {
  if (facts.length === 0) return '';
  const isReversed = wording.direction === 'rtl';
  const [start, end] = isReversed ? ['right', 'left'] : ['left', 'right'];
  const rows = facts.map((fact) => {
    const isStrong = 'weight' in fact && fact.weight === 'strong';
    const shared = `padding:3px 0;vertical-align:top;${isStrong ? 'font-weight:bold;' : ''}`;
    const label = `${shared}text-align:${start};color:${colors.muted}`;
    const wrap = fact.value.length <= unbrokenMax ? 'white-space:nowrap' : 'overflow-wrap:anywhere';
    const value = `${shared}text-align:${end};${wrap}`;
    const gap = isReversed ? 'padding-left:12px' : 'padding-right:12px';
    const name = spanOf(fact.label, wording, '');
    return tag('tr', {}, [
      `<td class="muted" align="${start}" style="${label};${gap}">${name}</td>`,
      `<td align="${end}" style="${value}">${unbrokenDates(spanOf(fact.value, wording, ''))}</td>`,
    ]);
  });
  return table(`width:100%;${fontOf(wording)}`, rows, { width: '100%' });
}

/** A narrow screen would break a date after its hyphen. */
function unbrokenDates(html: string): string {
  return html.replace(/\d{1,2}-\p{L}+-\d{4}/gu, '<span style="white-space:nowrap">$&</span>');
}

function block(inner: string, wording: Wording): string {
  return cell(`padding:8px 20px;${fontOf(wording)}${pair('card')}`, [inner]);
}

function table(
  style: string,
  rows: readonly string[],
  attributes: Readonly<Record<string, string>>,
): string {
  const plain = { role: 'presentation', cellpadding: '0', cellspacing: '0', border: '0' };
  return tag(
    'table',
    { ...plain, ...attributes, style: `border-collapse:collapse;${style}` },
    rows,
  );
}

function cell(
  style: string,
  inner: readonly string[],
  attributes: Readonly<Record<string, string>> = { class: 'card' },
): string {
  return tag('tr', {}, [tag('td', { ...attributes, style }, inner)]);
}

/** A background and the colour of text on it, always together. */
function pair(ground: 'card' | 'page' | 'panel'): string {
  return `background:${colors[ground]};color:${colors.text};`;
}

/** Programs do not pass a font on into tables. */
function fontOf({ direction }: Wording): string {
  const families =
    direction === 'rtl'
      ? "'Segoe UI',Tahoma,Arial,'Noto Naskh Arabic',sans-serif"
      : "'Segoe UI',Roboto,Helvetica,Arial,'Noto Sans',sans-serif";
  return `font-family:${families};font-size:15px;line-height:1.5;`;
}

/** A text between others, in its own direction: a phone number in Urdu would be turned around. */
function spanOf(text: string, wording: Wording, style: string): string {
  const dir = directionOf(text, wording.direction);
  const styled = style === '' ? '' : ` style="${style}"`;
  return `<span dir="${dir}"${styled}>${escaped(text)}</span>`;
}

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

/** That of the first letter; figures alone run from left to right. */
function directionOf(text: string, usual: 'ltr' | 'rtl'): 'ltr' | 'rtl' {
  const [letter] = /\p{L}/u.exec(text) ?? [];
  if (letter === undefined) return /\d/.test(text) ? 'ltr' : usual;
  return rightToLeft.test(letter) ? 'rtl' : 'ltr';
}
