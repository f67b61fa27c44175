import { Readable } from 'node:stream';

/** Bytes gathered before they go to the socket: large enough to be few, small enough to hold. */
const writeBytes = 64 * 1024;

/**
 * A list as a stream of text. The next chunk is read from the database only when the caller has
 * taken the one before, so memory stays flat and a slow reader holds no transaction open.
 */
export function listStream(
  envelope: { head: string; tail: string },
  chunks: AsyncIterable<readonly unknown[]>,
): Readable {
  return Readable.from(textOf(envelope, chunks), { objectMode: false, highWaterMark: writeBytes });
}

async function* textOf(
  envelope: { head: string; tail: string },
  chunks: AsyncIterable<readonly unknown[]>,
): AsyncGenerator<string> {
  let text = envelope.head;
  let first = true;
  for await (const rows of chunks) {
    for (const row of rows) {
      text += first ? JSON.stringify(row) : `,${JSON.stringify(row)}`;
      first = false;
      if (text.length >= writeBytes) {
        yield text;
        text = '';
      }
    }
  }
  yield text + envelope.tail;
}
