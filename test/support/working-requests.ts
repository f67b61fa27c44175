// Subscriptions and meters in a new workspace, and requests about them that work there: with every
// object that the request can have, so that each can be tried.
import { seeded } from './bill-rows.ts';
import type { TestClient } from './client.ts';
import { smallService, smallTariff } from './pricing.ts';
import type { Json } from './requests.ts';

const postType = 'Post Subscription';
const offer = { serviceCode: 'SUB', tariffCode: 'SUB-A', postType };
const inputs = [{ name: 'load', value: '5' }];
const brand = { brand: 'Itron', meterType: 1, purchaseDate: '15/01/2023', mf: 1 };
/** Subscription SUB-n has the meter 600 + n. */
const subscriptions = 14;

/** Parties, accounts, a group and subscriptions for the requests below. */
export async function prepareWorking(client: TestClient): Promise<void> {
  const users = [{ name: 'First' }, { name: 'Second' }, { name: 'Former' }];
  await client.makeUsers({ userType: 'customer', users });
  await client.updateUser({ user: { partyNumber: 100003, archiveStatus: 1 } });
  await client.addBillingGroup({ name: 'First' });
  const connectionGroups = [{ connectionGroupLabel: 'House 12-B' }];
  await client.updateUser({ user: { partyNumber: 100001, connectionGroups } });
  await prepareSubscriptions(client);
}

/** Parties 100001 and 100002 are there. */
export async function prepareSubscriptions(client: TestClient): Promise<void> {
  await client.createService({
    service: {
      ...smallService,
      code: 'SUB',
      connectionInputs: [{ name: 'load', type: 'Number' }],
      unmeteredInputs: [{ name: 'lamps', defaultValue: '0' }],
      meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh' }],
    },
  });
  const plan = { ...smallTariff, serviceCode: 'SUB' };
  for (const code of ['SUB-A', 'SUB-B']) {
    await client.createTariff({ tariff: { ...plan, code, uniqueLabel: code } });
  }
  const addOn = { code: 'SUB-X', uniqueLabel: 'Extra', planType: 'ADDON_PLAN' as const };
  await client.createTariff({ tariff: { ...plan, ...addOn } });
  const numbers = Array.from({ length: 20 }, (_, index) => 601 + index);
  await client.makeMeters({ meters: numbers.map((number) => ({ number, ...brand })) });
  await client.makeConnections({
    batchUpload: true,
    connection: Array.from({ length: subscriptions }, (_, index) => ({
      ...offer,
      connectionNumber: `SUB-${index + 1}`,
      connectionDate: '01012024',
      status: [4, 5].includes(index + 1) ? ('Disconnected' as const) : ('Active' as const),
      connectionInputs: inputs,
      users: [{ partyNumber: 100001 }],
      // The eighth gets one by assign-meter, the last has none.
      meters: [8, subscriptions].includes(index + 1) ? [] : [601 + index],
    })),
  });
  const gone = { connectionNumber: `SUB-${subscriptions}`, effectiveDate: '01/03/2024' };
  await client.disconnectConnection({ data: gone });
  const reading = { number: 613, readingDate: '01/02/2024', value: '100' };
  const lower = { ...reading, readingDate: '01/03/2024', value: '50' };
  await client.makeReadings({ readings: [reading, lower] });
}

const readingsOf = (n: number) => [{ number: 600 + n, register: 'kWh', value: '5' }];

