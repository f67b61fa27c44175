// Walks the contract against the running server: every operation by its path and words, every field
// of its request, every field and type of its answer.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { steps } from '../src/billrun/steps.ts';
import {
  type ContractOperation,
  contract,
  contractOperation,
  fieldPaths,
  typeProblem,
} from './support/contract.ts';
import { openScene } from './support/scene.ts';

const scene = await openScene({ ownDatabase: true });
const admin = await scene.workspace('contract');
const runner = scene.runJobs({ steps: [...steps.values()] });
after(() => runner.stop());

type Json = Record<string, unknown>;
type Envelope = {
  success: boolean;
  statusCode: number;
  message: string;
  error: unknown;
  data: unknown;
};

async function send(operation: ContractOperation, body: Json) {
  const { path, method, action } = operation;
  const words = method === undefined ? {} : { method, action, apiVersion: 'v2' };
  const response = await fetch(new URL(path, scene.baseUrl), {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Workspace': 'contract',
      Authorization: admin.token ?? '',
    },
    body: JSON.stringify({ ...words, ...body }),
  });
  assert.equal(response.status, 200);
  const envelope = (await response.json()) as Envelope;
  const keys = ['success', 'statusCode', 'message', 'error', 'data'];
  assert.deepEqual(Object.keys(envelope), keys);
  return { envelope, ignored: response.headers.get('x-ignored-fields') };
}

const page = { pageNumber: 0, size: 10 };
const july = { startDate: '01/07/2026', endDate: '31/07/2026', dueDate: '15/08/2026' };
const sheduleTime = '2026-08-01T09:00:00';
const operation = 'schedule';

const service = {
  code: 'ELEC',
  name: 'Electricity',
  serviceType: 'Sale',
  chargingType: 'Postpaid',
  postType: 'Post Subscription',
  billingCycle: 1,
  dueDateOffset: 15,
  description: 'Of the town',
  values: [{ name: 'rate', type: 'Number', default: '20', overridable: 1 }],
  components: [{ name: 'energyCharge', type: 'Charge', manual: 'Optional' }],
  connectionInputs: [{ name: 'load', type: 'Number', required: 1 }],
  meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh' }],
  unmeteredInputs: [{ name: 'lamps', defaultValue: '0' }],
  bankAccounts: [{ title: 'Collections' }],
  batches: [{ batchCode: 'B01' }],
  invoiceTemplate: { templateID: 1 },
  emailTemplate: { templateID: 2 },
};

const tariff = {
  serviceCode: 'ELEC',
  code: 'RES-A1',
  name: 'Residential',
  uniqueLabel: 'Residential A-1',
  description: null,
  parentTariffCode: null,
  planType: 'BASE_PLAN',
  chargeType: 'Postpaid',
  abstract: 0,
  custom: 0,
  visibility: 'Public',
  billingPeriodID: null,
  valueFormulas: [{ name: 'rate', formula: '21' }],
  componentRules: [{ component: 'energyCharge', formula: 'usage.energy * rate' }],
  usageData: [{ input: 'energy', source: 'Metered' }],
  securityAttributes: [],
};
const { chargeType: _charge, abstract: _abstract, ...tariffUpdate } = tariff;

const connection = {
  serviceCode: 'ELEC',
  tariffCode: 'RES-A1',
  batchCode: 'B01',
  addonTariffLabels: [],
  connectionRefNo: 'PLOT-12',
  description: null,
  postType: 'Post Subscription',
  paymentMethod: null,
  projectName: null,
  connectionInputs: [{ name: 'load', value: '5' }],
  meteredConnectionInputs: [{ name: 'energy', meterNumber: 40012345 }],
  unmeteredInputs: [{ name: 'lamps', value: '2' }],
  meters: [{ number: 40012345, initialReading: '100' }],
  accounts: [],
  users: [{ partyNumber: 100001 }],
  variants: [{ name: 'rate', value: '19' }],
  address: { title: null, city: 'Lahore' },
  connectionDate: '01072026',
};

const manual = JSON.stringify({ termID: 1, compsData: [['ELEC-00000001', 'energyCharge', '950']] });

/** A request of each operation with every field of the contract, in an order in which all work. */
const requests: [number: number, body: Json][] = [
  [1, { name: 'North', billingPeriodID: null }],
  [
    6,
    {
      userType: 'customer',
      users: [
        {
          country: 'PK',
          name: 'A. Khan',
          email: 'khan@example.com',
          contacts: [{ contactType: 'Mobile', contactValue: '+92 300 1' }],
        },
      ],
    },
  ],
  [
    7,
    {
      user: {
        partyID: 1,
        partyNumber: 100001,
        name: 'A. Khan',
        email: 'khan@example.com',
        connectionGroups: [{ connectionGroupLabel: 'House 12' }],
        archiveStatus: 0,
      },
    },
  ],
  [10, { service }],
  [11, { tariff }],
  [12, { tariff: tariffUpdate }],
  [
    20,
    {
      meters: [
        { number: 40012345, brand: 'Itron', meterType: 1, purchaseDate: '15/01/2024', mf: 1 },
      ],
    },
  ],
  [5, { batchUpload: true, connection }],
  [2, {}],
  [3, { billingGroupID: 1 }],
  [
    4,
    {
      serviceCode: 'ELEC',
      connectionNumber: 'ELEC-00000001',
      partyID: 1,
      subscriptionType: 'Metered',
      status: 'Active',
      filters: { bills: true, payments: true },
      metaData: { sortBy: 'id' },
      page,
    },
  ],
  [8, { partyNumber: 100001, includeBills: true, page }],
  [9, { serviceCode: 'ELEC' }],
  [13, { serviceCode: 'ELEC', tariffID: null, exceptSubtree: null }],
  [21, { number: null, status: 'Active', mfNo: 1, page }],
  [
    14,
    {
      operation,
      data: {
        serviceCode: 'ELEC',
        batchCode: 'B01',
        billingPeriodID: 1,
        label: 'Jul-2026',
        ...july,
        postType: 'Post Subscription',
      },
    },
  ],
  [
    15,
    {
      serviceCode: 'ELEC',
      termID: 1,
      page,
      filters: null,
      metaData: null,
      type: 'Regular',
      status: 'Open',
      billID: null,
    },
  ],
  [16, { operation, data: { termID: 1, reading: 'current', sheduleTime } }],
  [17, { operation, data: { data: manual, sheduleTime } }],
  [19, { billTermID: 1, batchID: null }],
  [18, { operation, data: { termID: 1, sheduleTime }, billId: null }],
];

