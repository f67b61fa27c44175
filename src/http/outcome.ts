// What becomes of a call: an answer, a stream, or a refusal.
import type { Readable } from 'node:stream';
import { isUnavailable } from '../base/db/faults.ts';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Actor, AuditEntry } from '../domain/audit/store.ts';
import type { Answer, Operation, StreamedAnswer } from '../operations/operation.ts';
import {
  errorEnvelope,
  type Headers,
  idHeaders,
  streamedEnvelope,
  successEnvelope,
} from './envelope.ts';
import type { Prepared } from './prepared.ts';
import { readSessionCookie, sessionCookie } from './session-cookie.ts';
import { listStream } from './stream.ts';

export type Outgoing = {
  statusCode: number;
  headers: Headers;
  body: string | Readable;
  operation: Operation | undefined;
  /** What a read leaves in the audit trail before its answer is sent. */
  read?: { by: Actor; entries: readonly AuditEntry[] };
};

export function succeeded(
  call: Prepared,
  answer: Answer<unknown> | StreamedAnswer<unknown>,
): Outgoing {
  const { operation } = call;
  const headers = { ...call.headers };
  if (answer.total !== undefined) headers['X-Total-Count'] = String(answer.total);
  if ('chunks' in answer) {
    const lists = [answer.chunks, ...(answer.also ?? [])];
    const body = listStream(streamedEnvelope(answer.message, answer.wrap, lists.length), lists);
    // The answer has begun and can only be cut off; the reason is still logged.
    body.on('error', (error) => toAppError(error, call.parts.log, call.incoming));
    return { statusCode: 200, headers, body, operation };
  }
  if (answer.ids) Object.assign(headers, idHeaders(answer.ids));
  if (answer.cookie !== undefined) Object.assign(headers, cookieHeader(call, answer.cookie));
  const body = successEnvelope(answer.message, answer.data);
  return { statusCode: 200, headers, body, operation };
}

/** A session that began without a cookie has none to end. */
function cookieHeader({ incoming }: Prepared, cookie: Answer<unknown>['cookie']): Headers {
  if (!cookie && readSessionCookie(incoming.headers) === null) return {};
  const { token, seconds } = cookie ?? { token: '', seconds: 0 };
  return { 'Set-Cookie': sessionCookie(token, seconds, incoming.isSecure) };
}

export function refused(
  operation: Operation | undefined,
  error: AppError,
  requestId: string,
  known: Headers,
): Outgoing {
  const headers = { ...known };
  if (error.retryAfterSeconds !== null) headers['Retry-After'] = String(error.retryAfterSeconds);
  const body = errorEnvelope(error, requestId);
  return { statusCode: error.statusCode, headers, body, operation };
}

/** The error that the caller may see. Errors that are our own fault are logged in full. */
export function toAppError(
  error: unknown,
  log: Log,
  request: { requestId: string; path: string },
): AppError {
  if (error instanceof AppError) return error;
  const context = { err: error, requestId: request.requestId, path: request.path };
  if (isUnavailable(error)) {
    log.warn(context, 'a call failed because the database was not available');
    return new AppError('UNAVAILABLE', { retryAfterSeconds: 1 });
  }
  log.error(context, 'a call failed');
  return new AppError('INTERNAL_ERROR');
}
