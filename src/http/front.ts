// The outermost layer of the server: what holds for every request, whatever it asks for.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { AppError } from '../base/errors.ts';
import { newRequestId } from '../base/request-id.ts';
import { errorEnvelope } from './envelope.ts';

// To import a value from it loads its HTTP client, too: 70 ms of each start, for nothing.
const { createServer } = process.getBuiltinModule('node:http');

/** Browsers take an answer for what its Content-Type says, and guess nothing from its bytes. */
export const sniffingHeader = 'X-Content-Type-Options';
export const noSniffing = 'nosniff';

export type Timeouts = {
  requestMs: number;
  headersMs: number;
  idleMs: number;
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export function createFront(handler: Handler, timeouts: Timeouts): Server {
  // A missing Host header is refused below, with an answer like all others.
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    response.setHeader(sniffingHeader, noSniffing);
    const fault = hostFault(request);
    if (fault === undefined) handler(request, response);
    else refuse(response, fault);
  });
  server.on('checkExpectation', (_request, response) => {
    response.setHeader(sniffingHeader, noSniffing);
    refuse(response, 'The header Expect may be 100-continue and nothing else');
  });
  server.requestTimeout = timeouts.requestMs;
  server.headersTimeout = timeouts.headersMs;
  server.keepAliveTimeout = timeouts.idleMs;
  server.setTimeout(timeouts.idleMs);
  return server;
}

/** The path of a request: an absolute target (`POST http://host/path`) has a host before it. */
export function pathOfTarget(target: string): string {
  return target.startsWith('/') ? target : target.replace(absoluteForm, '') || '/';
}

const absoluteForm = /^https?:\/\/([^/?#]*)/i;

/**
 * The workspace is found by the host name. A proxy in front may read another Host header than this
 * server does, so a request that names two hosts is refused, as RFC 9112 (section 3.2) asks.
 */
function hostFault({
  rawHeaders,
  url = '',
  httpVersionMinor,
}: IncomingMessage): string | undefined {
  let hosts = 0;
  let host = '';
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    hosts += 1;
    host = rawHeaders[i + 1] ?? '';
  }
  if (hosts > 1) return `The request has ${hosts} Host headers; send one`;
  // HTTP/1.0 knows no Host header: such a request reaches the probes, and no workspace.
  if (hosts === 0 && httpVersionMinor > 0) return 'The request has no Host header; send one';
  const named = absoluteForm.exec(url)?.[1];
  if (named === undefined || named.toLowerCase() === host.toLowerCase()) return undefined;
  return 'The request line and the Host header name different hosts';
}

function refuse(response: ServerResponse, message: string): void {
  const requestId = newRequestId();
  const body = errorEnvelope(new AppError('MALFORMED_REQUEST', { message }), requestId);
  response.writeHead(400, {
    'Content-Type': 'application/json; charset=utf-8',
    'X-Request-Id': requestId,
    Connection: 'close',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}
