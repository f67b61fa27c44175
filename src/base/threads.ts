// Threads for work that would keep the process from answering.
import type { Transferable } from 'node:worker_threads';
import { Tinypool } from 'tinypool';

export type Threads = {
  /** Calls the default function of the file. Throws `TaskTimeout` if it takes too long. */
  run<Result>(task: unknown, options: TaskOptions): Promise<Result>;
  close(): Promise<void>;
};

export type TaskOptions = { limitMs: number; transfer?: Transferable[] };

/** The task did not end within its time. Its thread is ended, and another takes its place. */
export class TaskTimeout extends Error {}

const idleMs = 30_000;
/** A task that needs more fails instead of the process. */
const threadMegabytes = 512;

/** Threads begin with the first task. Those that are idle keep no process from ending. */
export function openThreads(options: { file: URL; threads: number; megabytes?: number }): Threads {
  const pool = new Tinypool({
    filename: options.file.href,
    minThreads: 0,
    maxThreads: options.threads,
    idleTimeout: idleMs,
    // A thread that sleeps between tasks never comes to free the buffers of what it has drawn.
    useAtomics: false,
    resourceLimits: { maxOldGenerationSizeMb: options.megabytes ?? threadMegabytes },
  });
  return {
    async run(task, { limitMs, transfer }) {
      const signal = AbortSignal.timeout(limitMs);
      try {
        // The library declares another type than what it hands on to postMessage.
        const transferList = { transferList: transfer as never };
        return await pool.run(task, { signal, ...(transfer && transferList) });
      } catch (error) {
        if (signal.aborted) throw new TaskTimeout(`a task took more than ${limitMs} ms`);
        throw error;
      }
    },
    close: () => pool.destroy(),
  };
}
