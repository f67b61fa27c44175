// A workspace with a webhook, its receiver, and a sender that works in this process.
import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { createLog } from '../../src/base/log.ts';
import { useOutsideRules } from '../../src/base/outside/rules.ts';
import { startWebhookSender, type WebhookSenderOptions } from '../../src/worker/webhook-sender.ts';
import type { TestClient } from './client.ts';
import { localRules } from './local-rules.ts';
import { openReceiver, type Receiver } from './receiver.ts';
import type { Scene } from './scene.ts';

export function allowLoopback(): void {
  const allowedAddresses = ['127.0.0.1/32'];
  useOutsideRules({ allowedAddresses, allowsHttp: true, caFile: undefined });
}

export function newSecret(): { secret: string; key: Buffer } {
  const key = randomBytes(32);
  return { secret: `whsec_${key.toString('base64')}`, key };
}

export type Hooked = { receiver: Receiver; webhookID: number; key: Buffer };

/** Makes a webhook that a new receiver listens to. */
export async function hook(
  scene: Scene,
  client: TestClient,
  types: string[] = [],
): Promise<Hooked> {
  const { secret, key } = newSecret();
  const receiver = await openReceiver(key, () => scene.clock.now().epochMilliseconds);
  const webhook = { url: receiver.url, secret, types: types as never };
  const { headers } = await client.makeWebhooks({ webhooks: [webhook] });
  return { receiver, webhookID: Number(headers.get('x-resource-id')), key };
}

/** Like a worker, for one workspace; it looks often, and waits little between attempts. */
export function startSender(
  scene: Scene,
  tenantId: number,
  options: Partial<WebhookSenderOptions> = {},
): { stop(): Promise<void> } {
  return startWebhookSender({
    database: scene.worker,
    clock: scene.clock,
    log: createLog({ level: 'silent' }),
    tenantId,
    rules: () => localRules,
    pollMs: 50,
    ...options,
  });
}

/** Fails if it is not so within the seconds. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  seconds = 60,
): Promise<void> {
  const deadline = performance.now() + seconds * 1_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`after ${seconds} seconds not: ${what}`);
    await setTimeout(25);
  }
}
