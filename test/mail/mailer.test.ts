// Mail is sent unchanged and once, and its outcomes are distinguished.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMailer, type Mailer, type MailerOptions } from '../../src/base/mail/mailer.ts';
import type { MailMessage } from '../../src/base/mail/message.ts';
import { mailRetrySeconds } from '../../src/base/mail/result.ts';
import {
  answer,
  type CutAt,
  type MailScript,
  type MailServer,
  startCut,
  startMailServer,
} from '../support/mail-server.ts';

const message: MailMessage = {
  key: { tenantId: 7, deliveryId: 4411 },
  messageId: '<bill-991.delivery-4411.7@billing.example>',
  to: 'a.khan@example.com',
  subject: 'Your bill ELEC-2025-000991',
  text: 'Dear A. Khan,\n\nyour bill is attached.\n',
  attachments: [
    {
      filename: 'ELEC-2025-000991.pdf',
      contentType: 'application/pdf',
      content: Buffer.from('%PDF-1.7 not really'),
    },
  ],
  date: Temporal.Instant.from('2025-08-02T10:00:00Z'),
};

function mailerTo(smtpUrl: string | undefined, over: Partial<MailerOptions> = {}): Mailer {
  return createMailer({
    smtpUrl,
    smtpConnections: 2,
    mailFrom: { address: 'billing@city.example', name: 'City Power' },
    dataFolder: '/nonexistent',
    silenceMs: 700,
    ...over,
  });
}

async function withServer(
  script: MailScript,
  body: (mailer: Mailer, server: MailServer) => Promise<void>,
): Promise<void> {
  const server = await startMailServer(script);
  const mailer = mailerTo(server.url);
  try {
    await body(mailer, server);
  } finally {
    mailer.close();
    await server.close();
  }
}

/** Of the head of a mail, the lines that begin a header. */
function headerNames(text: string): string[] {
  const head = text.split('\r\n\r\n')[0] ?? '';
  return [...head.matchAll(/^([A-Za-z-]+):/gm)].map((found) => found[1] ?? '').sort();
}

const usualHeaders = [
  'Auto-Submitted',
  'Content-Type',
  'Date',
  'From',
  'MIME-Version',
  'Message-ID',
  'Subject',
  'To',
];

test('a mail arrives with sender, recipient, subject, text, attachment and the given id', () =>
  withServer({}, async (mailer, server) => {
    const result = await mailer.send(message);
    assert.equal(result.outcome, 'Sent');
    const [mail] = server.received;
    assert.ok(mail);
    assert.equal(mail.from, 'billing@city.example');
    assert.deepEqual(mail.to, ['a.khan@example.com']);
    assert.deepEqual(headerNames(mail.text), usualHeaders);
    assert.match(mail.text, /^From: City Power <billing@city\.example>\r$/m);
    assert.match(mail.text, /^To: a\.khan@example\.com\r$/m);
    assert.match(mail.text, /^Subject: Your bill ELEC-2025-000991\r$/m);
    assert.match(mail.text, /^Message-ID: <bill-991\.delivery-4411\.7@billing\.example>\r$/m);
    assert.match(mail.text, /^Date: Sat, 02 Aug 2025 10:00:00 \+0000\r$/m);
    assert.match(mail.text, /your bill is attached\./);
    assert.match(mail.text, /filename=ELEC-2025-000991\.pdf/);
    assert.ok(mail.text.includes(Buffer.from('%PDF-1.7 not really').toString('base64')));
  }));

test('the same mail is the same bytes whenever it is sent', () =>
  withServer({}, async (mailer, server) => {
    await mailer.send(message);
    await mailer.send(message);
    assert.equal(server.received.length, 2);
    assert.equal(server.received[0]?.text, server.received[1]?.text);
  }));

