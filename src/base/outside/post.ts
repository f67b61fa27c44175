// Sends one message to a program outside. What it answers is not read beyond its status.
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { isIP, isIPv6, type LookupFunction } from 'node:net';
import { getCACertificates } from 'node:tls';
import { traced } from '../tracing.ts';
import { type OutsideRules, readTarget, resolveTarget, TargetRefused } from './target.ts';

export type Posted = {
  /** `Refused`: nothing was sent, because the target is not allowed. */
  outcome: 'Answered' | 'Failed' | 'Refused';
  status: number | null;
  /** A sentence without anything of the answer. */
  detail: string;
};

/** What is read of an answer, so that a friendly receiver sees its answer arrive. */
const answerBytesMax = 16_384;

export type Message = {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  timeoutMs: number;
};

/** Never throws: every way to fail is an outcome. Redirects are not followed. */
export function post(message: Message, rules: OutsideRules): Promise<Posted> {
  return traced({ name: 'POST', kind: 'client' }, async (span) => {
    const posted = await postNow(message, rules);
    const { status, outcome } = posted;
    span?.note({
      'url.full': withoutSecrets(message.url),
      'http.response.status_code': status ?? undefined,
      'billwright.outcome': outcome,
    });
    if (outcome !== 'Answered' || (status ?? 0) >= 400) span?.fail(outcome);
    return posted;
  });
}

/** Paths and questions of webhooks often hold a key of the receiver. */
function withoutSecrets(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

async function postNow(message: Message, rules: OutsideRules): Promise<Posted> {
  const deadline = AbortSignal.timeout(message.timeoutMs);
  try {
    const url = readTarget(message.url, rules);
    const address = await before(deadline, resolveTarget(url, rules));
    const status = await send(url, address, message, { rules, deadline });
    return { outcome: 'Answered', status, detail: `HTTP status ${status}` };
  } catch (error) {
    if (error instanceof TargetRefused) {
      return { outcome: 'Refused', status: null, detail: error.message };
    }
    const seconds = message.timeoutMs / 1_000;
    const late = `No answer within ${seconds} seconds`;
    const detail = deadline.aborted ? late : reasonOf(error);
    return { outcome: 'Failed', status: null, detail };
  }
}

async function before<T>(deadline: AbortSignal, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const expire = () => late.reject(deadline.reason);
  deadline.addEventListener('abort', expire, { once: true });
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    deadline.removeEventListener('abort', expire);
  }
}

/** Codes of Node.js, in words. */
function reasonOf(error: unknown): string {
  const { code = '' } = error as { code?: string };
  if (code === 'ECONNREFUSED') return 'The connection was refused';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'The connection was cut';
  if (/^E(NOTFOUND|NODATA|AI_AGAIN|SERVFAIL|TIMEOUT)$/.test(code)) return 'The name was not found';
  if (/CERT|TLS|SSL|SIGNATURE/.test(code)) return `The certificate was not accepted (${code})`;
  return code === '' ? 'The message could not be sent' : `The message could not be sent (${code})`;
}

type Way = { rules: OutsideRules; deadline: AbortSignal };

function send(url: URL, address: string, message: Message, way: Way): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const isSecure = url.protocol === 'https:';
  const ca =
    way.rules.ca === undefined ? {} : { ca: [...getCACertificates('default'), way.rules.ca] };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const options = {
    host,
    port: url.port || (isSecure ? 443 : 80),
    path: `${url.pathname}${url.search}`,
    method: 'POST',
    // A connection for each attempt, to the address that was checked for it.
    agent: false as const,
    family: isIPv6(address) ? 6 : 4,
    lookup: pinned(address),
    signal: way.deadline,
    headers: {
      ...message.headers,
      Host: url.host,
      'Content-Length': String(Buffer.byteLength(message.body)),
      Connection: 'close',
    },
    ...(isSecure ? { ...ca, ...(isIP(host) === 0 ? { servername: host } : {}) } : {}),
  };
  const request = isSecure ? secureRequest(options) : plainRequest(options);
  request.on('error', reject);
  request.on('response', (response) => {
    let bytes = 0;
    resolve(response.statusCode ?? 0);
    response.on('error', () => {});
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > answerBytesMax) response.destroy();
    });
  });
  request.end(message.body);
  return promise;
}

/** What Node.js asks for the address of a host: it gets the one that was checked. */
function pinned(address: string): LookupFunction {
  const family = isIPv6(address) ? 6 : 4;
  return (_host, options, found) => {
    if (options.all) found(null, [{ address, family }]);
    else found(null, address, family);
  };
}
