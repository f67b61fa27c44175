// Texts with placeholders.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { mailText } from '../../src/domain/delivery/mail-text.ts';
import type { BillDocument } from '../../src/domain/documents/bill-document.ts';
import { formatsOf } from '../../src/domain/documents/formats.ts';
import {
  fillLine,
  fillLines,
  fillNotes,
  placeholderNames,
  templateProblem,
} from '../../src/domain/documents/template.ts';
import { letterhead, ordinary, ordinaryBill } from './ordinary-bill.ts';

const source = (over: Partial<BillDocument> = {}) => ({
  bill: { ...ordinaryBill, ...over },
  letterhead,
  formats: formatsOf('en-PK', 'PKR', 2),
});

function messageOf(template: string): string {
  try {
    fillLines(template, source());
  } catch (error) {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'TEMPLATE_INVALID');
    return error.message;
  }
  return assert.fail(`${template} was filled`);
}

test('placeholders become the values of the bill, in the forms of the locale', () => {
  const cases = {
    '{{bill.partyName}}': 'A. Khan',
    '{{ bill.billNumber }}': 'ELEC-2025-000991',
    '{{bill.payableWithinDueDate}} {{bill.currency}}': '14,842.00 PKR',
    'by {{bill.dueDate}}.': 'by 15-Aug-2025.',
    '{{bill.address.city}}': 'Lahore',
    '{{bill.address}}': '12-B, Street 4, Block C, Gulberg III, Lahore',
    '{{letterhead.name}} {{letterhead.phone}}':
      'City Power & Light Company Limited +92 42 111 000 222',
    'ref {{bill.connectionRefNo}}.': 'ref .',
    'a { b } {c}': 'a { b } {c}',
  };
  for (const [template, text] of Object.entries(cases)) {
    assert.equal(fillLines(template, source()), text);
  }
});

test('the default templates of a workspace can be filled', () => {
  const body = 'Bill {{bill.billNumber}}\n{{bill.partyName}}\n{{bill.lines}}\n';
  assert.match(fillLines(body, source()), /^Energy charges: 9,988\.12$/m);
});

test('the default mail of a workspace does not ask for a payment of nothing', () => {
  const schema = readFileSync(new URL('../../migrations/schema.sql', import.meta.url), 'utf8');
  const request =
    /Please pay [^']*\{\{bill\.dueDate\}\}\./.exec(schema)?.[0] ?? assert.fail('gone');
  const text = (over: Partial<BillDocument>, body = request) => {
    const input = { ...ordinary, bill: { ...ordinaryBill, ...over } };
    return mailText(input, { subject: null, body }).text.split('\n\n')[0];
  };
  assert.equal(text({}), 'Please pay 14,842.00 PKR by 15-Aug-2025.');
  const owesNothing = { payableWithinDueDate: 0, creditBalance: 0 };
  assert.equal(text(owesNothing), 'There is nothing to pay.');
  assert.equal(
    text({ payableWithinDueDate: 0, creditBalance: 1250.5 }),
    'There is nothing to pay. 1,250.50 PKR to your credit is carried forward.',
  );
  const own = 'To pay: {{bill.payableWithinDueDate}} by {{bill.dueDate}}.';
  assert.equal(text(owesNothing, own), 'To pay: 0.00 by 15-Aug-2025.');
});

test('every name that is offered can be filled', () => {
  for (const name of placeholderNames) fillLines(`{{${name}}}`, source());
});

test('an unknown name, an invalid form and an open placeholder are reported', () => {
  assert.match(messageOf('Dear {{bill.nmae}}'), /nothing named \{\{bill\.nmae\}\}/);
  assert.match(messageOf('{{#each bill.lines}}x{{/each}}'), /\{\{#each bill\.lines\}\}/);
  assert.match(messageOf('{{}}'), /not a placeholder/);
  assert.match(messageOf('Dear {{bill.partyName'), /without its counterpart/);
  assert.match(messageOf('Dear bill.partyName}}'), /without its counterpart/);
  assert.match(messageOf('{{{bill.partyName}}}}'), /without its counterpart/);
});

test('no name of the language leads anywhere', () => {
  for (const name of [
    'constructor',
    '__proto__',
    'bill.constructor',
    'bill.__proto__',
    'bill.toString',
    'bill.address.constructor',
    'bill.lines.constructor.constructor',
    'letterhead.logo',
    'process.env',
    'bill["partyName"]',
    'bill.partyName()',
  ]) {
    assert.notEqual(templateProblem(`{{${name}}}`), undefined, name);
  }
});

test('a value that is demanded must be there', () => {
  assert.equal(fillLines('{{bill.dueDate!}}', source()), '15-Aug-2025');
  assert.match(
    messageOf('{{bill.connectionRefNo!}}'),
    /no value for \{\{bill\.connectionRefNo!\}\}/,
  );
});

test('values cannot break out of a line, turn it around, or be filled again', () => {
  const odd = source({
    partyName: 'Eve\r\nBcc: x@evil.example\u2028\u202e\u0000 {{bill.arrears}}',
  });
  const subject = fillLine('Bill for {{bill.partyName}}', odd);
  assert.equal(subject, 'Bill for Eve Bcc: x@evil.example {{bill.arrears}}');
  assert.equal(fillLine('a\r\nb', odd), 'a b');
  const lines = fillLines('Dear {{bill.partyName}},\r\n\r\nregards', odd);
  assert.equal(lines, 'Dear Eve Bcc: x@evil.example {{bill.arrears}},\n\nregards');
});

test('in the notes of a bill, a value of the other direction is walled off', () => {
  const urdu = source({ partyName: 'محمد خان' });
  assert.equal(
    fillNotes('Dear {{bill.partyName}}, 5', urdu, 'ltr'),
    'Dear \u2068محمد خان\u2069, 5',
  );
  assert.equal(fillNotes('Dear {{bill.partyName}}', source(), 'ltr'), 'Dear A. Khan');
});

test('a template that grows without end is stopped, and a hostile one costs no time', () => {
  const lines = Array.from({ length: 500 }, () => ({
    ...(ordinaryBill.lines[0] as (typeof ordinaryBill.lines)[0]),
    label: 'x'.repeat(200),
  }));
  const body = '{{bill.lines}}'.repeat(100);
  assert.throws(() => fillLines(body, source({ lines })), { code: 'DOCUMENT_TOO_LONG' });
  const startedMs = performance.now();
  for (const text of ['{{'.repeat(100_000), `{{${' '.repeat(200_000)}`, '}}{{'.repeat(50_000)]) {
    assert.notEqual(templateProblem(text), undefined);
  }
  assert.ok(performance.now() - startedMs < 2_000);
});
