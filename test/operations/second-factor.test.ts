// The second factor of a login: codes of an app by RFC 6238, recovery codes, and its reset.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sealSecret, unsealSecret, useSecretKeyFile } from '../../src/base/secret-key.ts';
import { base32, matchingStep, timeStep, totpCode } from '../../src/base/totp.ts';
import { codeOf, fromBase32 } from '../support/authenticator.ts';
import { refuses } from '../support/client.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const rfcSecret = Buffer.from('12345678901234567890');

test('codes are those of RFC 6238, appendix B', () => {
  const vectors: [number, string][] = [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ];
  for (const [seconds, code] of vectors) {
    const at = Temporal.Instant.fromEpochMilliseconds(seconds * 1000);
    assert.equal(totpCode(rfcSecret, timeStep(at), 8), code);
    assert.equal(matchingStep(rfcSecret, code.slice(2), at), timeStep(at));
    assert.equal(matchingStep(rfcSecret, code.slice(2), at.add({ seconds: 61 })), undefined);
  }
  assert.equal(base32(rfcSecret), 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
  assert.equal(base32(Buffer.from('foobar')), 'MZXW6YTBOI');
});

test('a secret is encrypted with the key of a file that is made once', () => {
  const folder = mkdtempSync(join(tmpdir(), 'billwright-key-'));
  try {
    const path = join(folder, 'made', 'secret.key');
    useSecretKeyFile(path);
    const sealed = sealSecret(rfcSecret);
    assert.ok(!sealed.includes(rfcSecret));
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const key = readFileSync(path, 'utf8');
    useSecretKeyFile(path);
    assert.deepEqual(unsealSecret(sealed), rfcSecret);
    assert.equal(readFileSync(path, 'utf8'), key);
    useSecretKeyFile(join(folder, 'other.key'));
    assert.throws(() => unsealSecret(sealed));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const scene = await openScene();
const admin = await scene.workspace('second-factor');
await scene.enter(admin);
const username = 'careful';
const login = { username, name: 'Careful', password: adminPassword, roles: ['Auditor' as const] };
await admin.makeLogins({ logins: [login] });

const visitor = () => scene.visitor('second-factor');
const enter = (code?: string) =>
  visitor().login({ username, password: adminPassword, code: code ?? null });

test('after enrolment a login needs a code, which works once, or a recovery code', async () => {
  const client = visitor();
  client.useToken((await enter()).data.accessToken);
  const { secret, uri } = (await client.enrolTotp({})).data;
  assert.equal(uri, `otpauth://totp/second-factor:careful?secret=${secret}&issuer=second-factor`);
  const code = () => codeOf(secret, scene.clock.now());
  await enter();
  await refuses(client.confirmTotp({ code: '000000' }), 'CODE_WRONG');
  const { recoveryCodes } = (await client.confirmTotp({ code: code() })).data;
  assert.equal(new Set(recoveryCodes).size, 10);
  await refuses(client.enrolTotp({}), 'SECOND_FACTOR_ACTIVE');
  const { rows } = await scene.sql.query(
    'select secret, recovery_hashes from login_factors where confirmed_at is not null',
  );
  assert.ok(!rows[0].secret.includes(fromBase32(secret)));
  assert.ok(!JSON.stringify(rows[0].recovery_hashes).includes(recoveryCodes[0] ?? ''));
  await refuses(enter(), 'CODE_REQUIRED');
  await refuses(enter(code()), 'CODE_WRONG');
  scene.clock.advance({ seconds: 31 });
  await enter(code());
  await refuses(enter(code()), 'CODE_WRONG');
  await enter(recoveryCodes[3]?.toUpperCase());
  await refuses(enter(recoveryCodes[3]), 'CODE_WRONG');
  await refuses(visitor().login({ username, password: 'not the password' }), 'LOGIN_FAILED');
  await admin.resetTotp({ data: { username } });
  await enter();
  await refuses(admin.resetTotp({ data: { username: 'unknown' } }), 'LOGIN_NOT_FOUND');
});

test('wrong codes lock the name as wrong passwords do', async () => {
  const client = visitor();
  client.useToken((await enter()).data.accessToken);
  const { secret } = (await client.enrolTotp({})).data;
  const code = codeOf(secret, scene.clock.now());
  await client.confirmTotp({ code });
  const seen = new Set<string>();
  for (let tries = 0; tries < 12; tries += 1) {
    await enter('123').catch((error: { code: string }) => seen.add(error.code));
  }
  assert.ok(seen.has('CODE_WRONG'));
  assert.ok(seen.has('LOGIN_LOCKED') || seen.has('RATE_LIMITED'));
});
