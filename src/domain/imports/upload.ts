// A file that comes in parts, in any order. The part that is marked as the last one says how many
// there are. Parts are kept for a day.

import { createHash } from 'node:crypto';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { findPartContent, insertPart, listParts, lockUpload } from './uploads-store.ts';

const keptHours = 24;
const uploadBytesMax = 1_073_741_824;
export const partsMax = 10_000;

export type SentPart = { uploadId: string; number: number; isLast: boolean; content: Buffer };

export type Uploaded = { parts: number; bytes: number; isRepeated: boolean };

/** A part that was sent before changes nothing. `realNow` is the machine's time. */
export async function takePart(
  tx: Tx,
  tenantId: number,
  part: SentPart,
  { by, realNow }: { by: string; realNow: Temporal.Instant },
): Promise<Uploaded> {
  const { uploadId, number, isLast, content } = part;
  await lockUpload(tx, tenantId, uploadId);
  const parts = await listParts(tx, tenantId, uploadId, oldest(realNow));
  const sha256 = createHash('sha256').update(content).digest('hex');
  const before = parts.find((one) => one.part_number === number);
  const bytes = parts.reduce((sum, one) => sum + one.bytes, 0);
  if (before && before.sha256 === sha256 && before.is_last === isLast) {
    return { parts: parts.length, bytes, isRepeated: true };
  }
  if (before) throw taken(`Part ${number} of the upload ${uploadId} was sent with other content`);
  const last = parts.find((one) => one.is_last)?.part_number;
  if (last !== undefined && (isLast || number > last)) {
    throw taken(`The upload ${uploadId} ends with part ${last}; use another uploadID`);
  }
  if (isLast && parts.some((one) => one.part_number > number)) {
    throw taken(`The upload ${uploadId} has parts after part ${number}; it cannot be the last one`);
  }
  if (bytes + content.length > uploadBytesMax) {
    const message = `The parts have more than ${uploadBytesMax} bytes together; split the file`;
    throw new AppError('REQUEST_TOO_LARGE', { message, field: 'contentBase64' });
  }
  const stamp: Stamp = { at: realNow, by };
  const isNew = await insertPart(tx, tenantId, { ...part, sha256 }, stamp);
  if (!isNew) throw taken(`The uploadID ${uploadId} was used before; choose another one`);
  return { parts: parts.length + 1, bytes: bytes + content.length, isRepeated: false };
}

function oldest(realNow: Temporal.Instant): Temporal.Instant {
  return realNow.subtract({ hours: keptHours });
}

function taken(message: string): AppError {
  return new AppError('DUPLICATE', { message, field: 'partNo' });
}

/** The bytes of a whole upload, part by part; they may be read more than once. */
export async function openUpload(
  tx: Tx,
  tenantId: number,
  uploadId: string,
  realNow: Temporal.Instant,
): Promise<() => AsyncIterable<Uint8Array>> {
  const parts = await listParts(tx, tenantId, uploadId, oldest(realNow));
  const last = parts.find((one) => one.is_last)?.part_number;
  if (parts.length === 0) {
    const message = `No upload has the id ${uploadId}, or it is older than ${keptHours} hours`;
    throw new AppError('UPLOAD_NOT_FOUND', { message, field: 'uploadID' });
  }
  if (last === undefined || parts.length < last) {
    const sent = new Set(parts.map((one) => one.part_number));
    const missing = Array.from({ length: last ?? 0 }, (_, index) => index + 1);
    const first = missing.find((number) => !sent.has(number));
    const what = first === undefined ? 'its last part' : `part ${first}`;
    const message = `The upload ${uploadId} lacks ${what}; send it with upload-part`;
    throw new AppError('UPLOAD_INCOMPLETE', { message, field: 'uploadID' });
  }
  return async function* read() {
    for (const { part_number: number } of parts) {
      yield await findPartContent(tx, tenantId, uploadId, number);
    }
  };
}
