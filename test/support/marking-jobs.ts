// Jobs of a marking step, and workers that do them. Use it for tests of the job runner itself.

import assert from 'node:assert/strict';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { findSettings } from '../../src/domain/tenants/store.ts';
import { tenantFrom } from '../../src/domain/tenants/tenant.ts';
import { findJob } from '../../src/jobs/jobs-store.ts';
import { scheduleStep } from '../../src/jobs/schedule-step.ts';
import type { Step } from '../../src/jobs/step.ts';
import type { JobRunner } from '../../src/worker/job-runner.ts';
import { until } from './program.ts';
import type { Scene } from './scene.ts';
import { makeWorkspace } from './scene.ts';

const runners: JobRunner[] = [];

export function run(
  scene: Scene,
  steps: readonly Step[],
  options: { lanes?: number; leaseSeconds?: number; pollMs?: number; isSpread?: boolean } = {},
) {
  const runner = scene.runJobs({ steps, lanes: 2, ...options });
  runners.push(runner);
  return runner;
}

export async function stopAll(): Promise<void> {
  for (const runner of runners.splice(0)) await runner.stop();
}

export let made = 0;

export async function newTenant(
  scene: Scene,
  options: { timezone?: string; sandbox?: boolean } = {},
): Promise<number> {
  made += 1;
  const { cluster, databaseName } = scene;
  return makeWorkspace(cluster, databaseName, scene.clock.now(), `jobs-${made}`, options);
}

export function ask(
  scene: Scene,
  tenantId: number,
  step: Step,
  parameters: object = { items: 10, size: 3 },
  scheduleTime: string | null = null,
) {
  return tenantTransact(scene.api, tenantId, async (tx) => {
    const tenant = tenantFrom(tenantId, await findSettings(tx, tenantId));
    const request = {
      tenant,
      now: scene.clock.now().add({ milliseconds: tenant.clockOffsetMs }),
      requestedBy: 'a manager',
      termId: null,
      billId: null,
      parameters: { ...parameters },
    };
    return scheduleStep(tx, step, request, scheduleTime);
  });
}

export const jobOf = (scene: Scene, tenantId: number, jobId: number) =>
  tenantTransact(scene.api, tenantId, async (tx) => {
    const job = await findJob(tx, tenantId, jobId);
    assert.ok(job);
    return job;
  });

export async function ended(scene: Scene, tenantId: number, jobId: number) {
  return until(async () => {
    const job = await jobOf(scene, tenantId, jobId);
    return job.finished_at && job;
  }, `job ${jobId} ends`);
}

export const range = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
