// A term is billed while the worker, the whole program and PostgreSQL are killed with -9 at random
// moments of every step. It ends by itself, and comes to what an undisturbed one came to.
//
//   FAULT_SEED=1 FAULT_KILLS=20 FAULT_SUBSCRIPTIONS=5000 node --test test/faults/kills.test.ts
//
// kills each of the three so often in each of the four steps, over as many terms as that takes;
// FAULT_STEPS=generate,post kills in these steps only, FAULT_MINUTES=25 begins no further term
// after that time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertChecks } from '../support/checks.ts';
import {
  ask,
  clientOf,
  type Digest,
  digestOf,
  type FullTerm,
  makeFullTerm,
  mayKill,
  type StepName,
  stepNames,
} from '../support/full-term.ts';
import { closeLastingGate } from '../support/gate.ts';
import { isLinux, until } from '../support/program.ts';
import { termID } from '../support/residential-rows.ts';
import { mailConnections, openSupervisor, type Target, targets } from '../support/supervisor.ts';

const seed = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 1e9));
const subscriptions = Number(process.env.FAULT_SUBSCRIPTIONS ?? 40);
/** Of each target in each step; without it, one term with one kill in each step. */
const wanted = Number(process.env.FAULT_KILLS ?? 0);
/** In one step of one term: more would leave no moment in which anything is done. */
const killsPerStep = 10;
const deadline = Date.now() + Number(process.env.FAULT_MINUTES ?? 600) * 60_000;
const steps = stepNames.filter((step) =>
  (process.env.FAULT_STEPS ?? stepNames.join(',')).split(',').includes(step),
);
/** Whatever comes after the last step in which anybody is killed is not done at all. */
const stepsDone = stepNames.slice(0, stepNames.indexOf(steps.at(-1) ?? 'generate') + 1);
const stepLimitMs = 10 * 60_000;

function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const random = randomFrom(seed);
const supervisor = isLinux ? await openSupervisor() : undefined;

type Counted = { kills: number; late: number; slowest: number };
const counts = new Map<string, Counted>();

function countOf(target: Target, step: StepName): Counted {
  const key = `${target} ${step}`;
  const found = counts.get(key) ?? { kills: 0, late: 0, slowest: 0 };
  counts.set(key, found);
  return found;
}

type Job = { status: string; done: number; total: number; error: object | null; ms: number };

async function jobOf({ tenantId }: FullTerm, jobId: number): Promise<Job> {
  assert.ok(supervisor);
  const [job] = await supervisor.rows(
    `select j.status, j.total, j.error,
       coalesce((select sum(k.done) from job_chunks k
         where k.tenant_id = j.tenant_id and k.job_id = j.job_id), 0)::integer as done,
       extract(epoch from finished_at - started_at)::float * 1000 as ms
     from jobs j where j.tenant_id = $1 and j.job_id = $2`,
    [tenantId, jobId],
  );
  return job;
}

const isOpen = (job: Job) => job.status === 'Scheduled' || job.status === 'Running';

/** Kills the targets in turn while the job runs; returns how many of them it met running. */
async function disturb(
  term: FullTerm,
  step: StepName,
  jobId: number,
  usualMs: number,
  victims: readonly Target[],
): Promise<number> {
  assert.ok(supervisor);
  let met = 0;
  for (const victim of victims) {
    await supervisor.recovered();
    await sleep((random() * usualMs) / victims.length);
    while (!(await mayKill(supervisor.rows, term, jobId))) await sleep(20);
    const before = await jobOf(term, jobId);
    const counted = countOf(victim, step);
    const began = performance.now();
    await supervisor.kill(victim, random);
    // Too late, and still a kill: what is done stays done.
    if (!isOpen(before)) {
      counted.late += 1;
      break;
    }
    met += 1;
    counted.kills += 1;
    await supervisor.recovered();
    counted.slowest = Math.max(counted.slowest, performance.now() - began);
  }
  return met;
}

