// The request body: how much of it is read, and what JSON it is.
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { AppError } from '../base/errors.ts';
import { parseJson } from '../base/json/parse.ts';
import { atOnce, inSlices } from '../base/slices.ts';

/** Bytes that a request may have. */
export const bodyBytesMax = {
  /** As long as its token was not found good. */
  stranger: 64 * 1024,
  plain: 1024 * 1024,
  /** Of an operation that takes rows or files. */
  rows: 10 * 1024 * 1024,
} as const;

// Nothing else is accepted: software that guesses at odd content types has skipped validation.
const contentTypeForm = /^application\/json(?:; ?charset=(?:utf-8|"utf-8"))?$/i;

export function assertJsonContentType(contentType: string | undefined): void {
  if (contentType === undefined || !contentTypeForm.test(contentType)) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE');
  }
}

/** The bytes of a body, taken from the connection no further than asked. */
export class BodyReader {
  readonly #request: IncomingMessage;
  readonly #chunks: Buffer[] = [];
  #length = 0;
  #isWhole = false;

  constructor(request: IncomingMessage) {
    this.#request = request;
  }

  /** How many bytes the request says it has; 0 if it does not say. */
  get told(): number {
    return Number(this.#request.headers['content-length'] ?? 0);
  }

  /** The whole body, or undefined if it is longer than this; then it may be asked for more. */
  async upTo(bytesMax: number): Promise<Buffer | undefined> {
    if (this.told > bytesMax) return undefined;
    if (!this.#isWhole && this.#length <= bytesMax) await this.#read(bytesMax);
    if (!this.#isWhole || this.#length > bytesMax) return undefined;
    const [first = Buffer.alloc(0)] = this.#chunks;
    return this.#chunks.length < 2 ? first : Buffer.concat(this.#chunks, this.#length);
  }

  /**
   * Takes what is left off the connection, so that the caller can finish sending and read its
   * answer. A caller that sends far more than any request may have is cut off.
   */
  discardRest(): void {
    const request = this.#request;
    if (this.#isWhole || request.readableEnded || request.destroyed) return;
    let discarded = 0;
    request.on('data', (chunk: Buffer) => {
      discarded += chunk.length;
      if (discarded > bodyBytesMax.rows) request.socket.destroy();
    });
    request.on('error', () => {});
    request.resume();
  }

  #read(bytesMax: number): Promise<void> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      const stop = () => {
        request.off('data', take);
        request.off('end', end);
        request.off('close', cutOff);
        request.off('error', cutOff);
      };
      const take = (chunk: Buffer) => {
        this.#chunks.push(chunk);
        this.#length += chunk.length;
        if (this.#length <= bytesMax) return;
        stop();
        request.pause();
        resolve();
      };
      const end = () => {
        stop();
        this.#isWhole = true;
        resolve();
      };
      const cutOff = () => {
        stop();
        reject(new AppError('MALFORMED_JSON', { message: 'The request body ended too early' }));
      };
      if (request.readableEnded) return end();
      if (request.destroyed) return cutOff();
      request.on('data', take);
      request.on('end', end);
      request.on('close', cutOff);
      request.on('error', cutOff);
      request.resume();
    });
  }
}

export function tooLarge(bytesMax: number): AppError {
  const whose = bytesMax === bodyBytesMax.stranger ? 'without a valid token ' : '';
  const message = `The request body may have at most ${bytesMax} bytes ${whose}`.trim();
  return new AppError('REQUEST_TOO_LARGE', { message });
}

export function parseBody(bytes: Buffer): Record<string, unknown> {
  assertText(bytes);
  try {
    return objectOf(atOnce(parseJson(bytes)));
  } catch (error) {
    throw asRefusal(error);
  }
}

/** The same for a large body: other calls are served meanwhile. */
export async function parseLargeBody(bytes: Buffer): Promise<Record<string, unknown>> {
  assertText(bytes);
  try {
    return objectOf(await inSlices(parseJson(bytes)));
  } catch (error) {
    throw asRefusal(error);
  }
}

function assertText(bytes: Buffer): void {
  if (bytes.length === 0) {
    throw new AppError('MALFORMED_JSON', { message: 'The request has no body' });
  }
  if (!isUtf8(bytes)) {
    throw new AppError('MALFORMED_JSON', {
      message: 'The request body is not UTF-8; send it as UTF-8, not compressed',
    });
  }
}

function objectOf(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AppError('MALFORMED_JSON', { message: 'The request body must be a JSON object' });
  }
  return body as Record<string, unknown>;
}

function asRefusal(error: unknown): unknown {
  if (!(error instanceof SyntaxError)) return error;
  const reason = error.message.slice(0, 200);
  return new AppError('MALFORMED_JSON', { message: `The request body is not JSON: ${reason}` });
}
