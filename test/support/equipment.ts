// What a worker of a test renders and sends with.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMailer } from '../../src/base/mail/mailer.ts';
import { createMailBreaker } from '../../src/domain/delivery/mail-breaker.ts';
import { openRenderer, type Renderer } from '../../src/domain/delivery/renderer.ts';
import type { Equipment } from '../../src/jobs/tools.ts';

export type TestEquipment = Equipment & { close(): Promise<void> };

export type EquipmentOptions = {
  /** Otherwise mails become files. */
  smtpUrl?: string;
  mailsAtOnce?: number;
  silenceMs?: number;
  taskMs?: number;
  /** By which a mail server that is down is tried again. */
  clockMs?: () => number;
};

let shared: Renderer | undefined;

/** Shared by all workers of a file: a new thread loads fonts, and an idle one blocks no other. */
function sharedRenderer(): Renderer {
  shared ??= openRenderer({ threads: 1 });
  return shared;
}

export function openTestEquipment(options: EquipmentOptions = {}): TestEquipment {
  const { smtpUrl, mailsAtOnce = 4, silenceMs, taskMs, clockMs } = options;
  const dataFolder = mkdtempSync(join(tmpdir(), 'billwright-worker-'));
  const own = taskMs === undefined ? undefined : openRenderer({ threads: 1, taskMs });
  const mailer = createMailer({
    smtpUrl,
    smtpConnections: mailsAtOnce,
    mailFrom: { address: 'billing@city.example', name: 'City Power' },
    dataFolder,
    ...(silenceMs === undefined ? {} : { silenceMs }),
  });
  let isClosed = false;
  return {
    renderer: own ?? sharedRenderer(),
    mailer,
    mailsAtOnce,
    mailDomain: 'city.example',
    breaker: createMailBreaker(clockMs),
    dataFolder,
    async close() {
      if (isClosed) return;
      isClosed = true;
      mailer.close();
      await own?.close();
      rmSync(dataFolder, { recursive: true, force: true });
    },
  };
}
