// Subscriptions and what they need, made by calls.
import type { RequestOf } from '../../sdk/client.ts';
import type { TestClient } from './client.ts';
import { newService, newTariff, type Service } from './pricing.ts';

export type Connection = Exclude<RequestOf<'makeConnections'>['connection'], unknown[]>;

/** The parts that a subscription refers to. */
export type Offer = { serviceCode: string; tariffCode: string; postType: string };

export async function newOffer(
  client: TestClient,
  service: Partial<Service> = {},
  tariff: Parameters<typeof newTariff>[2] = {},
): Promise<Offer> {
  const serviceCode = await newService(client, service);
  const { code } = await newTariff(client, serviceCode, tariff);
  return { serviceCode, tariffCode: code, postType: service.postType ?? 'Post Subscription' };
}

export async function newParty(client: TestClient, name = 'A. Khan'): Promise<number> {
  const { headers } = await client.makeUsers({ userType: 'customer', users: [{ name }] });
  return Number(headers.get('x-party-number'));
}

/** Makes one subscription and tells its number. */
export async function subscribe(
  client: TestClient,
  connection: Connection,
  options: { batchUpload?: boolean } = {},
): Promise<string> {
  const { headers } = await client.makeConnections({
    batchUpload: options.batchUpload ?? false,
    connection,
  });
  return headers.get('x-connection-number') ?? '';
}
