// A clean stop: on SIGINT or SIGTERM, or when the parent process is gone.
import type { Log } from '../base/log.ts';
import type { Config } from '../config.ts';
import { type Context, openContext } from '../context.ts';

const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * Opens what a one-off command works on. If the command is interrupted, it stops PostgreSQL unless
 * another program uses it. A second signal ends the command without waiting for that.
 */
export async function openForCommand(
  config: Config,
  options: { quiet?: boolean; use?: 'claim' | 'join' } = {},
): Promise<Context> {
  let opened: Context | undefined;
  let asked: string | undefined;
  for (const signal of signals) {
    process.once(signal, () => {
      asked = signal;
      if (opened) void breakOff(opened, signal);
    });
  }
  opened = await openContext(config, { quiet: true, use: 'join', ...options });
  if (asked !== undefined) await breakOff(opened, asked);
  return opened;
}

async function breakOff(context: Context, signal: string): Promise<never> {
  process.stderr.write(`billwright: stopped by ${signal}\n`);
  // Work that still runs fails because PostgreSQL ends; these errors need not be logged.
  context.log.level = 'silent';
  await context.close();
  process.exit(1);
}

/**
 * A stop that takes longer than this is given up: the process manager would kill the process
 * anyway.
 */
const stopMs = 25_000;

/** Asked for while the program is still starting, a stop is done when it has started. */
export type StopRequests = { onStop(stop: (reason: string) => void): void };

const parentCheckMs = 500;

/** Call it first thing: from then on no signal ends the process halfway through its start. */
export function expectStop({ isStartedByNpm }: Config): StopRequests {
  let asked: string | undefined;
  let stop: ((reason: string) => void) | undefined;
  function ask(reason: string): void {
    // A second signal during the start ends the program at once.
    if (asked !== undefined && !stop) process.exit(1);
    asked ??= reason;
    stop?.(asked);
  }
  for (const signal of signals) process.on(signal, () => ask(signal));
  // A worker started by `start` ends with it, however that ends.
  if (process.send) {
    const orphaned = () => ask('the parent process is gone');
    process.on('disconnect', orphaned);
    // It may have gone while this process was still loading.
    if (!process.connected) orphaned();
  }
  // npm passes a signal on to its shell alone, which ends without the program that it has started.
  const parent = process.ppid;
  const watch = () => process.ppid !== parent && ask('the parent process is gone');
  if (isStartedByNpm) setInterval(watch, parentCheckMs).unref();
  return {
    onStop(handler) {
      stop = handler;
      if (asked !== undefined) handler(asked);
    },
  };
}

/** When the program is asked to stop, runs the steps in order and ends the process. */
export function stopInOrder(
  requests: StopRequests,
  log: Log,
  steps: readonly (() => Promise<void>)[],
): void {
  let isStopping = false;
  async function stop(reason: string): Promise<void> {
    if (isStopping) return;
    isStopping = true;
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
        log.error({ err: error }, 'a part of the program did not stop cleanly');
      }
    }
    log.info('stopped');
    log.flush(() => process.exit(code));
  }
  requests.onStop((reason) => void stop(reason));
}