export const workingRequests: Record<string, Json> = {
  eraseParty: { user: { partyNumber: 100003, reason: 'asked for' } },
  holdBills: { data: { billIDs: [1], hold: false, reason: 'checked' } },
  makePayments: {
    payments: [
      {
        ...{ reference: 'P-1', partyNumber: 100001, amount: 5, paymentMethod: 'Cash' },
        allocations: [{ billID: seeded.publishedBill, amount: 1 }],
      },
    ],
  },
  importBankFile: {
    ...{ bankAccountID: 1, format: 'CSV', mappingName: 'Seeded' },
    contentBase64: Buffer.from('01/02/2024,7,new\n').toString('base64'),
  },
  matchBankLine: {
    data: {
      ...{ bankLineID: 1, payer: { partyNumber: 100001 } },
      allocations: [{ billID: seeded.publishedBill, amount: 1 }],
    },
  },
  makePromises: {
    promises: [{ partyNumber: 100001, amount: 5, date: '31/12/2099', reason: 'Payday' }],
  },
  makeInstalmentPlans: {
    plans: [
      {
        ...{ connectionNumber: 'RUN-1', billIDs: [seeded.creditedBill], reason: 'No job' },
        instalments: [{ dueDate: '31/12/2099', amount: 600 }],
      },
    ],
  },
  endArrangement: { data: { arrangementID: seeded.arrangement, reason: 'Moved away' } },
  makeAdjustments: {
    adjustments: [
      {
        ...{ reference: 'A-1', connectionNumber: 'RUN-1', component: 'service' },
        ...{ kind: 'Credit', amount: -1, reason: 'Goodwill' },
      },
    ],
  },
  transferPayment: { data: { paymentID: 3, toPartyNumber: 100002, reason: 'Wrong house' } },
  reallocatePayment: {
    data: {
      ...{ paymentID: 2, reason: 'For another bill' },
      allocations: [{ billID: seeded.publishedBill, amount: 1 }],
    },
  },
  clearPayment: { data: { paymentID: 4 } },
  decideApproval: { data: { approvalID: 1, decision: 'Reject', reason: 'Not agreed' } },
  makeCashDesks: { cashDesks: [{ code: 'GATE', name: 'Gate', cashAccountID: 1 }] },
  closeDay: {
    data: {
      ...{ cashDesk: 'MAIN', date: '01/01/2024' },
      counted: [{ paymentMethod: 'Cash', amount: 0 }],
    },
  },
  closeMonth: { data: { month: '08/2025', reason: 'Reconciled' } },
  reopenMonth: { data: { month: '08/2025', reason: 'Forgotten' } },
  exportMonth: { month: '07/2025', format: 'CSV' },
  waiveSurcharge: { data: { billID: seeded.publishedBill, reason: 'Bank closed' } },
  demandDeposit: {
    data: { connectionNumber: 'RUN-1', amount: 5, reference: 'D-1', reason: 'Late' },
  },
  refundDeposit: {
    data: { connectionNumber: 'RUN-1', amount: 1, reference: 'DR-1', reason: 'In time' },
  },
  makeDisputes: {
    disputes: [{ billID: seeded.publishedBill, amount: 1, reason: 'Too much' }],
  },
  resolveDispute: { data: { disputeID: 901, outcome: 'Rejected', remark: 'Right' } },
  makeCreditNotes: {
    creditNotes: [
      {
        ...{ reference: 'N-1', billID: seeded.publishedBill, reason: 'Misread' },
        lines: [{ component: 'service', amount: 1 }],
      },
    ],
  },
  makeConnections: {
    batchUpload: true,
    connection: [
      {
        ...offer,
        connectionDate: '01012024',
        connectionInputs: inputs,
        addonTariffLabels: [{ label: 'Extra', quantity: '2' }],
        unmeteredInputs: [{ name: 'lamps', value: '3' }],
        meteredConnectionInputs: [{ name: 'energy', meterNumber: 620, register: 'kWh' }],
        meters: [{ number: 620, initialReadings: [{ register: 'kWh', value: '7' }] }],
        accounts: [{ title: 'Receivable', balance: 5 }],
        users: [{ partyNumber: 100001, connectionGroupLabel: 'House 12-B' }],
        address: { city: 'Lahore' },
      },
    ],
  },
  updateConnection: {
    data: {
      connectionNumber: 'SUB-2',
      connectionInputs: inputs,
      addonTariffLabels: [{ label: 'Extra', quantity: '2' }],
      unmeteredInputs: [{ name: 'lamps', value: '3' }],
      users: [{ partyNumber: 100002, role: 'Payer' }],
      address: { city: 'Lahore' },
    },
  },
  disconnectConnection: { data: { connectionNumber: 'SUB-3', readings: readingsOf(3) } },
  reconnectConnection: { data: { connectionNumber: 'SUB-4', readings: readingsOf(4) } },
  closeConnection: { data: { connectionNumber: 'SUB-5' } },
  transferConnection: {
    data: { connectionNumber: 'SUB-6', toPartyNumber: 100002, readings: readingsOf(6) },
  },
  changeTariff: {
    data: { connectionNumber: 'SUB-7', tariffCode: 'SUB-B', readings: readingsOf(7) },
  },
  assignMeter: {
    data: {
      connectionNumber: 'SUB-8',
      number: 608,
      installDate: '01/02/2024',
      initialReadings: [{ register: 'kWh', value: '0' }],
    },
  },
  replaceMeter: {
    data: {
      connectionNumber: 'SUB-9',
      oldNumber: 609,
      newNumber: 619,
      replaceDate: '01/02/2024',
      finalReadings: [{ register: 'kWh', value: '5' }],
      initialReadings: [{ register: 'kWh', value: '0' }],
    },
  },
  removeMeter: {
    data: {
      connectionNumber: 'SUB-10',
      number: 610,
      removeDate: '01/02/2024',
      finalReadings: [{ register: 'kWh', value: '5' }],
    },
  },
  makeReadings: { readings: [{ number: 611, value: '5', readingDate: '01/02/2024' }] },
  // Twelve meters were read at their installation, the thirteenth twice since.
  reviewReading: { data: { readingID: 14, decision: 'Accept', value: '120' } },
};

/**
 * Usage is of the last two years; the bills of these workspaces are older. Gateways and messages to
 * webhooks have no text of a caller: test/events tries them from another workspace.
 */
export const unmarkedAnyway = new Set<string>(['getUsage', 'getGateways', 'getWebhookMessages']);
