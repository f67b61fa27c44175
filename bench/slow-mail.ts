// What callers notice of a mail server in trouble while a worker sends bills to it: the 95th
// percentile of View Party meanwhile, over that of the same calls without. Both are measured in
// slices, in turn. The mails that were made before the trouble was met are none of it.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { stopOwnCluster } from '../test/support/cluster.ts';
import { termID } from '../test/support/residential-rows.ts';
import { adminPassword } from '../test/support/scene.ts';
import { openServed, type Place, runStep, type ServedScene } from './billrun-scene.ts';
import { Load } from './load.ts';
import type { Trouble } from './mail-trouble.ts';
import type { BenchOptions, BenchResult } from './result.ts';

const bills = 100;
const connections = 4;
/** Between two calls of one connection: callers who do not wait for a processor. */
const pauseMs = 5;
const warmUpSeconds = 0.5;
const body = { operation: 'schedule' as const, data: { termID } };

export async function benchSlowMail({ quick }: BenchOptions): Promise<BenchResult> {
  const mail = fork(new URL('mail-trouble.ts', import.meta.url));
  const [address] = (await once(mail, 'message')) as [AddressInfo];
  const folder = mkdtempSync(join(tmpdir(), 'billwright-bench-'));
  const env = { SMTP_URL: `smtp://127.0.0.1:${address.port}`, BILLWRIGHT_DATA: folder };
  const scene = await openServed(bills, env);
  try {
    await runStep(scene, scene.place, (client) => client.generateBills(body));
    await runStep(scene, scene.place, (client) => client.postBills(body));
    await runStep(scene, scene.place, (client) => client.publishBills(body));
    const load = await openLoad(scene);
    await load.times(warmUpSeconds, pauseMs);
    const figures: Record<string, number> = {};
    const measure = async (trouble: Trouble, beside: Trouble | null) => {
      const [rounds, seconds] = quick ? [2, 0.6] : [3, 1];
      const slices = { trouble, beside, rounds, seconds };
      const { without, during } = await measureTrouble(scene, load, mail, slices);
      figures[`view_party_p95_us_mail_${trouble}`] = Math.round(during * 1_000);
      figures[`view_party_p95_us_beside_${trouble}`] = Math.round(without * 1_000);
      return during / without;
    };
    const ratios: Record<string, number> = { api_p95_slow_smtp: await measure('slow', null) };
    if (!quick) {
      // These keep the worker busy, as a server does that takes every mail.
      ratios.api_p95_cutting_smtp = await measure('cutting', 'none');
      ratios.api_p95_refusing_smtp = await measure('refusing', 'none');
    }
    load.close();
    return { ratios, figures };
  } finally {
    await scene.close();
    mail.disconnect();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The customers of the bills, in turn. */
async function openLoad({ port, place }: ServedScene): Promise<Load> {
  const { workspace, client } = place;
  const username = `admin@${workspace}.example`;
  const { data } = await client.login({ username, password: adminPassword });
  const words = { method: 'Retrieve', action: 'Retrieve Parties', apiVersion: 'v2' };
  let next = 0;
  return Load.open(
    {
      name: 'view_party',
      port,
      path: '/billing/users/get-users',
      headers: { 'X-Workspace': workspace, Authorization: data.accessToken },
      body: () => {
        next = (next + 7) % bills;
        return JSON.stringify({ ...words, partyNumber: 100_001 + next });
      },
      expected: 'x-status-code: 200',
    },
    connections,
  );
}

type Slices = {
  trouble: Trouble;
  /** What it is compared with: another state of the mail server, or nothing being sent. */
  beside: Trouble | null;
  rounds: number;
  seconds: number;
};

/** The 95th percentiles, in milliseconds. */
async function measureTrouble(
  scene: ServedScene,
  load: Load,
  mail: ChildProcess,
  { trouble, beside, rounds, seconds }: Slices,
): Promise<{ without: number; during: number }> {
  const slice = async (state: Trouble) => {
    mail.send(state);
    const sending = keepSending(scene, scene.place);
    await untilMet(scene);
    const times = await load.times(seconds, pauseMs);
    mail.send('none');
    await sending.stop();
    return times;
  };
  const without: number[] = [];
  const during: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    without.push(...(beside ? await slice(beside) : await load.times(seconds, pauseMs)));
    during.push(...(await slice(trouble)));
  }
  return { without: p95(without), during: p95(during) };
}

const betweenRequestsMs = 200;

/** One request for all bills after the other, until it is stopped and the last has ended. */
function keepSending(scene: ServedScene, place: Place): { stop(): Promise<void> } {
  let isStopped = false;
  const again = { ...body, data: { ...body.data, resend: true } };
  const sending = (async () => {
    while (!isStopped) {
      await runStep(scene, place, (client) => client.distributeBills(again));
      await sleep(betweenRequestsMs);
    }
  })();
  return {
    stop() {
      isStopped = true;
      return sending;
    },
  };
}

const lookMs = 20;
/** What was rendered ahead takes no longer. */
const settleMs = 300;

/** Until mails are on their way, or have come back. */
async function untilMet({ superuser, place }: ServedScene): Promise<void> {
  for (let found = 0; found === 0; await sleep(lookMs)) {
    const { rowCount } = await superuser.query(
      `select from deliveries where tenant_id = $1
       and (status = 'Sending' or attempts > 0 and modified_at > now() - interval '1 second')
       limit 1`,
      [place.tenantId],
    );
    found = rowCount ?? 0;
  }
  await sleep(settleMs);
}

function p95(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
  const began = performance.now();
  const { ratios, figures } = await benchSlowMail({ quick: values.quick });
  console.table({ ...figures, ...ratios });
  process.stderr.write(`${Math.round((performance.now() - began) / 1_000)} seconds\n`);
  await stopOwnCluster();
}
