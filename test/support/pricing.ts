// A small context and plan, and ways to make them.
import assert from 'node:assert/strict';
import type { RequestOf } from '../../sdk/client.ts';
import type { TestClient } from './client.ts';

export type Service = RequestOf<'createService'>['service'];
export type Tariff = RequestOf<'createTariff'>['tariff'];

export const smallService = {
  code: 'ELEC',
  name: 'Electricity',
  serviceType: 'Sale',
  chargingType: 'Postpaid',
  postType: 'Post Subscription',
  billingCycle: 1,
  values: [
    { name: 'rate', type: 'Number', default: '20' },
    { name: 'spare', type: 'Number', default: '1' },
    { name: 'needed', type: 'Number', default: null },
  ],
  components: [
    { name: 'energyCharge', label: 'Energy', type: 'Charge', categories: ['taxable'] },
    { name: 'gst', label: 'GST', type: 'Tax' },
  ],
  meteredInputs: [{ name: 'energy', unit: 'kWh' }],
} satisfies Service;

export const smallTariff = {
  serviceCode: 'ELEC',
  code: 'DOM',
  name: 'Domestic',
  uniqueLabel: 'Domestic',
  planType: 'BASE_PLAN',
  chargeType: 'Postpaid',
  componentRules: [
    { component: 'energyCharge', formula: 'usage.energy * rate' },
    { component: 'gst', scope: 'Term', formula: 'SUMCAT("taxable") * 10%' },
  ],
} satisfies Tariff;

let made = 0;

/** A context under a code of its own. */
export async function newService(
  client: TestClient,
  fields: Partial<Service> = {},
): Promise<string> {
  made += 1;
  const code = fields.code ?? `S${made}`;
  await client.createService({ service: { ...smallService, ...fields, code } });
  return code;
}

export async function newTariff(
  client: TestClient,
  serviceCode: string,
  fields: Partial<Tariff> = {},
): Promise<{ serviceCode: string; code: string; tariffID: number }> {
  made += 1;
  const code = fields.code ?? `P${made}`;
  const uniqueLabel = `Plan ${made}`;
  const tariff = { ...smallTariff, uniqueLabel, ...fields, serviceCode, code };
  const { headers } = await client.createTariff({ tariff });
  return { serviceCode, code, tariffID: Number(headers.get('x-resource-id')) };
}

/** What a plan charges for 100 units in a month that ends on this day. */
export async function priceOf(
  client: TestClient,
  plan: { serviceCode: string; code: string },
  month: string,
): Promise<number> {
  const [startDate, endDate] = [`01/${month}`, `28/${month}`];
  const { data } = await client.simulateTariff({
    serviceCode: plan.serviceCode,
    tariffCode: plan.code,
    scenario: {
      term: { startDate, endDate },
      meters: [
        {
          number: 1,
          input: 'energy',
          previous: { date: startDate, value: '0' },
          current: { date: endDate, value: '100' },
        },
      ],
    },
  });
  return data.bill.status === 'Error' ? Number.NaN : data.bill.currentCharges;
}

/** As get-services shows it. */
export async function shownService(client: TestClient, serviceCode: string) {
  const { data } = await client.getServices({ serviceCode });
  const [service] = data.services;
  assert.ok(service, serviceCode);
  return service;
}
