// What an error of PostgreSQL or of its connection means for the caller.
import type { AppError } from '../errors.ts';

type DatabaseFault = Error & {
  code?: string;
  constraint?: string;
  hint?: string;
  syscall?: string;
};

/** Deadlock and serialization failure: the same call may succeed when it is simply run again. */
export function isRetryable(error: unknown): boolean {
  const code = (error as DatabaseFault | undefined)?.code;
  return code === '40001' || code === '40P01';
}

const unavailableCodes = new Set([
  '57P01', // terminated by an administrator
  '57P02', // crash shutdown
  '57P03', // starting up
  '57014', // statement timeout
  '55P03', // lock timeout
  '53300', // too many connections
  '53100', // disk full
  '25006', // read-only: a standby, or a failover under way
  '40001',
  '40P01',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
]);

const unavailableMessages =
  /Connection terminated|connection timeout|timeout exceeded when trying to connect|not queryable/i;

/** True for faults that pass: the database is away, busy or full, and the call can be repeated. */
export function isUnavailable(error: unknown): boolean {
  const fault = error as DatabaseFault | undefined;
  if (!(fault instanceof Error)) return false;
  const code = fault.code ?? '';
  return (
    unavailableCodes.has(code) ||
    code.startsWith('08') ||
    isWithoutSocket(fault) ||
    unavailableMessages.test(fault.message)
  );
}

/** The socket of a server that does not run is missing; any other file that is stays missing. */
function isWithoutSocket({ code, syscall }: DatabaseFault): boolean {
  return code === 'ENOENT' && syscall === 'connect';
}

const fullMessages = /No space left on device|File too large|Disk quota exceeded/i;

/** The disk of the database is full. Unlike other faults, waiting does not help. */
export function isOutOfSpace(error: unknown): boolean {
  const fault = error as DatabaseFault | undefined;
  if (!(fault instanceof Error)) return false;
  // A file at its limit has no code of its own.
  return fault.code === '53100' || (fault.code === 'XX000' && fullMessages.test(fault.message));
}

/** Throws an error that names what failed; the error of the network or the server is the cause. */
export function rethrowUnconnected(error: unknown): never {
  throw new Error('No connection to the database', { cause: error });
}

/**
 * Rethrows the violation of a named constraint as the domain's error; anything else as it came.
 * Written beside the statement that can violate it.
 */
export function rethrowViolation(
  error: unknown,
  byConstraint: Record<string, () => AppError>,
): never {
  const constraint = constraintOf(error);
  const known = constraint === undefined ? undefined : byConstraint[withoutShard(constraint)];
  throw known ? known() : error;
}

/** A violation on another machine comes without that field: its text or its hint has the name. */
function constraintOf(error: unknown): string | undefined {
  const fault = error as DatabaseFault | undefined;
  if (!(fault instanceof Error) || fault.constraint !== undefined) return fault?.constraint;
  if (!fault.code?.startsWith('23')) return undefined;
  return /constraint "([^"]+)"/.exec(`${fault.message} ${fault.hint ?? ''}`)?.[1];
}

/** On a distributed database a constraint of a shard has the shard's number behind its name. */
export function withoutShard(constraint: string): string {
  return constraint.replace(/_\d{6,}$/, '');
}
