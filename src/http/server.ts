// The HTTP server: /billing/* goes to dispatch, the rest is for operators and readers.
import { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Clock } from '../base/clock.ts';
import { type Database, plainOpening, transact } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { newRequestId } from '../base/request-id.ts';
import { type Span, traced } from '../base/tracing.ts';
import { isRetrieve, type Operation } from '../operations/operation.ts';
import { KnownTokens } from './authenticate.ts';
import { BodyReader, bodyBytesMax } from './body.ts';
import { registerConsole } from './console.ts';
import { dispatch } from './dispatch.ts';
import { registerDocs } from './docs.ts';
import { errorEnvelope, type Headers } from './envelope.ts';
import { createFront, noSniffing, pathOfTarget, sniffingHeader } from './front.ts';
import { registerGateways } from './gateways.ts';
import { registerHome } from './home.ts';
import { createMetrics, type Metrics, operationLabel } from './metrics.ts';
import { type Outgoing, toAppError } from './outcome.ts';
import type { DispatchParts } from './prepared.ts';
import { RateLimiter, type RateLimits } from './rate-limit.ts';
import { routesOf } from './routes.ts';
import { Workspaces } from './workspace.ts';

export type ServerOptions = {
  database: Database;
  operations: readonly (readonly [string, Operation])[];
  clock: Clock;
  log: Log;
  domain: string;
  workspaceHeader: boolean;
  trustedProxies: readonly string[];
  rateLimits: RateLimits;
  /** How long a call waits for the end of the job it asked for. */
  scheduleWaitSeconds: number;
};

/** A client that sends its request, or takes its answer, slower than this is let go. */
const timeouts = { requestMs: 60_000, headersMs: 15_000, idleMs: 60_000 };

export function createServer(options: ServerOptions): FastifyInstance {
  const { log, database } = options;
  const server = Fastify({
    serverFactory: (handler) => createFront(handler, timeouts),
    rewriteUrl: (request) => pathOfTarget(request.url ?? ''),
    forceCloseConnections: 'idle',
    // A call that arrives on a kept connection while the server closes is answered like any other,
    // and its connection closed after it.
    return503OnClosing: false,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    exposeHeadRoutes: false,
    genReqId: newRequestId,
    clientErrorHandler: answerUnreadable,
    frameworkErrors: (_error, request, reply) => answerUnrouted(request, reply),
    routerOptions: { ignoreTrailingSlash: false },
    schemaController: { compilersFactory },
  });
  const parts = dispatchParts(options);
  // A server that closes does not keep callers waiting for jobs: it answers that the job goes on.
  server.addHook('preClose', async () => {
    parts.closing.isClosing = true;
  });
  const metrics = createMetrics(database);
  server.removeAllContentTypeParsers();
  // Dispatch reads bodies itself, as far as the caller's token allows.
  server.addContentTypeParser('*', (_request, _payload, done) => done(null));
  const answer = answerer(parts, metrics);
  server.all('/billing/*', answer);
  registerGateways(server, parts);
  registerProbes(server, database, metrics);
  const console = registerConsole(server, { database, workspaces: parts.workspaces });
  registerHome(server, console);
  registerDocs(server, options.operations);
  // Verbs and paths that the router does not know are still calls, if they begin like one.
  async function answerUnrouted(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    if (isCall(request)) return answer(request, reply);
    const page = await console.answerPage(request, reply);
    if (page) return page;
    return reply.code(404).send({ status: 'not found', path: request.url.slice(0, 200) });
  }
  server.setNotFoundHandler(answerUnrouted);
  server.setErrorHandler((error, request, reply) => {
    const refusal =
      unreadable(error) ?? toAppError(error, log, { requestId: request.id, path: request.url });
    const body = errorEnvelope(refusal, request.id);
    const { statusCode } = refusal;
    if (!isCall(request)) return reply.code(statusCode).type('application/json').send(body);
    return send(reply, request.id, { statusCode, headers: {}, body, operation: undefined });
  });
  return server;
}

// No route has a schema of Fastify's, and what compiles those takes longer to load than the rest.
const compilersFactory = { buildValidator: compilesNothing, buildSerializer: compilesNothing };

function compilesNothing(): never {
  throw new Error('bodies are checked in dispatch, not by schemas of routes');
}

function isCall(request: FastifyRequest): boolean {
  return request.url.startsWith('/billing/');
}

