// Draws the mails of a bill, a reminder and a receipt as a phone and a computer show them, to be
// looked at: npm run mail-sheets [folder]. Needs Chromium. The plain texts are written beside.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { mailText } from '../../src/domain/delivery/mail-text.ts';
import { type NoticeLook, noticeMail } from '../../src/domain/delivery/notice-mail.ts';
import type { NoticeToSend } from '../../src/domain/delivery/notices-store.ts';
import type { MailWords } from '../../src/domain/delivery/render-outcome.ts';
import type { BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import { billView } from '../../src/domain/documents/bill-view.ts';
import { logoData } from '../../src/domain/documents/html.ts';
import { kindLabelsOf } from '../../src/domain/documents/kind-labels.ts';
import { chromiumProgram } from '../support/chromium.ts';
import { languages } from './sheet-languages.ts';

const widths = [360, 800];

const body = `Dear {{bill.partyName}},

your bill {{bill.billNumber}} of {{bill.issueDate}} is attached. Please pay {{bill.payableWithinDueDate}} {{bill.currency}} by {{bill.dueDate}}.

{{letterhead.name}}`;

function mailsOf(input: BillDocumentInput): Record<string, MailWords> {
  const { bill, letterhead } = input;
  const { wording, banks } = billView(input);
  const logo = logoData(letterhead.logo);
  const look = { letterhead, wording, pictures: [], banks: new Map([[1, banks]]) };
  const facts = {
    partyNumber: bill.partyNumber,
    connectionNumber: bill.connectionNumber,
    dueDate: '15/08/2025',
    outstandingAmount: 16_201,
    creditBalance: 0,
  };
  const { receiptSubject, receiptWords } = kindLabelsOf(input.locale);
  const receipt = {
    paymentId: 1,
    amount: 16_201,
    date: '20/08/2025',
    receiptNumber: 'GATE-2025-000017',
    reference: 'TT-1',
    method: 'Cash',
  };
  const notice = (over: object) => {
    const mail = noticeMail(
      look as unknown as NoticeLook,
      { context_id: 1, kind: 'Reminder', facts, ...over } as unknown as NoticeToSend,
    );
    return { ...mail, html: (mail.html ?? '').replace(/cid:[^"]+/, logo ?? '') };
  };
  return {
    bill: mailText(input, { subject: 'Your bill {{bill.billNumber}}', body }, logo),
    'bill without a template': mailText(input, null, logo),
    reminder: notice({
      subject: 'Overdue',
      body: `Dear ${bill.partyName},\n\nyour account is overdue. Please pay within seven days.`,
    }),
    receipt: notice({
      kind: 'Receipt',
      subject: receiptSubject,
      body: receiptWords.replace(/\{\{[^}]*\}\}/g, '…'),
      facts: { ...facts, receipt },
    }),
  };
}

async function draw(browser: Browser, file: string, { html, text }: MailWords): Promise<void> {
  writeFileSync(`${file}.txt`, text);
  for (const width of widths) {
    const page = await browser.newPage({ viewport: { width, height: 600 } });
    await page.setContent(html);
    const wide = await page.evaluate('document.documentElement.scrollWidth');
    if (Number(wide) > width) console.log(`${file} is ${wide} wide on a screen of ${width}`);
    await page.screenshot({ path: `${file}-${width}.png`, fullPage: true });
    await page.close();
  }
}

const root = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'mail-sheets-'));
const browser = await chromium.launch({
  executablePath: chromiumProgram() ?? '',
  args: ['--no-sandbox'],
});
for (const [language, input] of Object.entries(languages)) {
  if (language.includes('-')) continue;
  mkdirSync(join(root, language), { recursive: true });
  for (const [name, mail] of Object.entries(mailsOf(input))) {
    await draw(browser, join(root, language, name.replaceAll(' ', '-')), mail);
  }
}
await browser.close();
console.log(root);
