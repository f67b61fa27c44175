// Names that are formulas, headers, controls or far too long, through everything that leaves the
// system: CSV, PDF, HTML, mail subject, file names, log. Text stays text everywhere.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { withFormula } from '../../src/base/csv/write.ts';
import { pageCount } from '../documents/pdf-reader.ts';
import { refuses } from '../support/client.ts';
import { pdfIn, schedule } from '../support/delivery.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { startMailServer } from '../support/mail-server.ts';
import { openPostedTerm, type PostedTerm } from '../support/posted-term.ts';
import { openScene } from '../support/scene.ts';

const names = [
  "=cmd|' /C calc'!A0",
  '@SUM(1+1)*cmd',
  '+1-2',
  '\tTab',
  'Carriage\rReturn',
  'Line\r\nBcc: everybody@example.com\r\n\r\nbody',
  '\u202eevil\u202c.exe',
  'zero\u200bwidth\ufeff',
  'emoji 🧾👨‍👩‍👧‍👦',
  '<script>alert(1)</script>{{bill.billNumber}}',
  '../../etc/passwd',
  'n'.repeat(200),
  // Line and paragraph separators, a next line, a lone escape.
  'a\u2028b\u2029c\u0085d\u001b[31m',
];

const scene = await openScene();
const mailServer = await startMailServer();
after(() => mailServer.close());
const equipment = openTestEquipment({ smtpUrl: mailServer.url });
scene.runJobs({ equipment });
const client = await scene.workspace('hostile');
let term: PostedTerm;

test('bills of all these names are made, published and sent', async () => {
  await client.updateTemplate({ data: { templateID: 2, subject: 'For {{bill.partyName}}' } });
  const parties = names.map((name, index) => ({ name, email: `c${index}@example.com` }));
  term = await openPostedTerm(scene, client, parties);
  await client.publishBills(schedule(term.termId));
  const { message } = await client.distributeBills(schedule(term.termId));
  assert.equal(message, `${names.length} sent`);
});

test('what no text can be is refused', async () => {
  const make = (name: string) => client.makeUsers({ userType: 'customer', users: [{ name }] });
  await refuses(make('nul\0nul'), 'INVALID_CHARACTER');
  await refuses(make('half \ud800 a pair'), 'INVALID_CHARACTER');
  await refuses(make('x'.repeat(4_000)), 'FIELD_TOO_LONG');
});

const headerNames = new Set([
  'from',
  'to',
  'reply-to',
  'subject',
  'message-id',
  'date',
  'auto-submitted',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
]);

/** Headers of the mail itself, unfolded. */
function headersOf(text: string): Map<string, string> {
  const [head = ''] = text.split('\r\n\r\n');
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const pairs = lines.map((line): [string, string] => {
    const at = line.indexOf(':');
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
  });
  assert.equal(new Set(pairs.map(([name]) => name)).size, pairs.length, 'no header appears twice');
  return new Map(pairs);
}

/** The words of a header that were encoded. */
function decoded(header: string): string {
  return header
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(word, 'base64').toString('latin1')
        : word
            .replaceAll('_', ' ')
            .replace(/=([0-9A-F]{2})/gi, (__, hex: string) =>
              String.fromCharCode(Number.parseInt(hex, 16)),
            ),
    );
}

test('every mail has the headers it should, one recipient, and a harmless file name', () => {
  assert.equal(mailServer.received.length, names.length);
  for (const [index, name] of names.entries()) {
    const mails = mailServer.received.filter(({ to }) => to[0] === `c${index}@example.com`);
    assert.equal(mails.length, 1, name);
    const { to, text } = mails[0] ?? assert.fail();
    assert.deepEqual(to, [`c${index}@example.com`]);
    const headers = headersOf(text);
    for (const header of headers.keys()) assert.ok(headerNames.has(header), `${name}: ${header}`);
    assert.equal(headers.get('to'), `c${index}@example.com`);
    const subject = Buffer.from(decoded(headers.get('subject') ?? ''), 'latin1').toString('utf8');
    assert.match(subject, /^For /);
    assert.doesNotMatch(subject, /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u, name);
    const files = [...text.matchAll(/filename=("?)([^"\r\n;]*)\1/g)].map(([, , file = '']) => file);
    assert.equal(files.length, 1);
    assert.match(files[0] ?? '', /^[A-Za-z0-9][A-Za-z0-9._-]*\.pdf$/);
    assert.ok(pageCount(pdfIn(text)) >= 1);
  }
});

test('a placeholder in a name is not filled in', () => {
  const { text } = mailServer.received.find(({ to }) => to[0] === 'c9@example.com') ?? { text: '' };
  const subject = decoded(headersOf(text).get('subject') ?? '');
  assert.equal(subject, 'For <script>alert(1)</script>{{bill.billNumber}}');
});

test('documents are made of every name, and HTML runs none of them', async () => {
  for (const { billId } of term.bills) {
    const { data } = await client.getBillDocument({ billID: billId, format: 'HTML' });
    const html = Buffer.from(data.base64, 'base64').toString('utf8');
    assert.doesNotMatch(html, /<script/i);
    const pdf = (await client.getBillDocument({ billID: billId })).data;
    assert.ok(pageCount(Buffer.from(pdf.base64, 'base64')) >= 1);
  }
});

test('no cell of an export is a formula, and every name comes back as it was', async () => {
  for (const kind of ['Parties', 'Subscriptions'] as const) {
    const { lines } = (await client.exportData({ kind })).data;
    const rows = parse(lines.join('\r\n')) as string[][];
    for (const cell of rows.flat()) {
      assert.ok(!/^[=+\-@\t\r|]/.test(cell) || /^[+-]?\d+(\.\d+)?$/.test(cell), cell);
    }
    if (kind === 'Subscriptions') continue;
    const column = rows[0]?.indexOf('name') ?? -1;
    const cells = rows.slice(1).map((row) => withFormula(row[column] ?? ''));
    assert.deepEqual(
      cells,
      names.map((name) => name.trim()),
    );
  }
});

test('one thing that happened is one line of the log, whatever it names', () => {
  assert.ok(scene.logged.length > 20);
  for (const line of scene.logged) {
    assert.match(line, /^\{[^\n\r]*\}\n$/);
    const { msg } = JSON.parse(line);
    assert.doesNotMatch(String(msg ?? ''), /\p{Cc}/u);
  }
});

test('printed bills lie in a file whose name is of our making', async () => {
  await client.updateSettings({ data: { deliveryChannels: ['Print'] } });
  const { operation, data } = schedule(term.termId);
  await client.distributeBills({ operation, data: { ...data, resend: true } });
  const files = readdirSync(equipment.dataFolder, { recursive: true, encoding: 'utf8' });
  assert.ok(files.some((file) => file.endsWith('.pdf')));
  for (const file of files) assert.match(file, /^[A-Za-z0-9._/-]+$/);
});
