// A clean stop: on SIGINT or SIGTERM, or when the parent process is gone.
import type { Log } from '../base/log.ts';

/** A stop that takes longer than this is given up: somebody will kill the process anyway. */
const stopMs = 25_000;

/** Runs the steps in order once a stop is asked for, and ends the process. */
export function stopOnSignal(log: Log, steps: readonly (() => Promise<void>)[]): void {
  let stopping = false;
  async function stop(reason: string): Promise<void> {
    if (stopping) return;
    stopping = true;
    log.info({ reason }, 'stopping');
    setTimeout(() => {
      log.error('the stop took too long and was given up');
      process.exit(1);
    }, stopMs).unref();
    let code = 0;
    for (const step of steps) {
      try {
        await step();
      } catch (error) {
        code = 1;
        log.error({ err: error }, 'a part did not stop cleanly');
      }
    }
    log.info('stopped');
    log.flush();
    process.exit(code);
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => void stop(signal));
  }
  // A worker started by `start` ends with it, however that ends.
  if (process.send) process.on('disconnect', () => void stop('the parent process is gone'));
}