test('no text makes a header, a recipient or a line of its own', () =>
  withServer({}, async (mailer, server) => {
    const hostile = [
      'Bill\r\nBcc: thief@evil.example',
      'Bill\nX-Injected: 1\n\nbody',
      '\u202ellib\u2028Bcc: thief@evil.example',
      '=?utf-8?Q?=0D=0ABcc:_thief@evil.example?=',
      `${'long '.repeat(800)}`,
      '=cmd|calc!A1',
      'بجلی کا بل 😀 विद्युत',
    ];
    for (const subject of hostile) {
      const result = await mailer.send({
        ...message,
        subject,
        replyTo: 'care@city.example\r\nBcc: thief@evil.example',
        attachments: [
          {
            filename: '../../etc/passwd\r\nX-Evil: 1"; name=x',
            contentType: 'application/pdf',
            content: Buffer.from('x'),
          },
        ],
      });
      assert.equal(result.outcome, 'Sent', subject);
    }
    assert.equal(server.received.length, hostile.length);
    for (const mail of server.received) {
      assert.deepEqual(mail.to, ['a.khan@example.com']);
      assert.deepEqual(headerNames(mail.text), usualHeaders);
      assert.doesNotMatch(mail.text, /^(Bcc|X-[A-Za-z]+):/im);
      assert.doesNotMatch(mail.text, /passwd\r?\n|\.\.\//);
    }
  }));

test('only a plain address is sent to', () =>
  withServer({}, async (mailer, server) => {
    const addresses = [
      'a@b.example, thief@evil.example',
      'Name <a@b.example>',
      'a@b.example (comment (thief@evil.example))',
      '"quoted local"@b.example',
      'a@b.example\r\nRCPT TO:<thief@evil.example>',
      'a@b.example\u0000',
      'group: a@b.example;',
      'a@localhost',
      '',
      `${'a'.repeat(300)}@b.example`,
    ];
    for (const to of addresses) {
      const result = await mailer.send({ ...message, to });
      assert.equal(result.outcome, 'Permanent', to);
    }
    assert.deepEqual(server.received, []);
  }));

test('a mail has a plain address for answers', () =>
  withServer({}, async (mailer, server) => {
    await mailer.send({ ...message, replyTo: 'care@city.example' });
    assert.match(server.received[0]?.text ?? '', /^Reply-To: care@city\.example\r$/m);
  }));

test('what the server answers decides: 4xx is temporary, 5xx permanent, with its reason', async () => {
  const cases: { script: MailScript; outcome: string; reason: RegExp }[] = [
    {
      script: { onRecipient: () => answer(450, 'Mailbox busy') },
      outcome: 'Temporary',
      reason: /450 Mailbox busy/,
    },
    {
      script: { onRecipient: () => answer(550, 'No such user') },
      outcome: 'Permanent',
      reason: /550 No such user/,
    },
    {
      script: { onMail: () => answer(451, 'Try later') },
      outcome: 'Temporary',
      reason: /451 Try later/,
    },
    {
      script: { onMail: () => answer(554, 'Looks like spam') },
      outcome: 'Permanent',
      reason: /554 Looks like spam/,
    },
  ];
  for (const { script, outcome, reason } of cases) {
    await withServer(script, async (mailer, server) => {
      const result = await mailer.send(message);
      assert.equal(result.outcome, outcome);
      assert.match(result.detail, reason);
      assert.deepEqual(server.received, []);
    });
  }
});

test('one refusal does not touch the mails that follow on the connection', () =>
  withServer(
    { onRecipient: (to) => (to.startsWith('bad') ? answer(550, 'No such user') : undefined) },
    async (mailer, server) => {
      const results = [];
      for (const name of ['one', 'bad', 'two', 'bad', 'three']) {
        results.push((await mailer.send({ ...message, to: `${name}@example.com` })).outcome);
      }
      assert.deepEqual(results, ['Sent', 'Permanent', 'Sent', 'Permanent', 'Sent']);
      assert.equal(server.received.length, 3);
    },
  ));

async function cutOff(at: CutAt, then: 'close' | 'silence') {
  const server = await startMailServer();
  const cut = await startCut(server.port, at, then);
  const mailer = mailerTo(cut.url);
  try {
    const result = await mailer.send(message);
    // Time for a second attempt, which there must not be.
    await new Promise((resolve) => setTimeout(resolve, 500));
    return { ...result, received: server.received.length };
  } finally {
    mailer.close();
    await cut.close();
    await server.close();
  }
}

test('a connection lost after the end of the mail leaves it uncertain, and it is sent once', async () => {
  const { outcome, received } = await cutOff('end of mail', 'close');
  assert.equal(outcome, 'Uncertain');
  assert.equal(received, 1);
});

test('a server silent after the end of the mail leaves it uncertain, and it is sent once', async () => {
  const { outcome, received } = await cutOff('end of mail', 'silence');
  assert.equal(outcome, 'Uncertain');
  assert.equal(received, 1);
});

test('a connection lost before the mail was said is a temporary failure', async () => {
  for (const then of ['close', 'silence'] as const) {
    const { outcome, received } = await cutOff('recipient', then);
    assert.equal(outcome, 'Temporary', then);
    assert.equal(received, 0);
  }
});

test('a server that trickles its answers is given up', async () => {
  const server = createServer((socket) => {
    socket.write('220 welcome\r\n');
    const timer = setInterval(() => socket.write('250-please wait\r\n'), 20);
    socket.on('close', () => clearInterval(timer)).on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const mailer = mailerTo(`smtp://127.0.0.1:${port}`, { silenceMs: 100 });
  const results = await Promise.all([mailer.send(message), mailer.send(message)]);
  mailer.close();
  server.close();
  assert.deepEqual(
    results.map(({ outcome }) => outcome),
    ['Temporary', 'Temporary'],
  );
});

test('an unreachable server, a refused login and bad TLS are temporary failures', async () => {
  const gone = await startMailServer();
  await gone.close();
  const plain = await startMailServer();
  const closed = await startMailServer({
    options: {
      disabledCommands: ['STARTTLS'],
      authOptional: false,
      allowInsecureAuth: true,
      authMethods: ['PLAIN'],
      onAuth: (_auth, _session, done) => done(answer(535, 'Wrong password')),
    },
  });
  // Its certificate is not signed by an authority.
  const selfSigned = await startMailServer({ options: { secure: true, disabledCommands: [] } });
  const cases = {
    'unreachable server': gone.url,
    'no TLS where it is demanded': `${plain.url}?requireTLS=true`,
    'a login refused': `smtp://user:secret@127.0.0.1:${closed.port}`,
    'an unsigned certificate': `smtps://127.0.0.1:${selfSigned.port}`,
    'TLS to a server without': `smtps://127.0.0.1:${plain.port}`,
  };
  try {
    for (const [name, url] of Object.entries(cases)) {
      const mailer = mailerTo(url);
      const result = await mailer.send(message);
      mailer.close();
      assert.equal(result.outcome, 'Temporary', `${name}: ${result.detail}`);
      assert.doesNotMatch(result.detail, /secret/, name);
    }
    assert.deepEqual(
      [plain, closed, selfSigned].map((server) => server.received.length),
      [0, 0, 0],
    );
  } finally {
    await Promise.all([plain, closed, selfSigned].map((server) => server.close()));
  }
});

test('many mails at once share the allowed connections', () =>
  withServer({ slowMs: 10 }, async (mailer, server) => {
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        mailer.send({ ...message, to: `n${index}@example.com` }),
      ),
    );
    assert.ok(results.every(({ outcome }) => outcome === 'Sent'));
    assert.equal(server.received.length, 40);
    assert.equal(server.busiest(), 2);
  }));

test('without a server, mail is a file under the numbers of the delivery; again, the same file', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'billwright-outbox-'));
  try {
    const mailer = mailerTo(undefined, { dataFolder });
    // Shown to workspaces, which have no business with the folders of the machine.
    const written = { outcome: 'Sent', detail: 'Written to outbox/7/4411.eml' };
    assert.deepEqual(await mailer.send(message), written);
    const path = join(dataFolder, 'outbox', '7', '4411.eml');
    const first = await readFile(path, 'latin1');
    assert.match(first, /^Subject: Your bill/m);
    assert.equal((await mailer.send(message)).outcome, 'Sent');
    assert.equal(await readFile(path, 'latin1'), first);
    await mailer.send({ ...message, key: { tenantId: 8, deliveryId: 1 } });
    assert.deepEqual(await readdir(join(dataFolder, 'outbox')), ['7', '8']);
    assert.deepEqual(await readdir(join(dataFolder, 'outbox', '7')), ['4411.eml']);
  } finally {
    await rm(dataFolder, { recursive: true });
  }
});

