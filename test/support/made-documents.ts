// Makes the documents that wait for a worker, as the worker does.
import { createLog } from '../../src/base/log.ts';
import { makeDocuments } from '../../src/worker/document-maker.ts';
import { asWorker } from './daily-work.ts';
import type { TestEquipment } from './equipment.ts';
import type { Scene } from './scene.ts';

const log = createLog({ level: 'silent' });

/** Returns how many were made. */
export function makeWaiting(
  scene: Scene,
  equipment: TestEquipment,
  tenantId: number,
): Promise<number> {
  const { clock } = scene;
  return asWorker(scene, (database) =>
    makeDocuments({ database, clock, log, equipment, tenantId }),
  );
}
