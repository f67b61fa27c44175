// Draws every kind of document in every language, with names, lines and totals that are hard to
// print, as contact sheets to be looked at: npm run contact-sheets [folder]. Needs pdftoppm.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import type { BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import { markFile } from '../../src/domain/documents/mark.ts';
import { renderBill } from '../../src/domain/documents/render-bill.ts';
import { renderPaper } from '../../src/domain/documents/render-paper.ts';
import { line, ordinaryBill } from './ordinary-bill.ts';
import { papersOf } from './sample-papers.ts';
import { languages } from './sheet-languages.ts';

const history = ordinaryBill.history.map((term, index) => ({
  ...term,
  month: String(202407 + index + (index > 5 ? 88 : 0)),
}));

const many = Array.from({ length: 40 }, (_, index) =>
  line({
    lineNo: index + 1,
    label: `Charge ${index + 1}`,
    quantity: '120',
    unit: 'kwh',
    rate: '4.5',
    amount: 540,
    ...(index < 20 ? { toDate: '15/07/2025', days: 15 } : { fromDate: '16/07/2025', days: 16 }),
  }),
);

/** What is hard to print, on the bill of a language. */
function casesOf(input: BillDocumentInput): Record<string, BillDocumentInput> {
  const bill = { ...input.bill, history };
  const with_ = (over: Partial<typeof bill>): BillDocumentInput => ({
    ...input,
    amountInWords: true,
    bill: { ...bill, ...over },
  });
  const [first] = bill.lines;
  const tax = { basis: { percent: '17', of: '11370.34' } };
  const lines = bill.lines.map((one) => (one.rate === '17' ? { ...one, ...tax } : one));
  const past = {
    previousBalance: 13_500,
    paymentsReceived: 12_250.4,
    payments: [
      { date: '03/07/2025', amount: 12_000 },
      { date: '21/07/2025', amount: 250.4 },
    ],
  };
  const cancelled = {
    status: 'Cancelled',
    creditNoteNumber: 'CN-2025-000017',
    replacedByBillNumber: 'ELEC-2025-001203',
  };
  const creditNote = {
    number: 'CN-2025-000017',
    issueDate: '09/08/2025',
    reason: 'Reading corrected',
    amount: 1_500.25,
    walletAmount: 0,
    lines: [{ component: 'energyCharge', amount: 1_500.25 }],
  };
  const credited = Array.from({ length: 40 }, (_, index) => ({
    component: `charge${index + 1}`,
    amount: 37.5,
  }));
  const longName = with_({
    partyName: `${bill.partyName} `.repeat(12),
    connectionGroupLabel: `${bill.connectionGroupLabel} `.repeat(9),
  });
  return {
    ordinary: with_({ lines, ...past }),
    'long name': longName,
    'one line': with_({ lines: first === undefined ? [] : [first] }),
    'forty lines': with_({
      lines: many,
      currentCharges: 21_600,
      payableWithinDueDate: 22_850,
      payableAfterDueDate: 24_209,
    }),
    negative: with_({
      payableWithinDueDate: 0,
      latePaymentSurcharge: 0,
      creditBalance: 250.75,
      currentCharges: -1_500.35,
    }),
    final: with_({ billType: 'Final', lines, ...past }),
    'credit note': { ...with_({}), creditNote },
    'credit note of forty lines': { ...with_({}), creditNote: { ...creditNote, lines: credited } },
    'credit note with a long name': { ...longName, creditNote },
    cancelled: with_(cancelled),
    'cancelled of forty lines': with_({ ...cancelled, lines: many, currentCharges: 21_600 }),
  };
}

/** Pages beside each other on white, as many as go into a row. */
function sheetOf(pictures: readonly PNG[]): Buffer {
  const perRow = 4;
  const wide = Math.max(...pictures.map((one) => one.width));
  const high = Math.max(...pictures.map((one) => one.height));
  const rows = Math.ceil(pictures.length / perRow);
  const sheet = new PNG({ width: wide * perRow, height: high * rows });
  sheet.data.fill(0xc8);
  pictures.forEach((one, index) => {
    const x = (index % perRow) * wide;
    const y = Math.floor(index / perRow) * high;
    PNG.bitblt(one, sheet, 0, 0, one.width - 2, one.height - 2, x, y);
  });
  return PNG.sync.write(sheet);
}

function draw(folder: string, name: string, bytes: Buffer): PNG[] {
  const file = join(folder, `${name.replaceAll(' ', '-')}`);
  writeFileSync(`${file}.pdf`, bytes);
  execFileSync('pdftoppm', ['-r', '60', '-png', `${file}.pdf`, file]);
  const prefix = `${name.replaceAll(' ', '-')}-`;
  const pages = readdirSync(folder).filter(
    (one) => one.startsWith(prefix) && /-\d+\.png$/.test(one),
  );
  return pages.sort().map((page) => PNG.sync.read(readFileSync(join(folder, page))));
}

const root = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'contact-sheets-'));
for (const [language, input] of Object.entries(languages)) {
  const folder = join(root, language);
  mkdirSync(folder, { recursive: true });
  const bills = Object.entries(casesOf(input)).map(
    ([name, one]) => [name, renderBill(one)] as const,
  );
  const papers = Object.entries(language.includes('-') ? {} : papersOf(input)).map(
    ([name, paper]) => [name, renderPaper(paper)] as const,
  );
  writeSheet(`${language}-bills`, folder, [...bills, ...marked(bills, 'copy', input.locale)]);
  if (papers.length > 0) {
    writeSheet(`${language}-papers`, folder, [
      ...papers,
      ...marked(papers, 'reversed', input.locale),
    ]);
  }
}

type Drawn = readonly (readonly [name: string, bytes: Buffer])[];

/** The first, with a mark across it. */
function marked(files: Drawn, mark: 'copy' | 'reversed', locale: string): Drawn {
  return files
    .slice(0, 1)
    .map(([name, file]) => [`${name} ${mark}`, markFile({ file, mark, locale, title: name })]);
}

function writeSheet(name: string, folder: string, files: Drawn): void {
  const path = join(root, `${name}.png`);
  writeFileSync(path, sheetOf(files.flatMap(([one, bytes]) => draw(folder, one, bytes))));
  const sizes = files.map(([one, bytes]) => `${one} ${Math.ceil(bytes.length / 1000)} kB`);
  console.log(`${path}: ${sizes.join(', ')}`);
}
