// Work that a worker does again and again, with a pause between.
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../base/log.ts';

/** Begins at once: what a worker that died left behind waits no longer than needed. */
export function repeatEvery(
  ms: number,
  work: () => Promise<unknown>,
  { log, failure }: { log: Log; failure: string },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    while (!signal.aborted) {
      await work().catch((error) => log.error({ err: error }, failure));
      await setTimeout(ms, undefined, { signal, ref: false }).catch(() => {});
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
