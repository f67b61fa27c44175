// Receivers whose certificates are of an authority of their own organisation, over real TLS.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { post } from '../../src/base/outside/post.ts';
import { outsideRules, useOutsideRules } from '../../src/base/outside/rules.ts';
import { openAuthority } from '../support/certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'billwright-authority-'));
const closing: (() => void)[] = [() => rmSync(folder, { recursive: true })];
after(() => {
  for (const close of closing) close();
});

const own = openAuthority('City Power');
const caFile = join(folder, 'ca.pem');
writeFileSync(caFile, own.cert);

/** Counts the messages that it reads; a connection without trust reads none. */
async function openServer(names: readonly string[], authority = own) {
  const counts = { messages: 0 };
  const server = createServer(authority.issue(names), (_request, response) => {
    counts.messages += 1;
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { counts, port: (server.address() as AddressInfo).port };
}

function use(file: string | undefined): void {
  useOutsideRules({ allowedAddresses: ['127.0.0.1/32'], allowsHttp: false, caFile: file });
}

function send(url: string) {
  return post({ url, headers: {}, body: '{}', timeoutMs: 5_000 }, outsideRules());
}

test('a certificate of an authority in WEBHOOK_CA_FILE is trusted, and of no other', async () => {
  const { port, counts } = await openServer(['localhost', '127.0.0.1']);
  const stranger = await openServer(['localhost'], openAuthority('City Power'));
  use(undefined);
  const unknown = await send(`https://localhost:${port}/`);
  assert.equal(unknown.outcome, 'Failed');
  assert.match(unknown.detail, /^The certificate was not accepted \(/);
  use(caFile);
  for (const host of ['localhost', '127.0.0.1']) {
    const { status, detail } = await send(`https://${host}:${port}/hooks`);
    assert.equal(status, 204, detail);
  }
  const forged = await send(`https://localhost:${stranger.port}/`);
  assert.match(forged.detail, /^The certificate was not accepted \(/);
  assert.deepEqual([counts.messages, stranger.counts.messages], [2, 0]);
});

test('a trusted certificate of another name is refused', async () => {
  const { port, counts } = await openServer(['erp.example.com']);
  use(caFile);
  const { outcome, detail } = await send(`https://localhost:${port}/`);
  assert.equal(outcome, 'Failed');
  assert.match(detail, /CERT/);
  assert.equal(counts.messages, 0);
});

test('NODE_EXTRA_CA_CERTS is trusted beside WEBHOOK_CA_FILE', async () => {
  const other = openAuthority('Another');
  const { port } = await openServer(['localhost'], other);
  const extra = join(folder, 'extra.pem');
  writeFileSync(extra, other.cert);
  const source = (path: string) =>
    fileURLToPath(new URL(`../../src/base/outside/${path}`, import.meta.url));
  const program = `
    import { post } from ${JSON.stringify(source('post.ts'))};
    import { outsideRules, useOutsideRules } from ${JSON.stringify(source('rules.ts'))};
    const [url, caFile] = process.argv.slice(1);
    useOutsideRules({ allowedAddresses: ['127.0.0.1/32'], allowsHttp: false, caFile: caFile || undefined });
    const { status } = await post({ url, headers: {}, body: '{}', timeoutMs: 5_000 }, outsideRules());
    console.log(status);
  `;
  for (const file of ['', caFile]) {
    const args = ['--input-type=module', '-e', program, `https://localhost:${port}/`, file];
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: extra };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    assert.equal(stdout, '204\n');
  }
});
