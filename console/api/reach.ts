// A call to the server, and the case that it brings no answer.

/** The server is away, or the connection is: whether it did what was asked is not known. */
export class NoAnswer extends Error {}

export async function reach(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init).catch((cause: Error) => {
    if (cause.name === 'AbortError') throw cause;
    throw new NoAnswer(cause.message, { cause });
  });
  // A proxy answers for a server that is away, without its headers.
  const isOther = response.status >= 500 && !response.headers.has('x-status-code');
  if (isOther) throw new NoAnswer(String(response.status));
  return response;
}
