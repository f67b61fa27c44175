// A real mail server on loopback that keeps what it is given, and a way to it that can be cut.
import { once } from 'node:events';
import {
  type AddressInfo,
  createServer,
  connect as dial,
  type Server,
  type Socket,
} from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export type ReceivedMail = { from: string; to: string[]; text: string };

export type MailServer = {
  url: string;
  port: number;
  received: ReceivedMail[];
  /** Most mails that were being handed over at one time. */
  busiest: () => number;
  close(): Promise<void>;
};

/** Answers of the server, by the step at which it gives them. */
export type MailScript = {
  onRecipient?: (address: string) => Error | undefined;
  onMail?: () => Error | undefined;
  slowMs?: number;
  /** Any free one unless set. */
  port?: number;
  options?: SMTPServerOptions;
};

export function answer(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

export async function startMailServer(script: MailScript = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  let open = 0;
  let busiest = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    onRcptTo({ address }, _session, done) {
      done(script.onRecipient?.(address) ?? null);
    },
    async onData(stream, { envelope }, done) {
      open++;
      busiest = Math.max(busiest, open);
      const bytes = await buffer(stream).catch((error: Error) => error);
      // The client is gone in the middle of the mail.
      if (bytes instanceof Error) return done(bytes);
      const text = bytes.toString('latin1');
      await new Promise((resolve) => setTimeout(resolve, script.slowMs ?? 0));
      open--;
      const refusal = script.onMail?.();
      if (refusal === undefined) {
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        received.push({ from, to: envelope.rcptTo.map(({ address }) => address), text });
      }
      done(refusal ?? null);
    },
    ...script.options,
  });
  // A client that leaves in the middle is what some tests are about.
  server.on('error', () => {});
  server.listen(script.port ?? 0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    received,
    busiest: () => busiest,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

export type CutAt = 'recipient' | 'end of mail';
const said: Record<CutAt, RegExp> = { recipient: /RCPT TO:/, 'end of mail': /\r\n\.\r\n$/ };

/**
 * A relay in front of a server. When the client has sent the awaited text, the relay passes it on
 * and then nothing more in either direction: the connection is closed, or stays open and silent.
 */
export async function startCut(
  port: number,
  at: CutAt,
  then: 'close' | 'silence',
): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = dial(port, '127.0.0.1');
    sockets.add(client).add(upstream);
    let heard = '';
    let isCut = false;
    client.on('data', (chunk) => {
      if (isCut) return;
      heard = (heard + chunk.toString('latin1')).slice(-2_000);
      isCut = said[at].test(heard);
      const passOn = at === 'end of mail' || !isCut;
      if (passOn) upstream.write(chunk);
      if (isCut && then === 'close') client.destroy();
    });
    upstream.on('data', (chunk) => {
      if (!isCut) client.write(chunk);
    });
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.on('close', () => setTimeout(() => upstream.end(), 100));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
