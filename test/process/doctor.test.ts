// billwright doctor, as an operator calls it: on a healthy installation, and on one with faults.
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startMailServer } from '../support/mail-server.ts';
import { finish, openPlace, takePort } from '../support/program.ts';

const place = await openPlace('file');
const mailServer = await startMailServer();
after(() => mailServer.close());

test('doctor names a mail server that does not answer and a key that others can read', async () => {
  const key = join(place.folder, 'secret.key');
  writeFileSync(key, `${Buffer.alloc(32).toString('base64')}\n`);
  chmodSync(key, 0o644);
  const { port, free } = await takePort();
  await free();
  const env = { SMTP_URL: `smtp://user:hidden@127.0.0.1:${port}`, SECRET_KEY_FILE: key };
  const { code, output } = await finish(place.run(['doctor'], env));
  assert.equal(code, 1, output);
  assert.match(
    output,
    /^PROBLEM {2}secret key: other accounts can read .*secret\.key\. Run chmod/m,
  );
  assert.match(output, /^PROBLEM {2}mail: 127\.0\.0\.1:\d+ refuses: .*ECONNREFUSED.*SMTP_URL\.$/m);
  assert.match(output, /^2 problems/m);
  assert.doesNotMatch(output, /hidden/);
});

test('doctor finds nothing wrong with a healthy installation, and sends no mail', async () => {
  assert.equal((await finish(place.run(['migrate']))).code, 0);
  const env = { SMTP_URL: mailServer.url };
  const { code, output } = await finish(place.run(['doctor'], env));
  assert.equal(code, 0, output);
  for (const line of [
    /^ok {7}program: Node\.js \d+/m,
    /^ok {7}schema: up to date$/m,
    /^ok {7}database: PostgreSQL \d+/m,
    /^ok {7}clocks: this machine and the database agree$/m,
    /^warning {2}workers: none was seen .* until billwright start or billwright work runs\.$/m,
    /^ok {7}jobs, mails and webhooks: none is late$/m,
    /^ok {7}mail: .* accepts the login$/m,
    /^0 problems, \d+ warnings?$/m,
  ]) {
    assert.match(output, line);
  }
  assert.equal(mailServer.received.length, 0);
});

test('doctor goes on without a database, and says what to do', async () => {
  const { port, free } = await takePort();
  await free();
  const env = { DATABASE_URL: `postgresql://billwright:hidden@127.0.0.1:${port}/none` };
  const { code, output } = await finish(place.run(['doctor'], env));
  assert.equal(code, 1, output);
  assert.match(
    output,
    /^PROBLEM {2}database: it cannot be used: .*ECONNREFUSED.* Start PostgreSQL, or check DATABASE_URL\.$/m,
  );
  assert.match(output, /^ok {7}mail: /m);
  assert.match(output, /^1 problem, 0 warnings$/m);
  assert.doesNotMatch(output, /hidden/);
});
