// A file that is there whole or not at all.
import { createWriteStream } from 'node:fs';
import { realpath, rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Written beside its place, and put there when it is complete. What was there stays until then. */
export async function writeWholeFile(path: string, texts: AsyncIterable<string>): Promise<void> {
  const known = await stat(path).catch(() => undefined);
  // A pipe or a device cannot be exchanged.
  if (known && !known.isFile()) return pipeline(Readable.from(texts), createWriteStream(path));
  const place = known ? await realpath(path) : path;
  const beside = `${place}.${process.pid}.part`;
  try {
    const mode = known === undefined ? {} : { mode: known.mode };
    await pipeline(Readable.from(texts), createWriteStream(beside, mode));
    await rename(beside, place);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}
