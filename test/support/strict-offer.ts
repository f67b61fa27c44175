// A workspace with one offer that has fields of every kind, each with limits. Use it for tests of
// what make-connections stores and refuses.
import assert from 'node:assert/strict';
import { newTariff } from './pricing.ts';
import type { Scene } from './scene.ts';
import { type Connection, newOffer, newParty } from './subscriptions.ts';
import { hashRows } from './two-workspaces.ts';

export async function openStrictOffer(scene: Scene, workspace: string) {
  const admin = await scene.workspace(workspace);
  await scene.enter(admin);
  const offer = await newOffer(admin, {
    connectionInputs: [
      { name: 'load', type: 'Number', required: 1, minValue: '1', maxValue: '50' },
      { name: 'phase', type: 'Select', options: ['Single', 'Three'], defaultValue: 'Single' },
      { name: 'plot', type: 'Text', unique: 1, pattern: '[A-Z]{1,2}-[0-9]{1,4}' },
      { name: 'since', type: 'Date' },
      { name: 'shared', type: 'Boolean' },
    ],
    unmeteredInputs: [{ name: 'lamps', minValue: '0', maxValue: '20', decimals: 0 }],
    values: [
      { name: 'rate', type: 'Number', default: '20', overridable: 1 },
      { name: 'spare', type: 'Number', default: '1' },
      { name: 'needed', type: 'Number', default: null },
    ],
    batches: [{ batchCode: 'B01' }, { batchCode: 'OLD', archiveStatus: 1 }],
  });
  const { serviceCode } = offer;
  await newTariff(admin, serviceCode, { planType: 'ADDON_PLAN', uniqueLabel: 'Internet' });
  await newTariff(admin, serviceCode, {
    planType: 'ADDON_PLAN',
    uniqueLabel: 'Gone',
    visibility: 'Hidden',
  });
  const owner = await newParty(admin);
  const plain: Connection = {
    ...offer,
    connectionInputs: [{ name: 'load', value: '5' }],
    users: [{ partyNumber: owner }],
  };
  const make = (fields: object, options: { batchUpload?: boolean } = {}) => {
    const connection = { ...plain, ...fields } as Connection;
    return admin.makeConnections({ batchUpload: options.batchUpload ?? false, connection });
  };
  /** Nothing is stored of a call that is refused: not a row, not a number of a series. */
  const storesNothing = async (work: () => Promise<void>): Promise<void> => {
    const before = await hashRows(scene.sql);
    await work();
    assert.deepEqual(await hashRows(scene.sql), before);
  };
  return { admin, offer, serviceCode, owner, plain, make, storesNothing };
}
