// Calls as plain HTTP, where a test looks at the wire itself.
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { ErrorBody } from '../../sdk/client.ts';

export type Envelope = {
  success: boolean;
  statusCode: number;
  message: string;
  error: ErrorBody | null;
  /** Each test knows what it asked for. */
  data: ReturnType<typeof JSON.parse>;
};

export type Answered = { status: number; headers: Headers; text: string; envelope: Envelope };

export type Sent = {
  verb?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | null;
};

const agent = new Agent({ keepAlive: true });

/** What fetch does, at a fifth of its cost: all tests together make very many calls. */
export function send(
  url: URL,
  sent: Sent,
): Promise<{ status: number; headers: Headers; text: string }> {
  const { verb: method = 'POST', headers: own = {}, body } = sent;
  return new Promise((resolve, reject) => {
    const call = request(url, { method, headers: own, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const headers = new Headers();
        for (const [name, values = []] of Object.entries(response.headersDistinct)) {
          for (const value of values) headers.append(name, value);
        }
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers, text });
      });
    });
    call.on('error', reject);
    call.end(body ?? undefined);
  });
}

const envelopeKeys = ['success', 'statusCode', 'message', 'error', 'data'];

/** Sends exactly this and checks only what holds for every answer under /billing/. */
export async function ask(baseUrl: string, path: string, sent: Sent = {}): Promise<Answered> {
  const { status, headers, text } = await send(new URL(path, baseUrl), {
    ...sent,
    headers: { 'Content-Type': 'application/json', ...sent.headers },
  });
  const envelope = JSON.parse(text || 'null') as Envelope;
  const answered = { status, headers, text, envelope };
  checkEnvelope(answered);
  return answered;
}

function checkEnvelope({ status, headers, envelope }: Answered): void {
  assert.equal(status, 200);
  assert.match(headers.get('content-type') ?? '', /^application\/json; charset=utf-8$/);
  assert.match(headers.get('x-request-id') ?? '', /^[0-9A-HJKMNP-TV-Z]{26}$/);
  assert.deepEqual(Object.keys(envelope), envelopeKeys);
  assert.equal(headers.get('x-status-code'), String(envelope.statusCode));
  assert.equal(envelope.success, envelope.statusCode === 200);
  if (envelope.success) {
    assert.equal(envelope.error, null);
    return;
  }
  assert.ok(envelope.statusCode >= 400);
  assert.deepEqual(envelope.data, {});
  // A stored answer keeps the id of the call that made it.
  const isReplay = headers.get('idempotency-replayed') === 'true';
  if (!isReplay) assert.equal(envelope.error?.requestID, headers.get('x-request-id'));
  assert.equal(envelope.error?.message, envelope.message);
}

/** Bytes on a socket of their own; resolves with all that came back when the server closes. */
export function exchange(
  baseUrl: string,
  bytes: string | Buffer | ((socket: Socket) => Promise<void> | void),
): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.setEncoding('latin1');
    socket.setTimeout(10_000, () => socket.destroy(new Error(`no end after: ${received}`)));
    socket.on('data', (text) => {
      received += text;
    });
    // The server may close while we still write: what it said before counts.
    socket.on('error', (error) => (received ? resolve(received) : reject(error)));
    socket.on('close', () => resolve(received));
    socket.on('connect', () => {
      if (typeof bytes === 'function') void bytes(socket);
      else socket.write(bytes);
    });
  });
}

/** A request as bytes, to be bent out of shape by a test. */
export function requestText(
  path: string,
  headers: Record<string, string | number>,
  body = '',
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\nHost: raw.localhost\r\n${lines.join('')}\r\n${body}`;
}
