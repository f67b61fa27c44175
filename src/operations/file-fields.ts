// The bytes of a file that a call brings, in pieces.
import { AppError } from '../base/errors.ts';
import { slicing } from '../base/slices.ts';

/** As much as a request holds. */
export const contentMax = 10_485_760;

/** With or without its padding, in one line or in several. */
const base64Form = /^[A-Za-z0-9+/\s]*(?:=\s*){0,2}$/;

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
