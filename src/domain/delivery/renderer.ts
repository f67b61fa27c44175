// The threads that render bills, shared by all jobs of a worker.
import { inTurns } from '../../base/at-once.ts';
import { openThreads } from '../../base/threads.ts';
import type { BillToRender } from './bill-input.ts';
import type { RenderSetting } from './document-setting.ts';
import type { MailTemplate } from './mail-text.ts';
import { type RenderOutcome, type RenderResult, renderErrorOf } from './render-outcome.ts';

export type Renderer = {
  render(
    setting: RenderSetting,
    bills: readonly BillToRender[],
    mails: ReadonlyMap<number, MailTemplate | null> | null,
  ): Promise<{ edition: string; results: Map<number, RenderResult> }>;
  close(): Promise<void>;
};

/** So many that handing them over does not count, so few that all threads have some. */
const billsPerTask = 10;
/** A bill takes some thousandths of a second; one that takes this long will never be done. */
const taskMs = 120_000;

export function openRenderer(options: { threads: number; taskMs?: number }): Renderer {
  const file = new URL('./render-thread.ts', import.meta.url);
  const threads = openThreads({ file, threads: options.threads });
  const limitMs = options.taskMs ?? taskMs;
  // The time limit begins when the thread takes the task: waiting for a thread must not count.
  const inTurn = inTurns(options.threads);
  let isClosed = false;

  function run(
    setting: RenderSetting,
    bills: readonly BillToRender[],
    mails: ReadonlyMap<number, MailTemplate | null> | null,
  ): Promise<RenderOutcome> {
    const words = mails === null ? null : Object.fromEntries(mails);
    const own = words && Object.fromEntries(bills.map(({ bill_id: id }) => [id, words[id]]));
    const task = { setting, bills, mails: own };
    return inTurn(() => {
      if (isClosed) throw new Error('the renderer is closed');
      return threads.run(task, { limitMs });
    });
  }

  /** The thread died or did not end. Rendering each bill alone shows which one caused it. */
  async function oneByOne(
    setting: RenderSetting,
    bills: readonly BillToRender[],
    mails: ReadonlyMap<number, MailTemplate | null> | null,
  ): Promise<RenderOutcome> {
    let edition = '';
    const results: RenderResult[] = [];
    for (const bill of bills) {
      try {
        const outcome = await run(setting, [bill], mails);
        edition = outcome.edition;
        results.push(...outcome.results);
      } catch (error) {
        // The bill is not at fault: the caller renders it elsewhere.
        if (isClosed) throw error;
        results.push({ billId: bill.bill_id, error: renderErrorOf(error) });
      }
    }
    return { edition, results };
  }

  return {
    async render(setting, bills, mails) {
      const tasks = tasksOf(bills).map((some) =>
        run(setting, some, mails).catch(() => oneByOne(setting, some, mails)),
      );
      const outcomes = await Promise.all(tasks);
      const results = outcomes.flatMap((outcome) => outcome.results);
      return {
        edition: outcomes.find((outcome) => outcome.edition !== '')?.edition ?? 'none',
        results: new Map(results.map((result) => [result.billId, result])),
      };
    },
    close() {
      isClosed = true;
      return threads.close();
    },
  };
}

function tasksOf(bills: readonly BillToRender[]): BillToRender[][] {
  const tasks: BillToRender[][] = [];
  for (let at = 0; at < bills.length; at += billsPerTask) {
    tasks.push(bills.slice(at, at + billsPerTask));
  }
  return tasks;
}
