// A workspace with one offer, and customers that another system has billed through June 2026.
import type { Running } from './bill-run.ts';
import type { Service } from './pricing.ts';
import type { Scene } from './scene.ts';
import { type Connection, newOffer, newParty, type Offer, subscribe } from './subscriptions.ts';
import { newTerm, type TermData } from './terms.ts';

export const july = { startDate: '01/07/2026', endDate: '31/07/2026' };
export const august = { startDate: '01/08/2026', endDate: '31/08/2026' };
export const september = { startDate: '01/09/2026', endDate: '30/09/2026' };

export type OfferPlace = Running & {
  offer: Offer;
  /** The number of whoever is connected unless another is named. */
  party: number;
  /** A term of the offer's context. */
  open(data: Partial<TermData>): Promise<number>;
  /** Returns the number of the subscription. */
  connectOld(fields?: Partial<Connection>): Promise<string>;
};

/** Dates of tests lie in 2026, which is over: the clock is moved to where it is. */
export async function openOffer(
  scene: Scene,
  workspace: string,
  service: Partial<Service>,
  tariff: Parameters<typeof newOffer>[2],
  partyName?: string,
  options: { sandbox?: boolean } = {},
): Promise<OfferPlace> {
  scene.clock.begin(Temporal.Instant.from('2027-01-01T00:00:00Z'));
  const client = await scene.workspace(workspace, options);
  const { rows } = await scene.sql.query('select find_workspace($1) as id', [workspace]);
  const offer = await newOffer(client, { meteredInputs: [], holdRules: [], ...service }, tariff);
  const party = await newParty(client, partyName);
  const days = { connectionDate: '01062026', billedThrough: '30062026' };
  const users = [{ partyNumber: party, connectionGroupLabel: 'House' }];
  return {
    scene,
    client,
    tenantId: Number(rows[0].id),
    offer,
    party,
    open: (data) => newTerm(client, { serviceCode: offer.serviceCode, ...data }),
    connectOld: (fields) =>
      subscribe(client, { ...offer, ...days, users, ...fields }, { batchUpload: true }),
  };
}
