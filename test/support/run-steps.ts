// Takes a step of the bill run through all its parts, as the runner does, one after the other.
import { after } from 'node:test';
import { type Database, tenantTransact } from '../../src/base/db/pool.ts';
import { createLog } from '../../src/base/log.ts';
import type { Finish, Step, StepJob, StepRequest } from '../../src/jobs/step.ts';
import type { Tools } from '../../src/jobs/tools.ts';
import { openTestEquipment } from './equipment.ts';
import { next } from './meter-rows.ts';
import type { Scene } from './scene.ts';

export type Crew = { scene: Scene; tenantId: number; database: Database; tools: Tools };

/** What workers have, for the rest of the file. */
export async function openCrew(scene: Scene, workspace: string): Promise<Crew> {
  const { crew, close } = await gather(scene, workspace);
  after(close);
  return crew;
}

/** The same for a while. */
export async function whileCrew<Result>(
  scene: Scene,
  workspace: string,
  work: (crew: Crew) => Promise<Result>,
): Promise<Result> {
  const { crew, close } = await gather(scene, workspace);
  try {
    return await work(crew);
  } finally {
    await close();
  }
}

async function gather(
  scene: Scene,
  workspace: string,
): Promise<{ crew: Crew; close(): Promise<void> }> {
  const { worker: database } = scene;
  const equipment = openTestEquipment();
  const log = createLog({ level: 'silent' });
  const tools = { ...equipment, database, log, isStopping: () => false };
  const { rows } = await scene.sql.query<{ tenant_id: string }>(
    'select tenant_id from workspaces where workspace = $1',
    [workspace],
  );
  return {
    crew: { scene, tenantId: Number(rows[0]?.tenant_id), database, tools },
    close: () => equipment.close(),
  };
}

export type Asked = {
  termId: number;
  billId?: number | null;
  parameters?: Record<string, unknown>;
  now?: Temporal.Instant;
  askedAt?: Temporal.Instant;
  /** True: the guards of the step are not asked. */
  isUnguarded?: boolean;
};

async function jobOf(crew: Crew, asked: Asked): Promise<StepJob> {
  const { scene, tenantId } = crew;
  const { rows } = await scene.sql.query(
    'select timezone, currency, currency_decimals from tenants where tenant_id = $1',
    [tenantId],
  );
  const [row] = rows;
  const request: StepRequest = {
    tenant: {
      tenantId,
      timezone: row.timezone,
      currency: row.currency,
      currencyDecimals: row.currency_decimals,
      clockOffsetMs: 0,
    },
    now: asked.now ?? scene.clock.now(),
    requestedBy: 'tester',
    termId: asked.termId,
    billId: asked.billId ?? null,
    // Terms of tests lie in the past, and so do their due dates.
    parameters: { acceptDueDate: true, ...asked.parameters },
    askedAt: asked.askedAt ?? null,
  };
  const jobId = await next(scene, tenantId, 'job');
  return { ...request, jobId };
}

export type Prepared = {
  job: StepJob;
  chunks: { chunk: number; firstId: number; lastId: number }[];
};

/** Guards and cuts, without doing any part. */
export async function prepareStep(crew: Crew, step: Step, asked: Asked): Promise<Prepared> {
  const job = await jobOf(crew, asked);
  const plan = await tenantTransact(crew.database, crew.tenantId, async (tx) => {
    if (!asked.isUnguarded) await step.check(tx, job);
    return step.prepare(tx, job);
  });
  return { job, chunks: plan.chunks.map((range, index) => ({ ...range, chunk: index + 1 })) };
}

export async function finishStep(
  crew: Crew,
  step: Step,
  { job, chunks }: Prepared,
): Promise<Finish> {
  const outcomes: object[] = [];
  let done = 0;
  for (const chunk of chunks) {
    const result = await tenantTransact(crew.database, crew.tenantId, (tx) =>
      step.work(tx, job, chunk, crew.tools),
    );
    done += result.done;
    if (result.outcome) outcomes.push(result.outcome);
  }
  return tenantTransact(crew.database, crew.tenantId, (tx) =>
    step.finish(tx, job, { done, total: done, outcomes, setAside: [] }, crew.tools),
  );
}

export async function runStep(crew: Crew, step: Step, asked: Asked): Promise<Finish> {
  return finishStep(crew, step, await prepareStep(crew, step, asked));
}
