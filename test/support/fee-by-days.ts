// A workspace with a fee of 310 a month, by days, and subscriptions billed through June 2026. Use it
// for tests of terms beside each other.

import type { BillRun } from './bill-run.ts';
import type { Scene } from './scene.ts';
import { newOffer, type Offer, subscribe } from './subscriptions.ts';
import { newTerm } from './terms.ts';

export const fee = (formula: string) => [{ component: 'fee', formula, prorate: 'Days' }];

export type Place = BillRun & { offer: Offer };

let made = 0;

/** A fee of 310 a month, by days. */
export async function openPlace(
  scene: Scene,
  service: object = {},
  tariff: object = {},
): Promise<Place> {
  made += 1;
  const name = `beside-${made}`;
  const client = await scene.workspace(name);
  const { rows } = await scene.sql.query('select find_workspace($1) as id', [name]);
  const offer = await newOffer(
    client,
    {
      meteredInputs: [],
      components: [{ name: 'fee', label: 'Fee', type: 'Charge' }],
      holdRules: [],
      ...service,
    } as never,
    { componentRules: fee('310'), ...tariff } as never,
  );
  return { scene, client, tenantId: Number(rows[0].id), offer } as Place;
}

/** Billed through June. */
export async function subscribed({ client, offer }: Place, partyNumber: number, label = 'House') {
  const users = [{ partyNumber, connectionGroupLabel: label }];
  const connection = { ...offer, connectionDate: '01062026', billedThrough: '30062026', users };
  return subscribe(client, connection as never, { batchUpload: true });
}

export const termFor = ({ client, offer }: Place, days: object) =>
  newTerm(client, { serviceCode: offer.serviceCode, ...days } as never);
