// Forwards messages to a program of a developer, signed as a worker signs them.
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../base/clock.ts';
import { signedHeaders } from '../../base/outside/signature.ts';
import { pause, reasonOf } from './source.ts';

export type Forwarding = {
  url: string;
  secret: Buffer;
  clock: Clock;
  signal: AbortSignal;
  print: (line: string) => void;
};

const answerMs = 15_000;
const againMs = 1_000;
/** Characters of an answer that are printed. */
const shownMax = 200;

/**
 * Waits for a program that is not running, so that none of its messages is lost. An answer of any
 * status ends it: the developer sees the status. Returns whether it was from 200 to 299.
 */
export async function forward(
  { url, secret, clock, signal, print }: Forwarding,
  { id, body }: { id: string; body: string },
): Promise<boolean> {
  let isWaiting = false;
  while (!signal.aborted) {
    const began = performance.now();
    const signed = signedHeaders({ id, body, at: clock.now() }, [secret]);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'User-Agent': 'Billwright', ...signed },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
      });
      const text = (await response.text()).replace(/\s+/g, ' ').trim().slice(0, shownMax);
      const took = Math.round(performance.now() - began);
      print(`  -> ${response.status} in ${took} ms${text === '' ? '' : `: ${text}`}`);
      return response.ok;
    } catch (error) {
      if (signal.aborted) break;
      if ((error as Error).name === 'TimeoutError') {
        print(`  -> no answer within ${answerMs / 1_000} seconds`);
        return false;
      }
      if (!isWaiting) print(`  -> ${url} does not answer (${reasonOf(error)}). Waiting for it`);
      isWaiting = true;
      await pause(againMs, signal);
    }
  }
  return false;
}