async function succeeds(term: FullTerm, step: StepName, jobId: number): Promise<Job> {
  const job = await until(
    async () => {
      const now = await jobOf(term, jobId);
      return isOpen(now) ? undefined : now;
    },
    `seed ${seed}: ${step} of ${term.workspace} ends`,
    stepLimitMs,
  );
  assert.equal(job.status, 'Succeeded', `seed ${seed}: ${step}: ${JSON.stringify(job.error)}`);
  return job;
}

/** How long an undisturbed step takes, and its result. */
type Calm = Map<StepName, { ms: number; digest: Digest }>;

/**
 * Takes a term through the steps; each is requested once. The result after the last step is
 * compared with the undisturbed term, if there is one.
 */
async function bill(
  term: FullTerm,
  calm: Calm | undefined,
  victimsOf: (step: StepName) => readonly Target[],
  final: StepName,
): Promise<Calm> {
  assert.ok(supervisor);
  const came: Calm = new Map();
  for (const step of stepNames.slice(0, stepNames.indexOf(final) + 1)) {
    await supervisor.recovered();
    const jobId = await ask(clientOf(supervisor.baseUrl(), term), step);
    if (calm) await disturb(term, step, jobId, calm.get(step)?.ms ?? 0, victimsOf(step));
    const job = await succeeds(term, step, jobId);
    if (calm && step !== final) continue;
    // The last kill may have come after the step.
    await supervisor.recovered();
    const digest = await digestOf(supervisor.place, term.tenantId);
    came.set(step, { ms: job.ms, digest });
    if (calm) assert.deepEqual(digest, calm.get(step)?.digest, `seed ${seed}: after ${step}`);
  }
  await assertChecks(supervisor.place, term.tenantId);
  return came;
}

/** Every mail is sent at most once; uncertain mails are as few as promised. */
async function assertMails({ tenantId }: FullTerm, kills: number): Promise<number> {
  assert.ok(supervisor);
  const rows: { message_id: string; status: string }[] = await supervisor.rows(
    'select message_id, status from deliveries where tenant_id = $1',
    [tenantId],
  );
  assert.equal(rows.length, subscriptions, 'one delivery for each bill');
  const taken = supervisor.taken.filter((id) => id.includes(`.${tenantId}@`));
  assert.equal(new Set(taken).size, taken.length, `seed ${seed}: a mail was sent twice`);
  const arrived = new Set(taken);
  const uncertain = rows.filter((row) => row.status === 'Uncertain');
  const sent = rows.filter((row) => row.status === 'Sent');
  assert.equal(sent.length + uncertain.length, subscriptions);
  const lost = sent.filter((row) => !arrived.has(row.message_id));
  assert.deepEqual(lost, [], `seed ${seed}: said to be sent and never arrived`);
  const most = kills * mailConnections;
  assert.ok(uncertain.length <= most, `seed ${seed}: ${uncertain.length} uncertain, of ${most}`);
  return uncertain.length;
}

let made = 0;