test('a mail that cannot be put in its place leaves nothing half done behind', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'billwright-outbox-'));
  try {
    const own = join(dataFolder, 'outbox', '7');
    await mkdir(join(own, '4411.eml', 'in the way'), { recursive: true });
    await assert.rejects(mailerTo(undefined, { dataFolder }).send(message));
    assert.deepEqual(await readdir(own), ['4411.eml']);
  } finally {
    await rm(dataFolder, { recursive: true });
  }
});

test('attempts come at longer and longer intervals, and end', () => {
  const waits = Array.from({ length: 10 }, (_, index) => mailRetrySeconds(index + 1));
  assert.equal(waits[0], 60);
  assert.equal(waits.at(-1), null);
  const told = waits.filter((wait) => wait !== null);
  assert.deepEqual(
    told,
    told.toSorted((a, b) => a - b),
  );
});

test('a server that could not be opened is opened again for the next mail, and closed cleanly', async () => {
  const mailer = mailerTo('smtp://mail.example:none');
  const failures: unknown[] = [];
  for (let mail = 1; mail <= 2; mail += 1) {
    await mailer.send(message).catch((error: unknown) => failures.push(error));
  }
  assert.equal(failures.length, 2);
  assert.notEqual(failures[0], failures[1], 'it was not tried again');
  mailer.close();
});
