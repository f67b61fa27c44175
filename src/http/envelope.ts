// The one shape of every answer under /billing/.
import type { AppError } from '../base/errors.ts';
import { ignoredNamesMax } from '../base/validation/validate.ts';
import type { AnswerIds } from '../operations/operation.ts';

const idsInHeaderMax = 100;

export function successEnvelope(message: string, data: unknown): string {
  return JSON.stringify({ success: true, statusCode: 200, message, error: null, data });
}

export function errorEnvelope(error: AppError, requestId: string): string {
  const { statusCode, type } = error;
  return JSON.stringify({
    success: false,
    statusCode,
    message: error.message,
    error: {
      code: error.code,
      type,
      field: error.field,
      message: error.message,
      ...(error.allowed === null ? {} : { allowed: error.allowed }),
      ...(error.current === undefined ? {} : { current: error.current }),
      retryable: mayTryAgain(error),
      retryAfter: error.retryAfterSeconds,
      requestID: requestId,
      details: error.details,
    },
    data: {},
  });
}

/** Whether the same call may succeed later. */
export function mayTryAgain(error: AppError): boolean {
  return (
    error.retryAfterSeconds !== null ||
    error.code === 'UNAVAILABLE' ||
    error.code === 'IDEMPOTENCY_KEY_IN_USE'
  );
}

/** The envelope of lists split where their arrays go, so that the rows can be put in between. */
export function streamedEnvelope(
  message: string,
  wrap: (rows: never[], ...also: never[][]) => unknown,
  lists: number,
): string[] {
  const marker = '\u0001rows\u0001';
  const arrays = Array.from({ length: lists }, () => [marker] as never[]);
  const whole = successEnvelope(message, wrap(...(arrays as [never[], ...never[][]])));
  const pieces = whole.split(`[${JSON.stringify(marker)}]`);
  if (pieces.length !== lists + 1) throw new Error('a list has no place in data');
  return pieces;
}

export type Headers = Record<string, string>;

/** Names the job that a call set going. */
export const jobHeader = 'X-Job-Id';

/** Ids of what was made. At most 100 are listed; the count is of all. */
export function idHeaders(ids: AnswerIds): Headers {
  const headers: Headers = {};
  if (ids.resourceIds) {
    headers['X-Resource-Id'] = listed(ids.resourceIds);
    headers['X-Resource-Count'] = String(ids.resourceIds.length);
  }
  if (ids.partyNumbers) headers['X-Party-Number'] = listed(ids.partyNumbers);
  if (ids.termIds) headers['X-Term-Id'] = listed(ids.termIds);
  if (ids.jobId !== undefined) headers[jobHeader] = String(ids.jobId);
  if (ids.connectionNumbers) {
    headers['X-Connection-Number'] = listed(ids.connectionNumbers.map(plainHeader));
  }
  return headers;
}

function listed(ids: readonly (number | string)[]): string {
  return ids.slice(0, idsInHeaderMax).join(',');
}

/** Proxies and clients refuse answers whose headers are long. */
const ignoredFieldsHeaderMax = 2_000;

/** What comes from a caller and is not plain is written as %XX, so that a header stays one. */
function plainHeader(text: string): string {
  return text
    .slice(0, 200)
    .replace(/[^A-Za-z0-9_.[\]/-]/gu, (char) => encodeURIComponent(char.toWellFormed()));
}

export function ignoredFieldsHeader(names: readonly string[]): Headers {
  if (names.length === 0) return {};
  let header = '';
  for (const name of names.slice(0, ignoredNamesMax)) {
    const plain = plainHeader(name);
    const longer = header === '' ? plain : `${header},${plain}`;
    if (longer.length > ignoredFieldsHeaderMax) break;
    header = longer;
  }
  return { 'X-Ignored-Fields': header };
}