/** A request that Fastify itself refuses. */
function unreadable(error: unknown): AppError | undefined {
  const { code } = error as { code?: string };
  if (code !== 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return undefined;
  return new AppError('UNSUPPORTED_MEDIA_TYPE');
}

function dispatchParts(options: ServerOptions): DispatchParts {
  const { database, clock, log, rateLimits } = options;
  return {
    database,
    clock,
    log,
    scheduleWaitMs: options.scheduleWaitSeconds * 1_000,
    closing: { isClosing: false },
    knownTokens: new KnownTokens(),
    routes: routesOf(options.operations.map(([, operation]) => operation)),
    workspaces: new Workspaces(database, {
      domain: options.domain,
      headerAllowed: options.workspaceHeader,
    }),
    limiters: {
      token: new RateLimiter(rateLimits.token),
      tenant: new RateLimiter(rateLimits.tenant),
      loginName: new RateLimiter(rateLimits.loginName),
      loginAddress: new RateLimiter(rateLimits.loginAddress),
      wrongToken: new RateLimiter(rateLimits.wrongToken),
    },
  };
}

function answerer(parts: DispatchParts, metrics: Metrics) {
  const answer = async (request: FastifyRequest, reply: FastifyReply, span?: Span) => {
    const startedMs = performance.now();
    const requestId = request.id;
    const reader = new BodyReader(request.raw);
    const incoming = {
      requestId,
      verb: request.method,
      path: pathOf(request),
      host: request.headers.host,
      address: request.ip,
      isSecure: request.protocol === 'https',
      headers: request.headers,
      reader,
      isGone: () => request.raw.socket.destroyed,
    };
    const outgoing = await dispatch(parts, incoming, span);
    reader.discardRest();
    const ms = performance.now() - startedMs;
    const { operation, statusCode } = outgoing;
    metrics.observe(operation, statusCode, ms / 1000);
    const isPlain = operation && isRetrieve(operation) && statusCode === 200;
    const level = isPlain ? 'debug' : 'info';
    if (parts.log.isLevelEnabled(level)) {
      const label = operationLabel(operation);
      const address = isPlain ? {} : { address: request.ip };
      const line = { requestId, operation: label, statusCode, ms: Math.round(ms), ...address };
      parts.log[level](line, 'call');
    }
    // One that was under way when the server began to close must not keep its connection open.
    const isClosing = parts.closing.isClosing || reader.told > bodyBytesMax.rows;
    if (isClosing) outgoing.headers.Connection = 'close';
    return send(reply, requestId, outgoing);
  };
  return (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { headers } = request;
    return traced({ name: 'POST', kind: 'server', headers }, (span) =>
      answer(request, reply, span),
    );
  };
}

function pathOf(request: FastifyRequest): string {
  const end = request.url.indexOf('?');
  return end === -1 ? request.url : request.url.slice(0, end);
}

function send(reply: FastifyReply, requestId: string, outgoing: Outgoing): FastifyReply {
  const { body } = outgoing;
  const headers: Headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
    ...outgoing.headers,
    'X-Request-Id': requestId,
    'X-Status-Code': String(outgoing.statusCode),
  };
  if (typeof body !== 'string') {
    cutOffStalled(reply);
    return reply.code(200).headers(headers).send(body);
  }
  // The answer is finished text: nothing of Fastify's serialising and hooks is wanted any more.
  reply.hijack();
  headers['Content-Length'] = String(Buffer.byteLength(body));
  reply.raw.writeHead(200, headers);
  if (body.length > kernelBytes) cutOffStalled(reply);
  reply.raw.end(body);
  return reply;
}

/** An answer up to this size is in the hands of the kernel at once. */
const kernelBytes = 65_536;

/**
 * Node closes a connection whose answer is stuck only at the second timeout: the first notes how
 * much is left. Each is half of the time after which a stalled reader is to be cut off.
 */
function cutOffStalled(reply: FastifyReply): void {
  const { socket } = reply.raw;
  // A call from inside the program, as the demo makes them, has no connection.
  if (socket instanceof Socket) socket.setTimeout(Math.ceil(reply.server.server.timeout / 2));
}

function registerProbes(server: FastifyInstance, database: Database, metrics: Metrics): void {
  server.get('/health', async () => ({ status: 'up' }));
  server.get('/ready', async (_request, reply) => {
    try {
      await transact(database, { opening: plainOpening, readOnly: true }, async () => {});
      return { status: 'ready' };
    } catch {
      return reply.code(503).send({ status: 'not ready', reason: 'the database does not answer' });
    }
  });
  server.get('/metrics', async (_request, reply) => {
    return reply.type(metrics.contentType).send(await metrics.text());
  });
}

/** Bytes that are not a valid HTTP request reach no operation, so the HTTP status itself is 400. */
function answerUnreadable(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = newRequestId();
  const isSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const message = isSlow
    ? 'The request took too long to arrive'
    : 'This is not a valid HTTP request';
  const body = errorEnvelope(new AppError('MALFORMED_REQUEST', { message }), requestId);
  const status = isSlow ? '408 Request Timeout' : '400 Bad Request';
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `${sniffingHeader}: ${noSniffing}\r\nX-Request-Id: ${requestId}\r\nConnection: close\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
