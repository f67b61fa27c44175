// Passwords, client secrets and tokens. What is stored cannot be turned back into what was given.
import { createCipheriv, createDecipheriv, hash as digest, randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { FairTurns } from './fair-turns.ts';

/** argon2id with 19 MiB, two passes, one lane: the library's defaults, and the usual advice. */
const argon2Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/**
 * Hashing is the dearest thing a stranger can ask for, so few hashes are computed at once. `owner`
 * is the workspace: it has one thread of the two, and the other is left to the others.
 */
const hashing = new FairTurns({
  places: 2,
  share: 1,
  waitingMax: 40,
  waitMs: 10_000,
  what: 'logins and new passwords',
});

/** The owner of hashes that the command line asks for. */
export const commandLine = 0;

export async function hashSecret(secret: string, owner: number): Promise<string> {
  return hashing.run(owner, () => hash(normalSecret(secret), argon2Options));
}

/** One form for what two keyboards type in two ways, as RFC 8265 has it for passwords. */
export function normalSecret(secret: string): string {
  return secret.replace(/\p{Zs}/gu, ' ').normalize('NFC');
}

// Verified when there is no stored hash, so that an unknown name takes as long as a wrong password.
const decoy = hash(randomBytes(32).toString('hex'), argon2Options);

export async function verifySecret(
  secret: string,
  stored: string | undefined,
  owner: number,
): Promise<boolean> {
  const against = stored ?? (await decoy);
  const matches = await hashing.run(owner, () => verify(against, normalSecret(secret)));
  return matches && stored !== undefined;
}

/**
 * 256 random bits behind the tenant's id. The id lets a token be looked up by tenant first, like
 * every other key; it is no secret and no proof: the stored hash covers the whole text.
 */
export function newToken(tenantId: number): string {
  return `${tenantId.toString(36)}.${randomBytes(32).toString('base64url')}`;
}

export function hashToken(token: string): Buffer {
  return Buffer.from(tokenHash(token), 'hex');
}

/** The hash as hexadecimal text. */
export function tokenHash(token: string): string {
  return digest('sha256', token, 'hex');
}

export function tenantOfToken(token: string): number | undefined {
  const match = /^([0-9a-z]{1,9})\.[A-Za-z0-9_-]{43}$/.exec(token);
  return match?.[1] === undefined ? undefined : Number.parseInt(match[1], 36);
}

/** Encrypts a text so that only the holder of the token can read it: we keep the token's hash. */
export function sealWith(token: string, text: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(token), nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

export function unsealWith(token: string, bytes: Buffer): string {
  const cipher = createDecipheriv('aes-256-gcm', sealingKey(token), bytes.subarray(0, nonceBytes));
  cipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  const sealed = bytes.subarray(nonceBytes + tagBytes);
  return Buffer.concat([cipher.update(sealed), cipher.final()]).toString('utf8');
}

const nonceBytes = 12;
const tagBytes = 16;

/** Derived in another way than the stored hash, which therefore does not reveal the key. */
function sealingKey(token: string): Buffer {
  return Buffer.from(digest('sha256', `successor of ${token}`, 'hex'), 'hex');
}
