// What an authenticator app does with the secret that it was given.
import { timeStep, totpCode } from '../../src/base/totp.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function fromBase32(text: string): Buffer {
  const bits = [...text].map((one) => alphabet.indexOf(one).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

export function codeOf(secret: string, at: Temporal.Instant): string {
  return totpCode(fromBase32(secret), timeStep(at));
}
