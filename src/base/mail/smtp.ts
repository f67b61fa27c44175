// Hands mails to a mail server over a few connections that are kept, and tells what became of each.
import { Readable } from 'node:stream';
import SMTPPool from 'nodemailer/lib/smtp-pool';
import type { MailResult } from './result.ts';

export type SmtpOptions = {
  readonly url: string;
  readonly connectionsMax: number;
  /** How long a server may be silent. Left out in all but tests. */
  readonly silenceMs?: number;
};

const usualSilenceMs = 60_000;
/** A mail takes at most this many times as long, waiting for a connection included. */
const silencesMax = 10;
const messagesPerConnectionMax = 200;
/** A server that is idle this long would close the connection in the middle of the next mail. */
const idleMs = 30_000;
/** Of what a server answered. */
const detailCharactersMax = 500;

export type Smtp = {
  send(envelope: { from: string; to: string }, bytes: Buffer): Promise<MailResult>;
  close(): void;
};

export function openSmtp(options: SmtpOptions): Smtp {
  const silenceMs = options.silenceMs ?? usualSilenceMs;
  let pool = openPool(options, silenceMs);

  /** A server that says a little now and then is never silent, and would hold a mail for ever. */
  function giveUp(stalled: SMTPPool): void {
    if (pool === stalled) pool = openPool(options, silenceMs);
    stalled.close({ force: true });
  }

  return {
    send: (envelope, bytes) =>
      new Promise((resolve) => {
        const own = pool;
        const source = watched(bytes);
        const timer = setTimeout(() => giveUp(own), silenceMs * silencesMax);
        own.send(pooledMail(envelope, source.stream), (error, info) => {
          clearTimeout(timer);
          source.stream.destroy();
          if (error) resolve(judged(error, source.isTaken()));
          else resolve({ outcome: 'Sent', detail: cleaned(info?.response ?? '') });
        });
      }),
    close: () => pool.close(),
  };
}

function openPool(options: SmtpOptions, silenceMs: number): SMTPPool {
  return new SMTPPool({
    url: options.url,
    maxConnections: options.connectionsMax,
    maxMessages: messagesPerConnectionMax,
    // A mail whose connection broke may have arrived: the pool would send it a second time.
    maxRequeues: 0,
    idleTimeout: idleMs,
    connectionTimeout: silenceMs,
    greetingTimeout: silenceMs,
    socketTimeout: silenceMs,
    dnsTimeout: silenceMs,
    logger: false,
  });
}

type PooledMail = Parameters<SMTPPool['send']>[0];

/** What the pool asks of a mail. The envelope is ours, not read out of headers. */
function pooledMail(envelope: { from: string; to: string }, stream: Readable): PooledMail {
  return {
    data: {},
    message: {
      getEnvelope: () => ({ from: envelope.from, to: [envelope.to] }),
      messageId: () => '',
      getHeader: () => '',
      createReadStream: () => stream,
    },
  } as unknown as PooledMail;
}

/** Tells whether the mail was taken, from when on the server may have it. */
function watched(bytes: Buffer): { stream: Readable; isTaken(): boolean } {
  let isTaken = false;
  const stream = new Readable({
    read() {
      isTaken = true;
      this.push(bytes);
      this.push(null);
    },
  });
  return { stream, isTaken: () => isTaken };
}

type SmtpError = { code?: string; command?: string; responseCode?: number; message?: string };

/** Answers to these are about the mail; to others, about the connection or the login. */
const mailCommands = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);

function judged(error: unknown, isTaken: boolean): MailResult {
  const { code = '', command = '', responseCode, message } = error as SmtpError;
  const detail = cleaned(message ?? String(error));
  if (responseCode !== undefined) {
    // 503 is about the order of commands: a further attempt may go well.
    const isRefused = responseCode >= 500 && responseCode !== 503 && mailCommands.has(command);
    return { outcome: isRefused ? 'Permanent' : 'Temporary', detail };
  }
  if (isTaken) return { outcome: 'Uncertain', detail };
  const isOfMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  return { outcome: isOfMail ? 'Permanent' : 'Temporary', detail };
}

function cleaned(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, detailCharactersMax);
}
