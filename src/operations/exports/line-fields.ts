// Lines of a CSV file as an answer.
import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import type { StreamedAnswer } from '../operation.ts';

export const linesShown = Type.Object({
  lines: Type.Array(Type.String(), {
    description: 'the header and the rows, to be joined with CR LF',
  }),
});

/** Streamed: a file is as long as a workspace is large. The header is not counted. */
export function lineAnswer(
  chunks: AsyncIterable<string[]>,
  total: number,
): StreamedAnswer<Type.Static<typeof linesShown>> {
  const message = counted(total, 'row');
  return { message, total, wrap: (lines) => ({ lines }), chunks };
}
