// Mails with HTML beside the text, and their DKIM signature, as receivers read and check them.
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { openDkim } from '../../src/base/mail/dkim.ts';
import { DkimKeyError, readDkimKey } from '../../src/base/mail/dkim-key.ts';
import { createMailer, type MailerOptions } from '../../src/base/mail/mailer.ts';
import type { MailMessage } from '../../src/base/mail/message.ts';
import { readConfig } from '../../src/config.ts';
import { smallLogo } from '../documents/ordinary-bill.ts';
import { startMailServer } from '../support/mail-server.ts';
import { parseMail } from '../support/parsed-mail.ts';

const folder = mkdtempSync(join(tmpdir(), 'billwright-dkim-'));
const server = await startMailServer();

after(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const message: MailMessage = {
  key: { tenantId: 7, deliveryId: 4411 },
  messageId: '<bill-991.delivery-4411.7@billing.example>',
  to: 'a.khan@example.com',
  subject: 'بجلی کا بل ELEC-2025-000991',
  text: 'Dear A. Khan,\n\n.the first line of a paragraph\n',
  html: '<!doctype html><html lang="en"><body><img src="cid:logo@letterhead">Dear A. Khan</body></html>',
  pictures: [
    { id: 'logo@letterhead', contentType: 'image/png', content: Buffer.from(smallLogo, 'base64') },
  ],
  attachments: [
    { filename: 'E-1.pdf', contentType: 'application/pdf', content: Buffer.from('%PDF-1.7') },
  ],
  date: Temporal.Instant.from('2025-08-02T10:00:00Z'),
};

async function sent(over: Partial<MailMessage> = {}, options: Partial<MailerOptions> = {}) {
  const mailer = createMailer({
    smtpUrl: server.url,
    smtpConnections: 1,
    mailFrom: { address: 'billing@city.example', name: 'City Power' },
    dataFolder: '/nonexistent',
    ...options,
  });
  const { outcome } = await mailer.send({ ...message, ...over });
  mailer.close();
  assert.equal(outcome, 'Sent');
  return server.received.at(-1);
}

function keyFile(name: string, key: KeyObject): string {
  const path = join(folder, name);
  writeFileSync(path, key.export({ type: 'pkcs8', format: 'pem' }));
  return path;
}

test('a mail has text and HTML as alternatives, the logo inside and the bill attached', async () => {
  const received = await sent({ senderName: 'Canal Water', replyTo: 'care@canal.example' });
  const mail = await parseMail(received);
  assert.equal(mail.text?.trim(), message.text.trim());
  assert.match(mail.html ?? '', /<img src="cid:logo@letterhead">Dear A\. Khan/);
  assert.deepEqual(mail.from, { name: 'Canal Water', address: 'billing@city.example' });
  assert.equal(received?.from, 'billing@city.example', 'the envelope too');
  assert.deepEqual(
    mail.replyTo?.map((one) => one.address),
    ['care@canal.example'],
  );
  assert.equal(mail.subject, message.subject);
  const header = (name: string) => mail.headers.find(({ key }) => key === name)?.value;
  assert.equal(header('auto-submitted'), 'auto-generated');
  assert.equal(header('list-unsubscribe'), undefined);
  assert.deepEqual(
    mail.attachments.map(({ mimeType, disposition, contentId, related }) => [
      mimeType,
      disposition,
      contentId ?? null,
      related ?? false,
    ]),
    [
      ['image/png', 'inline', '<logo@letterhead>', true],
      ['application/pdf', 'attachment', null, false],
    ],
  );
  const types = [...(received?.text ?? '').matchAll(/^Content-Type: ([a-z/]+)/gm)];
  assert.deepEqual(
    types.map(([, type]) => type),
    [
      'multipart/mixed',
      'multipart/alternative',
      'text/plain',
      'multipart/related',
      'text/html',
      'image/png',
      'application/pdf',
    ],
  );
});

test('a sender name of a workspace cannot add a header or another sender', async () => {
  const received = await sent({ senderName: 'Bank\r\nBcc: thief@evil.example' });
  assert.doesNotMatch(received?.text ?? '', /^Bcc:/im);
  const mail = await parseMail(received);
  assert.equal(mail.from?.address, 'billing@city.example');
});

test('a signed mail is verified with the public key, and a changed one is not', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const file = keyFile('good.pem', privateKey);
  const dkim = openDkim({ keyFile: file, domain: 'city.example', selector: 'billing2026' });
  const received = await sent({}, { dkim });
  const record = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const asked: string[] = [];
  const resolver = async (name: string) => {
    asked.push(name);
    return [[`v=DKIM1; k=rsa; p=${record}`]];
  };
  const verified = async (text: string) => {
    const { results } = await dkimVerify(Buffer.from(text, 'latin1'), { resolver });
    return results.map((one) => [one.status.result, one.signingDomain, one.status.aligned]);
  };
  const text = received?.text ?? '';
  assert.deepEqual(await verified(text), [['pass', 'city.example', 'city.example']]);
  assert.deepEqual(asked, ['billing2026._domainkey.city.example']);
  const signed = /\bh=([^;]+);/.exec(text)?.[1]?.replace(/\s/g, '').toLowerCase().split(':') ?? [];
  for (const name of ['from', 'to', 'subject', 'date', 'message-id', 'content-type']) {
    assert.ok(signed.includes(name), name);
  }
  const changed = [
    text.replace('Dear A. Khan', 'Dear B. Khan'),
    text.replace('a.khan@example.com', 'b.khan@example.com'),
  ];
  for (const other of changed) {
    assert.notEqual(other, text);
    assert.notEqual((await verified(other))[0]?.[0], 'pass');
  }
  assert.equal((await sent({}, { dkim }))?.text, text, 'the same mail is the same bytes');
});

