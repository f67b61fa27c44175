// Mail as files, for where there is no mail server: every program for mail opens an .eml file.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWholeFile } from '../whole-file.ts';
import type { MailMessage } from './message.ts';

/** Its name is made of numbers of our own alone. A mail that is sent again replaces itself. */
export async function writeToOutbox(
  folder: string,
  key: MailMessage['key'],
  bytes: Buffer,
): Promise<string> {
  const own = join(folder, String(BigInt(key.tenantId)));
  await mkdir(own, { recursive: true, mode: 0o700 });
  const path = join(own, `${BigInt(key.deliveryId)}.eml`);
  await writeWholeFile(path, [bytes], 0o600);
  return path;
}
