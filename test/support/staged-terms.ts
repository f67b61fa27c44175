// Terms of one service, made by the bill run itself and left at each of its stages.
import type { TestClient } from './client.ts';
import { smallService, smallTariff } from './pricing.ts';

const batches = ['DRAFT', 'POSTED', 'PUBLISHED', 'SENT'] as const;

/** Party 100001 is there, and a worker runs the jobs. */
export async function makeStagedTerms(client: TestClient): Promise<void> {
  await client.createService({
    service: {
      ...smallService,
      code: 'RUN',
      name: 'Services',
      values: [{ name: 'fee', type: 'Number', default: '500' }],
      components: [
        { name: 'service', label: 'Service', type: 'Charge' },
        { name: 'repairs', label: 'Repairs', type: 'Charge', manual: 'Optional' },
      ],
      meteredInputs: [],
      unmeteredInputs: [{ name: 'calls', unit: 'call', source: 'Uploaded' }],
      batches: batches.map((batchCode) => ({ batchCode, label: batchCode })),
    },
  });
  await client.createTariff({
    tariff: {
      ...smallTariff,
      serviceCode: 'RUN',
      code: 'RUN-A',
      uniqueLabel: 'Run',
      valueFormulas: [],
      componentRules: [{ component: 'service', scope: 'Term', formula: 'fee' }],
    },
  });
  await client.makeConnections({
    batchUpload: true,
    connection: [...batches, ...batches, null].map((batchCode, index) => ({
      serviceCode: 'RUN',
      tariffCode: 'RUN-A',
      postType: 'Post Subscription',
      batchCode,
      connectionNumber: `RUN-${index + 1}`,
      connectionDate: '01012026',
      users: [{ partyNumber: 100001 }],
    })),
  });
  for (const [index, batchCode] of batches.entries()) {
    const data = { serviceCode: 'RUN', batchCode, label: `January ${batchCode}` };
    const days = { startDate: '01/01/2026', endDate: '31/01/2026', dueDate: '31/12/2098' };
    const { headers } = await client.makeTerm({
      operation: 'schedule',
      data: { ...data, ...days },
    });
    await advance(client, Number(headers.get('x-term-id')), index);
  }
}

/** Generated, and so many steps further. */
async function advance(client: TestClient, termID: number, steps: number): Promise<void> {
  const step = { operation: 'schedule' as const, data: { termID } };
  await client.generateBills(step);
  if (steps > 0) await client.postBills(step);
  if (steps > 1) await client.publishBills(step);
  if (steps > 2) await client.distributeBills(step);
}
