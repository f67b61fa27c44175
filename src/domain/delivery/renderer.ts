// The threads that render bills, shared by all jobs of a worker.
import { inTurns } from '../../base/at-once.ts';
import { openThreads } from '../../base/threads.ts';
import type { Paper } from '../documents/paper.ts';
import type { BillToRender, DocumentToRender } from './bill-input.ts';
import type { RenderSetting } from './document-setting.ts';
import type { MailTemplate } from './mail-text.ts';
import {
  type MailResult,
  type PaperOutcome,
  type RenderOutcome,
  type RenderResult,
  renderErrorOf,
} from './render-outcome.ts';
import type { PapersTask, RenderTask } from './render-thread.ts';

export type Renderer = {
  /** Documents, with results by bill. */
  render(
    setting: RenderSetting,
    bills: readonly DocumentToRender[],
  ): Promise<{ results: Map<number, RenderResult>; parts: Map<string, Uint8Array> }>;
  /** Renders documents other than bills, with the results in the same order. */
  print(papers: readonly Paper[]): Promise<PaperOutcome>;
  /** The words of mails, by bill. */
  write(
    setting: RenderSetting,
    bills: readonly BillToRender[],
    templates: ReadonlyMap<number, MailTemplate | null>,
  ): Promise<Map<number, MailResult>>;
  close(): Promise<void>;
};

/** Bills of one task: enough for their documents to share fonts, few enough to busy all threads. */
const billsPerTask = 50;
/** A bill takes some thousandths of a second; one that takes this long will never be done. */
const taskMs = 120_000;

export function openRenderer(options: { threads: number; taskMs?: number }): Renderer {
  const file = new URL('./render-thread.ts', import.meta.url);
  const threads = openThreads({ file, threads: options.threads });
  const limitMs = options.taskMs ?? taskMs;
  // The time limit begins when the thread takes the task: waiting for a thread must not count.
  const inTurn = inTurns(options.threads);
  let isClosed = false;

  const desk: Desk = {
    run: (task) =>
      inTurn(() => {
        if (isClosed) throw new Error('the renderer is closed');
        return threads.run(task, { limitMs });
      }),
    isClosed: () => isClosed,
  };

  return {
    async render(setting, bills) {
      const outcomes = await runAll<RenderOutcome>(
        desk,
        { setting, bills, mails: null },
        (billId, error) => ({
          results: [{ billId, error: renderErrorOf(error) }],
          parts: new Map(),
        }),
      );
      const results = outcomes.flatMap((outcome) => outcome.results);
      return {
        results: new Map(results.map((result) => [result.billId, result])),
        parts: new Map(outcomes.flatMap((outcome) => [...outcome.parts])),
      };
    },
    async print(papers) {
      const outcomes: PaperOutcome[] = [];
      for (let at = 0; at < papers.length; at += billsPerTask) {
        const some = papers.slice(at, at + billsPerTask);
        outcomes.push(await printSome(desk, some));
      }
      return {
        results: outcomes.flatMap((outcome) => outcome.results),
        parts: new Map(outcomes.flatMap((outcome) => [...outcome.parts])),
      };
    },
    async write(setting, bills, templates) {
      const outcomes = await runAll<MailResult[]>(
        desk,
        { setting, bills, mails: Object.fromEntries(templates) },
        (billId, error) => [{ billId, error: renderErrorOf(error) }],
      );
      return new Map(outcomes.flat().map((result) => [result.billId, result]));
    },
    close() {
      isClosed = true;
      return threads.close();
    },
  };
}

type Desk = { run<Result>(task: RenderTask | PapersTask): Promise<Result>; isClosed(): boolean };

/** If the thread died, each paper alone shows which one caused it. */
async function printSome(desk: Desk, papers: readonly Paper[]): Promise<PaperOutcome> {
  try {
    return await desk.run<PaperOutcome>({ papers });
  } catch (error) {
    if (desk.isClosed()) throw error;
    if (papers.length === 1)
      return { results: [{ error: renderErrorOf(error) }], parts: new Map() };
  }
  const alone: PaperOutcome[] = [];
  for (const paper of papers) alone.push(await printSome(desk, [paper]));
  return {
    results: alone.flatMap((outcome) => outcome.results),
    parts: new Map(alone.flatMap((outcome) => [...outcome.parts])),
  };
}

type Failed<Result> = (billId: number, error: unknown) => Result;

/** If the thread died or did not end, each bill alone shows which one caused it. */
async function runAll<Result>(
  desk: Desk,
  task: RenderTask,
  failed: Failed<Result>,
): Promise<Result[]> {
  const tasks = tasksOf(task).map(async (some) => {
    try {
      return [await desk.run<Result>(some)];
    } catch {
      return oneByOne(desk, some, failed);
    }
  });
  return (await Promise.all(tasks)).flat();
}

async function oneByOne<Result>(
  desk: Desk,
  task: RenderTask,
  failed: Failed<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const bill of task.bills) {
    try {
      results.push(await desk.run<Result>({ ...task, bills: [bill] }));
    } catch (error) {
      // The bill is not at fault: the caller renders it elsewhere.
      if (desk.isClosed()) throw error;
      results.push(failed(bill.bill_id, error));
    }
  }
  return results;
}

/** Each with the templates of its own bills. */
function tasksOf({ setting, bills, mails }: RenderTask): RenderTask[] {
  const tasks: RenderTask[] = [];
  for (let at = 0; at < bills.length; at += billsPerTask) {
    const some = bills.slice(at, at + billsPerTask);
    const own = mails && Object.fromEntries(some.map(({ bill_id: id }) => [id, mails[id] ?? null]));
    tasks.push({ setting, bills: some, mails: own });
  }
  return tasks;
}
