// COPY … FROM STDIN, whose failure is an error of its stream and nothing else.
import type pg from 'pg';
import { type CopyStreamQuery, from } from 'pg-copy-streams';

/** Runs `copy … from stdin` with what is written to the stream. */
export function copyInto(client: pg.ClientBase, text: string): CopyStreamQuery {
  const stream = client.query(from(text));
  stream.once('error', () => dropRest(stream));
  return stream;
}

/**
 * PostgreSQL refused the COPY and reads no more of it. The library would send what it still holds,
 * on a connection that it has given back, and end the process with that error.
 */
function dropRest(stream: CopyStreamQuery): void {
  const { chunks } = stream as unknown as { chunks: unknown[] };
  chunks.length = 0;
  const ignore = () => {};
  Object.assign(stream, { _write: ignore, _writev: ignore, _final: ignore });
}
