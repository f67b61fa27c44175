import { randomFillSync } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** 80 random bits are kept as two halves of 40, which a number holds exactly. */
const halfBits = 2 ** 40;
const pool = Buffer.alloc(5 * 256);
let poolAt = pool.length;

let lastMs = 0;
let timeText = '';
let highText = '';
let low = 0;

/**
 * A ULID: 48 bits of time and 80 random bits as 26 letters that sort by time, also within one
 * millisecond of one process. The time is the machine's own: it orders, it is no business date.
 */
export function newRequestId(): string {
  const ms = Date.now();
  if (ms > lastMs) {
    lastMs = ms;
    timeText = encode(ms, 10);
    highText = encode(randomHalf(), 8);
    // The upper half is left free, so that counting up cannot run over within a millisecond.
    low = Math.floor(randomHalf() / 2);
  } else {
    low += 1;
  }
  return timeText + highText + encode(low, 8);
}

/** Random bytes are asked for in bulk: one call of the system for hundreds of ids. */
function randomHalf(): number {
  if (poolAt >= pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  poolAt += 5;
  return pool.readUIntBE(poolAt - 5, 5) % halfBits;
}

function encode(value: number, length: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < length; i += 1) {
    text = alphabet[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
