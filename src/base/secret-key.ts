// The key of the installation, by which secrets are encrypted before they are stored. It is in a
// file beside the database and not in it, so that a copy of the database does not reveal them.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

let keyFile: string | undefined;
let known: Buffer | undefined;

/** The file is read when it is first needed, and made if it does not exist. */
export function useSecretKeyFile(path: string): void {
  keyFile = path;
  known = undefined;
}

/** Without a file, as in tests, the key lives as long as the process. */
function secretKey(): Buffer {
  known ??= keyFile === undefined ? randomBytes(keyBytes) : readOrMake(keyFile);
  return known;
}

function readOrMake(path: string): Buffer {
  mkdirSync(dirname(path), { recursive: true });
  try {
    // Of two servers that start at once, one makes it and the other reads it.
    const made = randomBytes(keyBytes).toString('base64');
    writeFileSync(path, `${made}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
  if (key.length === keyBytes) return key;
  throw new Error(`The key in ${path} must be ${keyBytes} bytes in base64`);
}

/** By which the key of another installation is recognised; undefined if there is no key yet. */
export function secretKeyFingerprint(): string | undefined {
  if (keyFile === undefined || !existsSync(keyFile)) return undefined;
  return createHash('sha256').update(secretKey()).digest('hex');
}

export function sealSecret(secret: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', secretKey(), nonce);
  const sealed = Buffer.concat([cipher.update(secret), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** Undefined if it was sealed with another key, such as that of another machine. */
export function tryUnseal(bytes: Buffer): Buffer | undefined {
  try {
    return unsealSecret(bytes);
  } catch {
    return undefined;
  }
}

/** Throws if it was sealed with another key, or changed. */
export function unsealSecret(bytes: Buffer): Buffer {
  const cipher = createDecipheriv('aes-256-gcm', secretKey(), bytes.subarray(0, nonceBytes));
  cipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([cipher.update(bytes.subarray(nonceBytes + tagBytes)), cipher.final()]);
}
