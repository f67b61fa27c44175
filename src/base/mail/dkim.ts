// The DKIM signature of mails: receivers check with it that a mail is from the domain of its sender
// and was not changed on its way.
import { buffer } from 'node:stream/consumers';
import type DKIM from 'nodemailer/lib/dkim';
import { readDkimKey } from './dkim-key.ts';

export type DkimOptions = {
  readonly keyFile: string;
  readonly domain: string;
  readonly selector: string;
};

export type DkimSigner = { sign(mail: Buffer): Promise<Buffer> };

/** The key is read at once: a bad one stops the start, not the first mail. */
export function openDkim({ keyFile, domain, selector }: DkimOptions): DkimSigner {
  const privateKey = readDkimKey(keyFile).export({ type: 'pkcs8', format: 'pem' }).toString();
  let opened: Promise<DKIM> | undefined;
  const opening = async () => {
    const { default: Signer } = await import('nodemailer/lib/dkim');
    return new Signer({ domainName: domain, keySelector: selector, privateKey });
  };
  return {
    async sign(mail) {
      opened ??= opening();
      return buffer((await opened).sign(mail));
    },
  };
}
