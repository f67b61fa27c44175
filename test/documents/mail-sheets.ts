// Draws the mails of a bill, a reminder and a receipt as a phone and a computer show them, to be
// looked at: npm run mail-sheets [folder]. Needs Chromium. The plain texts are written beside.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { mailText } from '../../src/domain/delivery/mail-text.ts';
import { type NoticeLook, noticeMail } from '../../src/domain/delivery/notice-mail.ts';
import type { NoticeToSend } from '../../src/domain/delivery/notices-store.ts';
import type { MailWords } from '../../src/domain/delivery/render-outcome.ts';
import type { BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import { billView } from '../../src/domain/documents/bill-view.ts';
import { logoData } from '../../src/domain/documents/html.ts';
import { kindLabelsOf } from '../../src/domain/documents/kind-labels.ts';
import { portalOf } from '../../src/domain/documents/mail-page.ts';
import { chromiumProgram } from '../support/chromium.ts';
import { languages } from './sheet-languages.ts';

const widths = [360, 800];

type Words = { bill: string; reminder: string };

/** Words of a template by language. */
const words: Readonly<Record<string, Words>> = {
  en: {
    bill: `Dear {{bill.partyName}},

your bill {{bill.billNumber}} of {{bill.issueDate}} is attached. Please pay {{bill.payableWithinDueDate}} {{bill.currency}} by {{bill.dueDate}}.

{{letterhead.name}}`,
    reminder: 'your account is overdue. Please pay within seven days.',
  },
  ur: {
    bill: `محترم {{bill.partyName}}،

آپ کا بل {{bill.billNumber}} منسلک ہے۔ براہ کرم {{bill.dueDate}} تک {{bill.payableWithinDueDate}} روپے ادا کریں۔`,
    reminder: 'آپ کے کھاتے میں رقم واجب الادا ہے۔ براہ کرم سات دن میں ادا کریں۔',
  },
  ar: {
    bill: `عزيزي {{bill.partyName}}،

مرفق فاتورتكم {{bill.billNumber}}. يرجى دفع {{bill.payableWithinDueDate}} قبل {{bill.dueDate}}.`,
    reminder: 'لديكم مبلغ متأخر. يرجى الدفع خلال سبعة أيام.',
  },
  hi: {
    bill: `प्रिय {{bill.partyName}},

आपका बिल {{bill.billNumber}} संलग्न है। कृपया {{bill.dueDate}} तक {{bill.payableWithinDueDate}} रुपये का भुगतान करें।`,
    reminder: 'आपकी राशि देय है। कृपया सात दिन में भुगतान करें।',
  },
};

/** A telephone has letters of all scripts; the machine of a test may not. */
const fonts = [
  'noto-sans/400Regular/NotoSans_400Regular.ttf',
  'noto-naskh-arabic/400Regular/NotoNaskhArabic_400Regular.ttf',
].map((file) => {
  const path = fileURLToPath(import.meta.resolve(`@expo-google-fonts/${file}`));
  return `url(data:font/ttf;base64,${readFileSync(path, 'base64')})`;
});
const style = `${fonts.map((source, index) => `@font-face{font-family:F${index};src:${source}}`).join('')}
*{font-family:Arial,F0,F1,sans-serif!important}`;

function mailsOf(input: BillDocumentInput): Record<string, MailWords> {
  const { bill, letterhead } = input;
  const { wording, banks } = billView(input);
  const { bill: body, reminder } = words[input.locale.slice(0, 2)] ?? (words.en as Words);
  const logo = logoData(letterhead.logo);
  const portalAddress = 'https://bills.citypower.example';
  const portal = portalOf(portalAddress);
  const look = { letterhead, wording, pictures: [], portal, banks: new Map([[1, banks]]) };
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
  const { formats } = wording;
  const filled: Readonly<Record<string, string>> = {
    'party.name': bill.partyName ?? '',
    'bill.partyName': bill.partyName ?? '',
    'payment.amount': formats.amount(receipt.amount),
    'payment.currency': bill.currency,
    'bill.currency': bill.currency,
    'payment.date': formats.date(receipt.date),
  };
  const notice = (over: object) => {
    const mail = noticeMail(
      look as unknown as NoticeLook,
      { context_id: 1, kind: 'Reminder', facts, ...over } as unknown as NoticeToSend,
    );
    return { ...mail, html: (mail.html ?? '').replace(/cid:[^"]+/, logo ?? '') };
  };
  return {
    bill: mailText(
      input,
      { subject: 'Your bill {{bill.billNumber}}', body },
      { logo, portalAddress },
    ),
    'bill without a template': mailText(input, null, { logo }),
    reminder: notice({
      subject: 'Overdue',
      body: `${bill.partyName}\n\n${reminder}`,
    }),
    receipt: notice({
      kind: 'Receipt',
      subject: receiptSubject,
      body: receiptWords.replace(/\{\{([^}]*)\}\}/g, (_, name: string) => filled[name] ?? name),
      facts: { ...facts, receipt },
    }),
  };
}

async function draw(browser: Browser, file: string, { html, text }: MailWords): Promise<void> {
  writeFileSync(`${file}.txt`, text);
  for (const width of widths) {
    const page = await browser.newPage({ viewport: { width, height: 600 } });
    await page.setContent(html);
    await page.addStyleTag({ content: style });
    await page.evaluate('document.fonts.ready');
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
