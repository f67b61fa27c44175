// What is sold for the same price each month, made by calls to a program that runs.
import type { Client } from '../../sdk/client.ts';
import { smallService, smallTariff } from './pricing.ts';

/** A plan of 500 a month, and a customer with a subscription to it. */
export async function makeFlatOffer(client: Client): Promise<void> {
  const service = { ...smallService, code: 'FLAT', meteredInputs: [] };
  await client.createService({ service });
  const componentRules = [{ component: 'energyCharge', scope: 'Term' as const, formula: '500' }];
  await client.createTariff({ tariff: { ...smallTariff, serviceCode: 'FLAT', componentRules } });
  const { headers } = await client.makeUsers({ userType: 'customer', users: [{ name: 'Asma' }] });
  const partyNumber = Number(headers.get('x-party-number'));
  await client.makeConnections({
    batchUpload: true,
    connection: {
      serviceCode: 'FLAT',
      tariffCode: smallTariff.code,
      postType: 'Post Subscription',
      connectionDate: '01012025',
      users: [{ partyNumber }],
    },
  });
}

/** A term of 28 days of a month of 2026. */
export async function makeFlatTerm(client: Client, month: string): Promise<number> {
  const days = { startDate: `01/${month}/2026`, endDate: `28/${month}/2026` };
  const data = { serviceCode: 'FLAT', label: month, ...days };
  const { headers } = await client.makeTerm({ operation: 'schedule', data });
  return Number(headers.get('x-term-id'));
}
