import { AppError } from './errors.ts';

/**
 * Refuses a change if the caller sends the `ts` of an object that has changed since it was read.
 */
export function assertNotStale(
  seenTs: number | undefined,
  row: { ts: number },
  about: { what: string; field: string },
): void {
  if (seenTs === undefined || seenTs === row.ts) return;
  throw new AppError('STALE_OBJECT', {
    message: `${about.what} has changed since it was read; read it again and repeat the change`,
    field: about.field,
    current: row.ts,
  });
}
