// Bills as mails: HTML for any mail program, and the same in plain text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailText } from '../../src/domain/delivery/mail-text.ts';
import { readLetterhead } from '../../src/domain/documents/letterhead.ts';
import { wordsOf } from '../support/parsed-mail.ts';
import { allBills, urdu } from './bills.ts';
import { line, ordinary, ordinaryBill } from './ordinary-bill.ts';

const template = {
  subject: 'Your bill {{bill.billNumber}}',
  body: 'Dear {{bill.partyName}},\n\nyour bill is attached.\nThank you.',
};

test('HTML and text of a bill mail have the words, the amount, the dates and how to pay', () => {
  const { subject, text, html } = mailText(ordinary, template);
  assert.equal(subject, 'Your bill ELEC-2025-000991');
  for (const shown of [text.replace(/:? *\n/g, ' ').replaceAll(':', ''), wordsOf(html)]) {
    for (const words of [
      'Dear A. Khan, your bill is attached. Thank you.',
      'Payable by 15-Aug-2025 PKR 14,842.00',
      'Payable after 15-Aug-2025 PKR 16,201.00',
      'Due date 15-Aug-2025',
      'How to pay Payment reference 1000009910 ',
      'IBAN PK36 SCBL 0000 0011 2345 6702',
      'Union Bank – City Power Limited',
      'Do you have questions? Contact us. City Power & Light Company Limited 22 Canal Road',
      'Tel. +92 42 111 000 222 care@citypower.example',
    ]) {
      const found = shown.replace(/\s+/g, ' ');
      assert.ok(found.includes(words), `${words} in ${found}`);
    }
  }
  assert.match(html, /<p dir="ltr" [^>]*>your bill is attached\.<br>Thank you\.<\/p>/);
  assert.match(html, /<img src="cid:logo@letterhead" alt=""/);
  assert.match(html, /nowrap">01-Jul-2025<\/span> – <span[^>]*>31-Jul-2025</, 'dates stay whole');
});

test('a mail fetches nothing, has no script, and sets colours in pairs', () => {
  for (const input of Object.values(allBills)) {
    for (const words of [template, null]) {
      const { html } = mailText(input, words);
      assert.doesNotMatch(html, /<(?:script|link|iframe|object|form|base|a|svg|video)\b/i);
      assert.doesNotMatch(html, /url\(|@import|https?:|\son[a-z]+=/i);
      assert.doesNotMatch(html, /src="(?!cid:)/);
      for (const [style] of html.matchAll(/style="[^"]*background:#[^"]*"/g)) {
        assert.ok(/[;"]color:#/.test(style) || style.includes('max-height'), style);
      }
      assert.ok(Buffer.byteLength(html) < 100_000, 'longer mails are cut by some programs');
    }
  }
});

test('a mail names the portal where the workspace has one, in the language of the mail', () => {
  const portalAddress = 'https://bills.citypower.example';
  const page = `${portalAddress}/portal/bills`;
  for (const words of [template, null]) {
    const { html, text } = mailText(ordinary, words, { portalAddress });
    assert.equal(html.match(/<a\b[^>]*>/g)?.length, 1);
    assert.ok(html.includes(`<a href="${page}"`), 'the link of the HTML');
    assert.match(wordsOf(html), /See your bills online Do you have questions\?/);
    assert.match(text, new RegExp(`^See your bills online: ${page}$`, 'm'));
    assert.doesNotMatch(mailText(ordinary, words).text, /online/);
  }
  assert.match(wordsOf(mailText(urdu, template, { portalAddress }).html), /اپنے بل آن لائن دیکھیں/);
});

test('a mail in Urdu runs from right to left, and each paragraph as its own words do', () => {
  const body = 'محترم {{bill.partyName}}\n\nDear customer';
  const { html } = mailText(urdu, { subject: 'بل', body });
  assert.match(html, /<html lang="ur-PK" dir="rtl">/);
  assert.match(html, /<p dir="rtl" style="margin:0 0 12px;text-align:right;[^"]*">محترم/);
  assert.match(html, /<p dir="ltr" style="margin:0 0 12px;text-align:left;[^"]*">Dear customer/);
  assert.match(html, /ادائیگی کا طریقہ/);
  assert.match(html, /<span dir="ltr">0021-778812-01<\/span>/);
});

test('hostile texts stay text in a mail', () => {
  const hostile = `<script>alert(1)</script>"' onload=alert(1) </style> & \u202e`;
  const bill = {
    ...ordinaryBill,
    partyName: hostile,
    billNumber: hostile,
    connectionNumber: hostile,
    lines: [line({ label: hostile, amount: 1 })],
    bankAccounts: ordinaryBill.bankAccounts.map((bank) => ({ ...bank, title: hostile })),
  };
  const letterhead = readLetterhead({
    name: hostile,
    country: 'PK',
    letterhead: { website: hostile, color: 'red', logo: Buffer.from(hostile).toString('base64') },
  });
  const words = { subject: hostile, body: `${hostile} {{bill.partyName}}` };
  const { html } = mailText({ ...ordinary, bill, letterhead }, words);
  const names = (page: string) => new Set(page.match(/<[a-z0-9]+|\s[a-z-]+(?==")/g));
  const usual = names(mailText(ordinary, template).html);
  assert.deepEqual(
    [...names(html)].filter((name) => !usual.has(name)),
    [],
  );
  assert.doesNotMatch(html, /<img|\u202e/, 'a logo that is no picture is left out');
});

test('a bill with nothing to pay names no bank account in its mail', () => {
  const credit = allBills.credit;
  assert.ok(credit);
  const { html, text } = mailText(credit, template);
  for (const shown of [wordsOf(html), text]) {
    assert.doesNotMatch(shown, /How to pay|IBAN/);
    assert.match(shown, /Credit in your favour:? PKR.250\.75/);
  }
});
