// A workspace with one offer, and subscriptions to it that are billed up to forty days ago. Use it
// for tests of what happens to a subscription after it is made.
import { newTariff } from './pricing.ts';
import type { Scene } from './scene.ts';
import { type Connection, day, newOffer, newParty, subscribe } from './subscriptions.ts';

export async function openChangingOffer(scene: Scene, workspace: string) {
  const admin = await scene.workspace(workspace);
  await scene.enter(admin);
  const operator = await scene.loginAs(admin, ['Billing Operator']);
  const offer = await newOffer(admin, {
    connectionInputs: [
      { name: 'load', type: 'Number' },
      { name: 'plot', type: 'Text', unique: 1 },
    ],
    unmeteredInputs: [{ name: 'lamps', defaultValue: '0' }],
    values: [
      { name: 'rate', type: 'Number', default: '20', overridable: 1 },
      { name: 'spare', type: 'Number', default: '1' },
      { name: 'needed', type: 'Number', default: null },
    ],
    batches: [{ batchCode: 'B01' }],
  });
  const { serviceCode } = offer;
  await newTariff(admin, serviceCode, { planType: 'ADDON_PLAN', uniqueLabel: 'Internet' });
  await newTariff(admin, serviceCode, { planType: 'ADDON_PLAN', uniqueLabel: 'Telephone' });
  const other = await newTariff(admin, serviceCode);
  const owner = await newParty(admin, 'Old Owner');
  const newOwner = await newParty(admin, 'New Owner');
  const plain: Connection = { ...offer, users: [{ partyNumber: owner }] };
  /** Connected a hundred days ago, billed up to forty days ago. */
  const billed = (fields: Partial<Connection> = {}): Promise<string> => {
    const connection = { ...plain, connectionDate: day(-100, ''), billedThrough: day(-40, '') };
    return subscribe(admin, { ...connection, ...fields }, { batchUpload: true });
  };
  return { admin, operator, offer, serviceCode, other, owner, newOwner, plain, billed };
}
