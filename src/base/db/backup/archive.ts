// Archives in the usual tar format, written and read as streams: any tar program opens a backup.
import { createReadStream } from 'node:fs';

export type Member = { name: string; bytes: Buffer };

const blockBytes = 512;
/** Where a header has what: offset and length in bytes. */
const fields = {
  name: [0, 100],
  mode: [100, 8],
  owner: [108, 8],
  group: [116, 8],
  size: [124, 12],
  time: [136, 12],
  checksum: [148, 8],
  kind: [156, 1],
  magic: [257, 8],
} as const;
/** Members are made in pieces far smaller than this: a larger one is no member of a backup. */
const memberBytesMax = 256 * 1024 * 1024;

/** The bytes of one member: its header, its content, and zeros up to the next block. */
export function memberBytes({ name, bytes }: Member): Buffer[] {
  const header = Buffer.alloc(blockBytes);
  const put = (field: keyof typeof fields, text: string) =>
    header.write(text, fields[field][0], fields[field][1], 'latin1');
  if (Buffer.byteLength(name) > fields.name[1]) throw new Error(`${name} is too long for a member`);
  put('name', name);
  put('mode', '0000600\0');
  put('owner', '0000000\0');
  put('group', '0000000\0');
  put('size', `${octal(bytes.length, 11)}\0`);
  put('time', `${octal(0, 11)}\0`);
  put('checksum', ' '.repeat(8));
  put('kind', '0');
  put('magic', 'ustar\u000000');
  put('checksum', `${octal(sumOf(header), 6)}\0 `);
  return [header, bytes, Buffer.alloc(paddingOf(bytes.length))];
}

/** After the last member. */
export function archiveEnd(): Buffer {
  return Buffer.alloc(2 * blockBytes);
}

export class DamagedArchive extends Error {}

/** Throws DamagedArchive if the file is no archive, is damaged, or ends before its end. */
export async function* readArchive(path: string): AsyncGenerator<Member> {
  const reader = new BlockReader(path);
  try {
    for (;;) {
      const header = await reader.take(blockBytes);
      if (header.every((byte) => byte === 0)) return;
      const size = sizeOf(header);
      const [start, length] = fields.name;
      const name = textOf(header.subarray(start, start + length));
      const bytes = await reader.take(size);
      await reader.take(paddingOf(size));
      yield { name, bytes };
    }
  } finally {
    reader.close();
  }
}

function sizeOf(header: Buffer): number {
  const [checksumAt, checksumLength] = fields.checksum;
  const wanted = Number.parseInt(
    textOf(header.subarray(checksumAt, checksumAt + checksumLength)),
    8,
  );
  const blanked = Buffer.from(header);
  blanked.fill(' ', checksumAt, checksumAt + checksumLength);
  if (sumOf(blanked) !== wanted) throw new DamagedArchive('it is not an archive, or is damaged');
  const [sizeAt, sizeLength] = fields.size;
  const size = Number.parseInt(textOf(header.subarray(sizeAt, sizeAt + sizeLength)), 8);
  if (!Number.isInteger(size) || size > memberBytesMax) {
    throw new DamagedArchive('it has a part of an impossible size');
  }
  return size;
}

/** Exact numbers of bytes from a file that is read piece by piece. */
class BlockReader {
  readonly #stream;
  readonly #pieces: AsyncIterator<Buffer>;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(path: string) {
    this.#stream = createReadStream(path, { highWaterMark: 1 << 20 });
    this.#pieces = this.#stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async take(count: number): Promise<Buffer> {
    while (this.#heldBytes < count) {
      const { value, done } = await this.#pieces.next();
      if (done) throw new DamagedArchive('it ends too early');
      this.#held.push(value);
      this.#heldBytes += value.length;
    }
    const all = this.#held.length === 1 ? (this.#held[0] as Buffer) : Buffer.concat(this.#held);
    this.#held = [all.subarray(count)];
    this.#heldBytes -= count;
    return all.subarray(0, count);
  }

  close(): void {
    this.#stream.destroy();
  }
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

function sumOf(bytes: Buffer): number {
  let sum = 0;
  for (const byte of bytes) sum += byte;
  return sum;
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('latin1', 0, end === -1 ? bytes.length : end).trim();
}

function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}
