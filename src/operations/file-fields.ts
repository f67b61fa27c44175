// The bytes of a file that a call brings, or that was uploaded in parts before.
import { AppError } from '../base/errors.ts';
import { slicing } from '../base/slices.ts';
import { openUpload } from '../domain/imports/upload.ts';
import { filledText } from './fields.ts';
import type { Call } from './operation.ts';

/** As much as a request holds. */
export const contentMax = 10_485_760;

/** The caller's own name of an upload. */
export const uploadId = filledText({
  max: 64,
  description: 'of your choice, one for each file; kept for 24 hours',
});

/** The machine's time, whatever the clock of a sandbox says. */
export function realNowOf({ now, tenant }: Call): Temporal.Instant {
  return now.subtract({ milliseconds: tenant.clockOffsetMs });
}

/** With or without its padding, in one line or in several. */
const base64Form = /^[A-Za-z0-9+/\s]*(?:=\s*){0,2}$/;

/** Reads the file as often as it is needed. */
export async function bytesSent(
  call: Call,
  sent: { contentBase64?: string | null; uploadID?: string | null },
): Promise<() => AsyncIterable<Uint8Array>> {
  const { contentBase64, uploadID } = sent;
  if (Boolean(contentBase64) === Boolean(uploadID)) {
    const message = 'Send the file as contentBase64, or name its uploadID';
    throw new AppError('REQUIRED_FIELD', { message, field: 'contentBase64' });
  }
  if (uploadID) return openUpload(call.tx, call.tenant.tenantId, uploadID.trim(), realNowOf(call));
  const bytes = bytesFromBase64(contentBase64 ?? '');
  return () => piecesOf(bytes);
}

export function bytesFromBase64(content: string): Buffer {
  // What is no base64 would be passed over, and what follows padding be lost.
  if (base64Form.test(content)) return Buffer.from(content, 'base64');
  throw new AppError('INVALID_FORMAT', {
    message: 'contentBase64 is not the base64 of one file',
    field: 'contentBase64',
  });
}

const pieceBytes = 16_384;

/** In pieces, so that other calls are served between them. */
export async function* piecesOf(bytes: Buffer): AsyncGenerator<Uint8Array> {
  const slices = slicing();
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    yield bytes.subarray(at, at + pieceBytes);
    await slices.pause();
  }
}