async function newTerm(): Promise<FullTerm> {
  assert.ok(supervisor);
  made += 1;
  await supervisor.recovered();
  const { place, baseUrl } = supervisor;
  return makeFullTerm(place, baseUrl(), `killed-${made}`, subscriptions);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printRow(target: Target, uncertain: number): void {
  const cells = steps.map((step) => {
    const { kills, late, slowest } = countOf(target, step);
    return `${step} ${kills} (${late} late, back in ${(slowest / 1_000).toFixed(1)} s)`;
  });
  say(`${target.padEnd(10)} ${cells.join(', ')}, uncertain mails ${uncertain}`);
}

test('whatever is killed, a term is billed to its end as if nothing had happened', {
  skip: !isLinux,
}, async () => {
  assert.ok(supervisor);
  say(`seed ${seed}, ${subscriptions} subscriptions, ${wanted || 'few'} kills`);
  const undisturbed = await newTerm();
  const final = stepsDone.at(-1) as StepName;
  const calm = await bill(undisturbed, undefined, () => [], final);
  say(
    `undisturbed: ${[...calm].map(([step, { ms }]) => `${step} ${Math.round(ms)} ms`).join(', ')}`,
  );
  if (final === 'distribute') await assertMails(undisturbed, 0);
  const uncertain = new Map<Target, number>();
  if (wanted === 0) await billOnce(calm);
  while (targets.some(isMissed) && Date.now() < deadline) {
    for (const target of targets.filter(isMissed)) {
      const before = uncertain.get(target) ?? 0;
      uncertain.set(target, before + (await billKilled(target, calm)));
      printRow(target, uncertain.get(target) ?? 0);
    }
  }
  for (const target of targets) printRow(target, uncertain.get(target) ?? 0);
  const verified = await supervisor.command(['verify']);
  assert.equal(verified.code, 0, verified.output);
  assert.match(verified.output, /All checks passed\.\n$/);
});

/** One kill in each step, each target at least once. */
async function billOnce(calm: Calm): Promise<void> {
  const shift = Math.floor(random() * targets.length);
  const victims = new Map(
    stepNames.map((step, index) => [step, targets[(index + shift) % targets.length] as Target]),
  );
  const term = await newTerm();
  await bill(term, calm, (step) => [victims.get(step) as Target], 'distribute');
  await assertMails(term, 1);
}

const missing = (target: Target, step: StepName) =>
  steps.includes(step) ? Math.max(0, wanted - countOf(target, step).kills) : 0;

function isMissed(target: Target): boolean {
  return stepNames.some((step) => missing(target, step) > 0);
}

/** One more term for those steps in which the target was not killed often enough. */
async function billKilled(target: Target, calm: Calm): Promise<number> {
  const began = performance.now();
  const term = await newTerm();
  // The last steps take longest: a term whose later steps were killed often enough ends earlier.
  const last = stepNames.findLast((step) => missing(target, step) > 0) ?? 'generate';
  const victims = new Map(
    stepNames.map((step) => {
      const length = Math.min(killsPerStep, missing(target, step));
      return [step, Array.from({ length }, () => target)];
    }),
  );
  const before = countOf(target, 'distribute').kills;
  await bill(term, calm, (step) => victims.get(step) ?? [], last);
  const kills = countOf(target, 'distribute').kills - before;
  const uncertain = last === 'distribute' ? await assertMails(term, kills) : 0;
  const seconds = Math.round((performance.now() - began) / 1_000);
  say(`${target}: ${term.workspace} done up to ${last} in ${seconds} s`);
  return uncertain;
}

async function shownOf(term: FullTerm) {
  assert.ok(supervisor);
  const { data } = await clientOf(supervisor.baseUrl(), term).getTerms({ termID });
  return data.terms.map(({ status, stage }) => [status, stage]);
}

test('all are killed at once inside post: the term shows Posting, and posting continues without a request', {
  skip: !isLinux,
}, async () => {
  assert.ok(supervisor);
  const calm = await bill(await newTerm(), undefined, () => [], 'post');
  const term = await newTerm();
  await bill(term, undefined, () => [], 'generate');
  const mine = `new.tenant_id = ${term.tenantId}`;
  const gate = await closeLastingGate(supervisor.rows, 'subledger_entries', mine);
  const jobId = await ask(clientOf(supervisor.baseUrl(), term), 'post');
  await gate.reached();
  assert.equal((await jobOf(term, jobId)).status, 'Running');
  assert.equal(await supervisor.kill('program', () => 0), 'program, worker and PostgreSQL');
  await supervisor.recovered();
  // A worker is at it again without a new request.
  await gate.reached();
  assert.deepEqual(await shownOf(term), [['Open', 'Posting']]);
  const { status, done } = await jobOf(term, jobId);
  assert.deepEqual([status, done], ['Running', 0]);
  await gate.open();
  await succeeds(term, 'post', jobId);
  assert.deepEqual(await shownOf(term), [['Posted', 'Posted']]);
  assert.deepEqual(await digestOf(supervisor.place, term.tenantId), calm.get('post')?.digest);
  await assertChecks(supervisor.place, term.tenantId);
});
