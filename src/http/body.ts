// The request body: bytes -> JSON, within the limits on size, depth and encoding.
import { isUtf8 } from 'node:buffer';
import { AppError } from '../base/errors.ts';

export const bodyBytesMax = 10 * 1024 * 1024;
const depthMax = 32;
// Nothing else is accepted: software that guesses at odd content types has skipped validation.
const contentTypeForm = /^application\/json(?:; ?charset=(?:utf-8|"utf-8"))?$/i;

export function assertJsonContentType(contentType: string | undefined): void {
  if (contentType === undefined || !contentTypeForm.test(contentType)) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE');
  }
}

export function parseBody(bytes: unknown): Record<string, unknown> {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) {
    throw new AppError('MALFORMED_JSON', { message: 'The request has no body' });
  }
  if (!isUtf8(bytes)) {
    throw new AppError('MALFORMED_JSON', {
      message: 'The request body is not UTF-8; it is not taken compressed or in another encoding',
    });
  }
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  assertShallow(text);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : '';
    throw new AppError('MALFORMED_JSON', { message: `The request body is not JSON: ${reason}` });
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AppError('MALFORMED_JSON', { message: 'The request body must be a JSON object' });
  }
  return body as Record<string, unknown>;
}

const quote = 0x22;
const backslash = 0x5c;

/** Looks at the text before it is parsed, so that depth costs nothing but the look. */
function assertShallow(text: string): void {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === backslash) i += 1;
      else if (char === quote) inString = false;
    } else if (char === quote) {
      inString = true;
    } else if (char === 0x7b || char === 0x5b) {
      depth += 1;
      if (depth > depthMax) {
        throw new AppError('TOO_DEEP', {
          message: `JSON may be nested ${depthMax} levels deep`,
        });
      }
    } else if (char === 0x7d || char === 0x5d) {
      depth -= 1;
    }
  }
}
