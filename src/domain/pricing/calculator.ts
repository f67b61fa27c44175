// Large definitions are checked and simulated in threads, a workspace's one after the other: the
// calls of others go on meanwhile. Small ones cost less than handing them over.
import { AppError } from '../../base/errors.ts';
import { FairTurns } from '../../base/fair-turns.ts';
import { openThreads, TaskTimeout, type Threads } from '../../base/threads.ts';
import type { CheckResult } from '../rating/check/check-plan.ts';
import type { Definitions, PriceBook } from '../rating/compile/price-book.ts';
import {
  type CalculationTask,
  calculate,
  type Simulated,
  type SimulationTask,
  simulated,
} from './calculation.ts';

/** As JSON. Up to this, a check or a bill takes a few thousandths of a second. */
const inlineCharactersMax = 20_000;
const threads = 2;
/** The largest definitions that are allowed take about a second on a machine that is not busy. */
const taskMs = 10_000;
const threadMegabytes = 256;

const turns = new FairTurns({
  places: threads,
  share: 1,
  waitingMax: 8,
  waitMs: 10_000,
  what: 'simulations and changes of large plans',
});

let opened: Threads | undefined;

function calculationThreads(): Threads {
  const file = new URL('./calculation-thread.ts', import.meta.url);
  opened ??= openThreads({ file, threads, megabytes: threadMegabytes });
  return opened;
}

/** What is wrong with the definitions from a day (DD/MM/YYYY) on. */
export async function checkDefinitionsFrom(
  tenantId: number,
  definitions: Definitions,
  from: string,
): Promise<CheckResult> {
  const task = { kind: 'check', definitions, from } as const;
  if (isSmall(definitions)) return calculate(task);
  return inThread(tenantId, task) as Promise<CheckResult>;
}

/** One imagined bill, by a book whose definitions are sound. */
export async function simulateBill(
  tenantId: number,
  book: PriceBook,
  request: Pick<SimulationTask, 'frozen' | 'explain'>,
): Promise<Simulated> {
  const { definitions } = book;
  if (isSmall([definitions, request.frozen])) return simulated(book, request);
  return inThread(tenantId, { kind: 'simulate', definitions, ...request }) as Promise<Simulated>;
}

function isSmall(value: unknown): boolean {
  return JSON.stringify(value).length <= inlineCharactersMax;
}

function inThread(tenantId: number, task: CalculationTask): Promise<unknown> {
  return turns.run(tenantId, async () => {
    try {
      return await calculationThreads().run(task, { limitMs: taskMs });
    } catch (error) {
      if (!(error instanceof TaskTimeout) && !isOutOfMemory(error)) throw error;
      throw new AppError('FORMULA_TOO_COSTLY', {
        message: `The plans take more than ${taskMs / 1000} seconds to compute. Simplify them`,
        cause: error,
      });
    }
  });
}

function isOutOfMemory(error: unknown): boolean {
  return (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY';
}
