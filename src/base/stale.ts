import { AppError } from './errors.ts';

/** Who sends back the `ts` of what was read is told when somebody else has changed it since. */
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
