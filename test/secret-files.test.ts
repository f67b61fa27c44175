// Settings that have passwords can be read from files, as containers get them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ConfigError, readConfig } from '../src/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'billwright-secrets-'));
after(() => rmSync(folder, { recursive: true }));
const url = 'postgresql://billwright:secret@db.example/billwright';

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

function refuses(env: Record<string, string>, message: RegExp): void {
  assert.throws(
    () => readConfig(env),
    (error) =>
      error instanceof ConfigError && message.test(error.message) && !/secret@/.test(error.message),
  );
}

test('DATABASE_URL_FILE and SMTP_URL_FILE name files with the values', () => {
  const config = readConfig({
    DATABASE_URL_FILE: file('database-url', `${url}\n`),
    API_DATABASE_URL_FILE: file('api-database-url', `${url}-api`),
    SMTP_URL_FILE: file('smtp-url', 'smtp://user:secret@mail.example:587\n'),
  });
  assert.equal(config.databaseUrl, url);
  assert.equal(config.apiDatabaseUrl, `${url}-api`);
  assert.equal(config.workerDatabaseUrl, undefined);
  assert.equal(config.smtpUrl, 'smtp://user:secret@mail.example:587');
});

test('a file of a setting that is set too, missing, empty or invalid is refused', () => {
  const named = (name: string, text: string) => ({ DATABASE_URL_FILE: file(name, text) });
  refuses(
    { ...named('both', url), DATABASE_URL: url },
    /^Set either DATABASE_URL or .+, not both$/,
  );
  refuses({ DATABASE_URL_FILE: join(folder, 'none') }, /^DATABASE_URL_FILE cannot be read: ENOENT/);
  refuses({ DATABASE_URL_FILE: folder }, /^DATABASE_URL_FILE cannot be read: EISDIR/);
  refuses(named('empty', '\n'), /^DATABASE_URL_FILE names .+, which is empty$/);
  refuses(named('invalid', 'mysql://x:secret@y'), /^DATABASE_URL must begin with postgresql/);
});
