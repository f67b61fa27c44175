// Bytes of a text file as text: UTF-8 or UTF-16, with a mark at the beginning or without.
import { AppError } from '../errors.ts';

/** As many bytes as tell an encoding. */
const lookedAt = 1_024;

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** What the first bytes say. A mark counts; without one, zeros in every second byte do. */
function detectEncoding(first: Uint8Array): Encoding {
  if (first[0] === 0xff && first[1] === 0xfe) return 'utf-16le';
  if (first[0] === 0xfe && first[1] === 0xff) return 'utf-16be';
  const sample = first.subarray(0, lookedAt);
  const zeros = [0, 0];
  sample.forEach((byte, index) => {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  });
  const most = sample.length / 4;
  if ((zeros[1] ?? 0) > most) return 'utf-16le';
  return (zeros[0] ?? 0) > most ? 'utf-16be' : 'utf-8';
}

/** Text in pieces, without the mark at its beginning. */
export async function* decode(
  bytes: AsyncIterable<Uint8Array>,
  wanted: Encoding | null,
): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  let first = new Uint8Array();
  for await (const piece of bytes) {
    if (!decoder) {
      first = Buffer.concat([first, piece]);
      if (first.length < lookedAt) continue;
      decoder = decoderFor(first, wanted);
      yield decoded(decoder, first);
    } else yield decoded(decoder, piece);
  }
  if (decoder) yield decoded(decoder);
  else {
    decoder = decoderFor(first, wanted);
    yield decoded(decoder, first) + decoded(decoder);
  }
}

function decoderFor(first: Uint8Array, wanted: Encoding | null): TextDecoder {
  return new TextDecoder(wanted ?? detectEncoding(first), { fatal: true });
}

function decoded(decoder: TextDecoder, piece?: Uint8Array): string {
  try {
    return piece ? decoder.decode(piece, { stream: true }) : decoder.decode();
  } catch {
    throw new AppError('INVALID_FORMAT', {
      message:
        'The file is neither UTF-8 nor UTF-16: save it as "CSV UTF-8", or name its encoding ' +
        '(windows-1252)',
      field: 'content',
    });
  }
}
