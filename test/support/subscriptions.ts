// Subscriptions and what they need, made by calls.
import assert from 'node:assert/strict';
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

/** A day of the workspaces of tests, counted from today: DD/MM/YYYY, or with another separator. */
export function day(offset: number, separator = '/'): string {
  const date = Temporal.Now.plainDateISO('Asia/Karachi').add({ days: offset });
  return date.toString().split('-').reverse().join(separator);
}

let meters = 800_000;

/** Registers a meter and tells its number. */
export async function newMeter(
  client: TestClient,
  facts: { meterType?: number; mf?: number } = {},
): Promise<number> {
  meters += 1;
  const usual = { brand: 'Itron', meterType: 1, purchaseDate: '15/01/2024', mf: 1 };
  await client.makeMeters({ meters: [{ ...usual, ...facts, number: meters }] });
  return meters;
}

/** The one subscription with a number. */
export async function shown(
  client: TestClient,
  connectionNumber: string,
  filters: RequestOf<'getConnections'>['filters'] = null,
) {
  const { data } = await client.getConnections({ connectionNumber, filters });
  const [one] = data.connections;
  assert.equal(data.connections.length, 1, connectionNumber);
  assert.ok(one);
  return one;
}
