// The typed client of the public API. An expired token is renewed and the call sent again.
import { createClient } from '../../sdk/client.ts';
import { reach } from './reach.ts';
import { currentSession, renewSession } from './session.ts';

export const api = createClient({ baseUrl: window.location.origin, fetch: sendWithToken });

async function sendWithToken(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const token = currentSession()?.token ?? null;
  const response = await reach(input, withToken(init, token));
  if (response.headers.get('x-status-code') !== '401' || token === null) return response;
  if (!(await renewSession(token))) return response;
  return reach(input, withToken(init, currentSession()?.token ?? null));
}

function withToken(init: RequestInit | undefined, token: string | null): RequestInit {
  const headers = new Headers(init?.headers);
  if (token !== null) headers.set('Authorization', token);
  return { ...init, headers };
}

/** How many rows a list has in all. */
export function totalIn(headers: Headers): number {
  return Number(headers.get('x-total-count') ?? 0);
}