/** What is between the operations of the contract, by operations beside it. */
const between: Partial<Record<number, () => Promise<unknown>>> = {
  // The contract changes contexts and does not make them.
  10: () => admin.createService({ service: { ...service, name: 'Power' } as never }),
  2: () =>
    admin.assignBillingAccounts({
      data: { billingGroupID: 1, connectionGroupLabels: ['ELEC-00000001'] },
    }),
  16: () =>
    admin.makeReadings({
      readings: [{ number: 40012345, value: '150', readingDate: '31/07/2026' }],
    }),
  19: () => admin.generateBills({ operation, data: { termID: 1, sheduleTime } }),
  18: async () => {
    await admin.postBills({ operation, data: { termID: 1, sheduleTime } });
    await admin.publishBills({ operation, data: { termID: 1, sheduleTime } });
  },
};

const answers = new Map<number, unknown>();

for (const [number, body] of requests) {
  test(`operation ${number} takes every field of the contract`, async () => {
    const wanted = contractOperation(number);
    const sent = new Set(fieldPaths(body));
    assert.deepEqual(
      wanted.request.filter((path) => !sent.has(path)),
      [],
      'the request of this test lacks fields of the contract',
    );
    await between[number]?.();
    const { envelope, ignored } = await send(wanted, body);
    assert.ok(envelope.success, JSON.stringify(envelope));
    assert.deepEqual([envelope.statusCode, envelope.error, ignored], [200, null, null]);
    if (wanted.answersNothing) assert.deepEqual(envelope.data, {});
    answers.set(number, envelope.data);
  });
}

test('every operation of the contract is walked', () => {
  const walked = requests.map(([number]) => number).sort((a, b) => a - b);
  assert.deepEqual(
    walked,
    contract.operations.map((one) => one.number),
  );
  assert.equal(walked.length, 21);
  const fields = contract.operations.flatMap((one) => one.request);
  assert.equal(fields.length, 142, 'fields of requests');
  assert.equal(contract.operations.filter((one) => one.answersNothing).length, 12);
});

test('each path refuses other words than its own', async () => {
  for (const one of contract.operations) {
    if (one.action === undefined) continue;
    const { envelope } = await send({ ...one, action: `${one.action} ` }, {});
    const error = envelope.error as { code: string; allowed: unknown[] };
    assert.equal(error.code, 'OPERATION_MISMATCH', one.path);
    assert.ok(error.allowed.length > 0);
  }
});

/** Where which answer has the objects of a resource, and how many fields the contract gives it. */
const shown: [resource: string, fields: number, number: number, at: (data: never) => unknown[]][] =
  [
    ['Billing group', 3, 2, (data: Json[]) => data],
    ['Billing group', 3, 3, (data: Json) => [data.billingGroup]],
    ['Billing account summary', 5, 3, (data: Json) => data.connectionGroups as Json[]],
    ['Subscription', 26, 4, (data: Json) => data.connections as Json[]],
    ['Party', 10, 8, (data: Json) => [data.user]],
    ['Pricing context', 26, 9, (data: Json) => data.services as Json[]],
    ['Plan', 9, 13, (data: Json) => data.tariffs as Json[]],
    ['Term', 8, 15, (data: Json) => data.terms as Json[]],
    ['Meter', 6, 21, (data: Json) => (data.meters as { meters: Json[] }).meters],
  ];

for (const [resource, count, number, at] of shown) {
  test(`operation ${number} shows every field of a ${resource}`, () => {
    const fields = Object.entries(contract.resources[resource] ?? {});
    assert.equal(fields.length, count);
    const objects = at(answers.get(number) as never) as Json[];
    assert.ok(objects.length > 0, 'the answer has no objects');
    const problems = objects.flatMap((one) =>
      fields.flatMap(([name, type]) => {
        const problem = typeProblem(one[name], type);
        return problem === undefined ? [] : [`${name}: ${problem}`];
      }),
    );
    assert.deepEqual(problems, []);
  });
}

test('get-tariffs shows the fields of the contract and no others', () => {
  const names = Object.keys(contract.resources.Plan ?? {});
  const { tariffs } = answers.get(13) as { tariffs: Json[] };
  for (const one of tariffs) assert.deepEqual(Object.keys(one).sort(), names.toSorted());
  assert.equal(tariffs[0]?.connCount, 1);
});

test('get-meters shows the page that was asked for', () => {
  const { meters } = answers.get(21) as { meters: Json };
  assert.deepEqual(Object.keys(meters).sort(), ['meters', 'page']);
  assert.deepEqual(meters.page, page);
});

test('a page of null returns all', async () => {
  for (const number of [4, 15, 21]) {
    const { envelope } = await send(contractOperation(number), { page: null });
    assert.ok(envelope.success);
    assert.ok(JSON.stringify(envelope.data).length > 50);
  }
});
