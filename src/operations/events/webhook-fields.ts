// What operations about webhooks share.
import * as Type from 'typebox';
import { AppError, type ErrorDetail } from '../../base/errors.ts';
import { outsideRules } from '../../base/outside/rules.ts';
import { readTarget, resolveTarget, TargetRefused } from '../../base/outside/target.ts';
import { sealSecret } from '../../base/secret-key.ts';
import { eventTypes } from '../../domain/events/events-store.ts';
import { secretBytes } from '../../domain/events/messages.ts';
import { oneOf, text } from '../fields.ts';
import type { Call } from '../operation.ts';

export const url = text({
  max: 2_000,
  description: 'Where events are sent: https, on the public internet.',
});

export const secret = Type.String({
  maxLength: 256,
  description: 'At least 24 bytes: whsec_ and base64, or plain text.',
});

/** Hours for which the secret before goes on working. */
const oldSecretHoursUsual = 24;

export const oldSecretHours = Type.Integer({
  minimum: 0,
  maximum: 168,
  'x-code': 'INVALID_NUMBER',
  description: 'with secret: how long the secret before works too; 24 unless sent',
});

export const types = Type.Array(oneOf([...eventTypes]), {
  maxItems: 100,
  description: 'The types of events to send; empty for all.',
});

export const description = text({ max: 500 });

const secretBytesMin = 24;
const secretBytesMax = 192;

/** The bytes that sign, or what is wrong with the text. */
export function readSecret(field: string, sent: string): Buffer {
  const bytes = secretBytes(sent);
  const isLong = bytes !== undefined && bytes.length >= secretBytesMin;
  if (isLong && bytes.length <= secretBytesMax) return bytes;
  const message =
    `${field} must have ${secretBytesMin} to ${secretBytesMax} bytes: whsec_ followed by base64, ` +
    'or plain text. `openssl rand -base64 32` makes one';
  throw new AppError('INVALID_FORMAT', { message, field });
}

/**
 * Looks up the address now, so that a mistake is reported at once. A name that is not found is
 * accepted: it is looked up again for each attempt.
 */
export async function targetProblem(field: string, sent: string): Promise<ErrorDetail | undefined> {
  try {
    const rules = outsideRules();
    const target = readTarget(sent, rules);
    await resolveTarget(target, rules);
    return undefined;
  } catch (error) {
    if (!(error instanceof TargetRefused)) return undefined;
    return { field, code: 'TARGET_REFUSED', message: error.message, rejectedValue: sent };
  }
}

export type Rotation = {
  /** Sealed. */
  secret: Buffer;
  oldSecret: Buffer | null;
  oldSecretUntil: Temporal.Instant | null;
};

/** Signatures expire by the machine's clock, as receivers and gateways check them by theirs. */
export function rotation(
  call: Call,
  sent: { secret: string; oldSecretHours?: number | undefined },
  before: Buffer,
): Rotation {
  const hours = sent.oldSecretHours ?? oldSecretHoursUsual;
  const realNow = call.now.subtract({ milliseconds: call.tenant.clockOffsetMs });
  const isKept = hours > 0;
  return {
    secret: sealSecret(readSecret('data.secret', sent.secret)),
    oldSecret: isKept ? before : null,
    oldSecretUntil: isKept ? realNow.add({ hours }) : null,
  };
}