test('the domain that signs is that of the sender unless another is set', () => {
  const signing = { DKIM_KEY_FILE: '/keys/key.pem', DKIM_SELECTOR: 's1' };
  const config = { ...signing, MAIL_FROM: 'a@mail.b.example' };
  const expected = { keyFile: '/keys/key.pem', domain: 'mail.b.example', selector: 's1' };
  assert.deepEqual(readConfig(config).dkim, expected);
  const above = readConfig({ ...config, DKIM_DOMAIN: 'b.example' }).dkim;
  assert.deepEqual(above, { ...expected, domain: 'b.example' });
  assert.equal(readConfig({}).dkim, undefined);
  const selector = { ...config, DKIM_SELECTOR: 's; t=y' };
  assert.throws(() => readConfig(selector), /DKIM_SELECTOR must be a name such as billing2026/);
  const other = { ...config, DKIM_DOMAIN: 'other.example' };
  assert.throws(() => readConfig(other), /DKIM_DOMAIN is other\.example, but MAIL_FROM/);
  assert.throws(() => readConfig({ DKIM_KEY_FILE: '/k' }), /set both DKIM_KEY_FILE and DKIM_SELEC/);
});

test('a key file that cannot sign mails is refused with its reason', () => {
  const curve = generateKeyPairSync('ed25519');
  const short = generateKeyPairSync('rsa', { modulusLength: 512 });
  writeFileSync(join(folder, 'text.pem'), 'secret words');
  const cases: [string, RegExp][] = [
    [join(folder, 'missing.pem'), /missing\.pem cannot be read \(ENOENT\)\. Create one with/],
    [join(folder, 'text.pem'), /text\.pem is not a private key in PEM format without a passphrase/],
    [keyFile('curve.pem', curve.privateKey), /is a key of type ed25519; mails are signed with RSA/],
    [keyFile('short.pem', short.privateKey), /has 512 bits; receivers ignore keys of less than/],
  ];
  for (const [path, reason] of cases) {
    assert.throws(
      () => readDkimKey(path),
      (error) =>
        error instanceof DkimKeyError &&
        reason.test(error.message) &&
        !error.message.includes('secret words'),
    );
  }
});
