// Time-based one-time passwords by RFC 6238: six digits, 30 seconds, HMAC-SHA-1, as every
// authenticator app has them.
import { createHmac, timingSafeEqual } from 'node:crypto';

const stepSeconds = 30;
const usualDigits = 6;
/** A phone's clock may be one step early or late. */
const stepsAside = 1;

export function timeStep(at: Temporal.Instant): number {
  return Math.floor(at.epochMilliseconds / 1000 / stepSeconds);
}

export function totpCode(secret: Buffer, step: number, digits = usualDigits): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** The step that the code is of; undefined if it is wrong. */
export function matchingStep(
  secret: Buffer,
  code: string,
  at: Temporal.Instant,
): number | undefined {
  const now = timeStep(at);
  const sent = Buffer.from(code);
  for (let step = now - stepsAside; step <= now + stepsAside; step += 1) {
    const right = Buffer.from(totpCode(secret, step));
    if (sent.length === right.length && timingSafeEqual(sent, right)) return step;
  }
  return undefined;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648, without padding. */
export function base32(bytes: Buffer): string {
  let text = '';
  let value = 0;
  let bits = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(value >>> bits) & 31];
    }
  }
  return bits === 0 ? text : text + alphabet[(value << (5 - bits)) & 31];
}

/** What an authenticator app reads as a QR code. */
export function otpauthUri(secret: Buffer, { issuer, account }: Record<string, string>): string {
  const label = `${encodeURIComponent(issuer ?? '')}:${encodeURIComponent(account ?? '')}`;
  const query = new URLSearchParams({ secret: base32(secret), issuer: issuer ?? '' });
  return `otpauth://totp/${label}?${query.toString().replaceAll('+', '%20')}`;
}
