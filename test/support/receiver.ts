// A program that receives webhooks, as a customer of the API would write it: it verifies signatures
// by the published scheme, with the crypto of Node.js and nothing of ours.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = {
  id: string;
  isGenuine: boolean;
  /** How many of the signatures are of the secret. */
  signatures: number;
  headers: IncomingHttpHeaders;
  body: {
    id: string;
    type: string;
    workspace: string;
    bulk: boolean;
    eventID: number;
    sequence: number;
    data: Record<string, unknown>;
  };
};

export type Receiver = {
  url: string;
  received: Received[];
  /** What it answers next; 200 unless set. */
  answer: (received: Received, turn: number) => Answer | Promise<Answer>;
  /** Connections that were opened. */
  connections(): number;
  close(): Promise<void>;
};

export type Answer = { status: number; headers?: Record<string, string>; body?: string };

/** Base64 of the bytes; the header has versions before signatures. */
function signatureOf(id: string, timestamp: string, body: string, key: Buffer): string {
  return createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
}

type Reader = { key: Buffer; nowMs: () => number };

function genuineSignatures(headers: IncomingHttpHeaders, body: string, reader: Reader): number {
  const id = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  if (Math.abs(reader.nowMs() / 1_000 - Number(timestamp)) > 300) return 0;
  const expected = Buffer.from(signatureOf(id, timestamp, body, reader.key));
  return String(headers['webhook-signature'])
    .split(' ')
    .filter((one) => {
      const [version, signature = ''] = one.split(',');
      const sent = Buffer.from(signature);
      return version === 'v1' && sent.length === expected.length && timingSafeEqual(sent, expected);
    }).length;
}

/** On a port of loopback. Its time is that of the server under test. */
export async function openReceiver(key: Buffer, nowMs: () => number): Promise<Receiver> {
  const received: Received[] = [];
  let connections = 0;
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const signatures = genuineSignatures(request.headers, text, { key, nowMs });
    const one: Received = {
      id: String(request.headers['webhook-id']),
      isGenuine: signatures > 0,
      signatures,
      headers: request.headers,
      body: JSON.parse(text),
    };
    received.push(one);
    const { status, headers = {}, body = '' } = await receiver.answer(one, received.length);
    response.writeHead(status, headers).end(body);
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A test that fails before it closes its receiver does not keep the run from ending.
  server.unref();
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    answer: () => ({ status: 200 }),
    connections: () => connections,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
