import { randomBytes } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
let lastMs = 0;
let lastRandom = 0n;

/**
 * A ULID: 48 bits of time and 80 random bits as 26 letters that sort by time, also within one
 * millisecond of one process. The time is the machine's own: it orders, it is no business date.
 */
export function newRequestId(): string {
  const ms = Temporal.Now.instant().epochMilliseconds;
  if (ms > lastMs) {
    lastMs = ms;
    lastRandom = BigInt(`0x${randomBytes(10).toString('hex')}`) >> 1n;
  } else {
    lastRandom += 1n;
  }
  return encode(BigInt(lastMs), 10) + encode(lastRandom, 16);
}

function encode(value: bigint, length: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < length; i += 1) {
    text = alphabet[Number(rest & 31n)] + text;
    rest >>= 5n;
  }
  return text;
}
