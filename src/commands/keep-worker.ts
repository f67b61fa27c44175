import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Log } from '../base/log.ts';

const restartPauseMs = 2_000;

/**
 * A worker that dies is replaced; the queue gives its jobs to the new one. So is one that could not
 * be started, because the machine had no room for it: such a child never exits.
 */
export function keepWorker(
  log: Log,
  startChild: () => ChildProcess,
  pauseMs = restartPauseMs,
): { stop(): Promise<void> } {
  let isStopping = false;
  let child: ChildProcess;
  function launch(): void {
    if (isStopping) return;
    child = startChild();
    child.once('error', (error) => {
      log.error({ err: error }, 'the worker could not be started');
      if (child.pid === undefined) setTimeout(launch, pauseMs).unref();
    });
    child.once('exit', (code, signal) => {
      if (isStopping) return;
      log.error({ code, signal }, 'the worker ended and is started again');
      setTimeout(launch, pauseMs).unref();
    });
  }
  launch();
  return {
    async stop() {
      isStopping = true;
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      if (hasEnded || child.pid === undefined) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
