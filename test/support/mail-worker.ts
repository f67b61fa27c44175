// Published bills, and a worker that sends them to a mail server of the test. Use it for tests of
// distribute-bills.
import assert from 'node:assert/strict';
import type { TestClient } from './client.ts';
import { schedule } from './delivery.ts';
import { type EquipmentOptions, openTestEquipment } from './equipment.ts';
import { type MailScript, startMailServer } from './mail-server.ts';
import { openPostedTerm, type PartyFields } from './posted-term.ts';
import type { Service } from './pricing.ts';
import type { Scene } from './scene.ts';

export const closing: (() => Promise<unknown>)[] = [];

/** A mail server, and a worker that sends to it; both end with the test. */
export async function openMail(
  scene: Scene,
  script: MailScript = {},
  options: EquipmentOptions = {},
) {
  const server = await startMailServer(script);
  closing.push(() => server.close());
  return { server, ...openWorker(scene, { smtpUrl: server.url, ...options }) };
}

export function openWorker(scene: Scene, options: EquipmentOptions) {
  const equipment = openTestEquipment(options);
  const runner = scene.runJobs({ equipment });
  const stop = async () => {
    await runner.stop();
    await equipment.close();
  };
  // Workers end before the servers that they talk to.
  closing.unshift(stop);
  return { equipment, stop };
}

let made = 0;

export async function openPublished(
  scene: Scene,
  parties: readonly PartyFields[],
  service: Partial<Service> = {},
) {
  made += 1;
  const client = await scene.workspace(`distribute-${made}`);
  const term = await openPostedTerm(scene, client, parties, service);
  await client.publishBills(schedule(term.termId));
  return { client, ...term };
}

export async function statusOf(
  client: TestClient,
  termID: number,
): Promise<Record<string, number>> {
  const { data } = await client.getDeliveries({ termID });
  const counts: Record<string, number> = {};
  for (const { channel, status } of data.deliveries) {
    const key = `${channel} ${status}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

export const again = (termId: number) => {
  const { operation, data } = schedule(termId);
  return { operation, data: { ...data, resend: true } };
};

/** What the job of a request says that fails by no fault of the caller. */
export async function failureOf(client: TestClient, termID: number) {
  await assert.rejects(client.distributeBills(schedule(termID)), /distribute-bills failed/);
  const { data } = await client.getJobs({ termID, status: 'Failed' });
  return data.jobs[0]?.error?.message;
}

/** Later tests move the clock: what still waits then must not go to their servers. */
export async function leaveNothing(client: TestClient, termID: number) {
  const { data } = await client.getJobs({ termID, status: 'Scheduled' });
  for (const { jobID = 0 } of data.jobs) await client.cancelJob({ data: { jobID } });
}

/** Refuses every delivery row for which `when` is true, until the trigger is dropped. */
export async function refuseRows(scene: Scene, when: string) {
  await scene.sql.query(`
    create or replace function refuse_row() returns trigger language plpgsql as
      $$ begin raise exception 'a row that cannot be written'; end $$;
    create trigger refusing before insert or update on deliveries for each row
      when (${when}) execute function refuse_row()`);
  const mend = () => scene.sql.query('drop trigger if exists refusing on deliveries');
  closing.push(mend);
  return mend;
}
