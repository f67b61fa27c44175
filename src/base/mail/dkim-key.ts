// The private key that signs mails, from its file.
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';

export class DkimKeyError extends Error {}

/** Receivers ignore signatures by shorter keys. */
const keyBitsMin = 1_024;

/** Throws DkimKeyError, which names the file and what is wrong with it. */
export function readDkimKey(keyFile: string): KeyObject {
  const key = parsed(keyFile, contentOf(keyFile));
  if (key.asymmetricKeyType !== 'rsa') {
    throw wrong(keyFile, `is a key of type ${key.asymmetricKeyType}; mails are signed with RSA`);
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < keyBitsMin) {
    throw wrong(keyFile, `has ${bits} bits; receivers ignore keys of less than ${keyBitsMin}`);
  }
  return key;
}

function contentOf(keyFile: string): string {
  try {
    return readFileSync(keyFile, 'utf8');
  } catch (error) {
    throw wrong(keyFile, `cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** The error of the parser may quote the file: it is left out. */
function parsed(keyFile: string, content: string): KeyObject {
  try {
    return createPrivateKey(content);
  } catch {
    throw wrong(keyFile, 'is not a private key in PEM format without a passphrase');
  }
}

function wrong(keyFile: string, what: string): DkimKeyError {
  const help = 'Create one with: openssl genrsa -out dkim.pem 2048';
  return new DkimKeyError(`DKIM_KEY_FILE: ${keyFile} ${what}. ${help}`);
}
