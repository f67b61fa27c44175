import { Readable } from 'node:stream';
import { slicing } from '../base/slices.ts';

/** Bytes gathered before they go to the socket: large enough to be few, small enough to hold. */
const writeBytes = 64 * 1024;

/**
 * Lists as a stream of text, written in slices between which other calls are served. The next chunk
 * is read from the database only when the caller has taken the one before, so memory stays flat and
 * a slow reader holds no transaction open.
 */
export function listStream(
  pieces: readonly string[],
  lists: readonly AsyncIterable<readonly unknown[]>[],
): Readable {
  return Readable.from(textOf(pieces, lists), { objectMode: false, highWaterMark: writeBytes });
}

async function* textOf(
  pieces: readonly string[],
  lists: readonly AsyncIterable<readonly unknown[]>[],
): AsyncGenerator<string> {
  const slices = slicing();
  let text = '';
  for (const [index, chunks] of lists.entries()) {
    text += `${pieces[index]}[`;
    let isFirst = true;
    for await (const rows of chunks) {
      for (const row of rows) {
        text += isFirst ? JSON.stringify(row) : `,${JSON.stringify(row)}`;
        isFirst = false;
        if (text.length >= writeBytes) {
          yield text;
          text = '';
        }
        const pause = slices.pause();
        if (pause) await pause;
      }
    }
    text += ']';
  }
  yield text + pieces.at(-1);
}
