// Files that are there whole or not at all.
import { createWriteStream } from 'node:fs';
import { realpath, rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

type Pieces = AsyncIterable<string | Buffer> | Iterable<string | Buffer>;

/**
 * Written beside its place, and put there when it is complete and on the disk. What was there stays
 * until then.
 */
export async function writeWholeFile(path: string, pieces: Pieces, mode: number): Promise<void> {
  const beside = `${path}.${process.pid}.part`;
  try {
    await pipeline(Readable.from(pieces), createWriteStream(beside, { mode, flush: true }));
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

const usualMode = 0o666;

/** The same for a path that the user names, which may be a link, a pipe or a device. */
export async function writeNamedFile(path: string, pieces: Pieces): Promise<void> {
  const known = await stat(path).catch(() => undefined);
  if (known === undefined) return writeWholeFile(path, pieces, usualMode);
  // A pipe or a device cannot be exchanged.
  if (!known.isFile()) return pipeline(Readable.from(pieces), createWriteStream(path));
  return writeWholeFile(await realpath(path), pieces, known.mode);
}
