// Bills made in advance: usage in the term inside which an owner leaves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { newTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newMeter, newParty } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

const scopes = ['Segment', 'Term'] as const;
const october = { startDate: '01/10/2026', endDate: '31/10/2026' };

const service = {
  postBilling: 0,
  meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh' }],
  unmeteredInputs: [{ name: 'data', source: 'Uploaded' }],
  components: [
    { name: 'fee', label: 'Fee', type: 'Charge', sequence: 1 },
    { name: 'energyCharge', label: 'Energy', type: 'Charge', sequence: 2 },
    { name: 'used', label: 'Data', type: 'Charge', sequence: 3 },
  ],
};

/** 310 a month ahead; afterwards 10 a unit that is measured, and 2 one that is uploaded. */
const planOf = (scope: (typeof scopes)[number]) => ({
  componentRules: [
    { component: 'fee', formula: '310', prorate: 'Days' as const },
    {
      component: 'energyCharge',
      scope,
      window: 'Previous' as const,
      formula: 'usage.energy * 10',
    },
    { component: 'used', scope, window: 'Previous' as const, formula: 'usage.data * 2' },
  ],
  usageData: [{ input: 'data', source: 'Uploaded' as const }],
});

type Row = [owner: string, fee: number, energy: number, data: number];
type Street = Awaited<ReturnType<typeof openStreet>>;

let streets = 0;

/** A house for each scope, billed together: what happens to one happens to the other. */
async function openStreet() {
  streets += 1;
  const place = await openOffer(scene, `leaver-${streets}`, service as never, planOf('Segment'));
  const { client, offer } = place;
  const other = await newTariff(client, offer.serviceCode, planOf('Term'));
  const houses: { connectionNumber: string; number: number }[] = [];
  for (const tariffCode of [offer.tariffCode, other.code]) {
    const number = await newMeter(client);
    const meters = [{ number, installDate: '30/06/2026', initialReading: '0' }];
    houses.push({ connectionNumber: await place.connectOld({ tariffCode, meters }), number });
  }
  const connectionNumbers = houses.map((house) => house.connectionNumber);
  const rows: Row[][] = houses.map(() => []);
  /** The owner and the sums of each component; posted. */
  const bill = async (termID: number) => {
    const data = { termID, reading: 'current' };
    await client.postMeterReadings({ operation: 'schedule', data });
    await generate(place, termID);
    const bills = await billsOf(place, termID);
    await post(place, termID);
    for (const one of bills) {
      assert.deepEqual(one.errors, []);
      const sumOf = (name: string) =>
        one.lines.reduce((sum, line) => sum + (line.component === name ? line.amount : 0), 0);
      const row: Row = [one.partyName, sumOf('fee'), sumOf('energyCharge'), sumOf('used')];
      rows[connectionNumbers.indexOf(one.connectionNumber ?? '')]?.push(row);
    }
  };
  const read = (value: string, readingDate: string) =>
    client.makeReadings({ readings: houses.map(({ number }) => ({ number, value, readingDate })) });
  /** Each house has a term of its own. */
  const billFinal = async (...uploads: [quantity: string, day: string][]) => {
    for (const { connectionNumber } of houses) {
      const { headers } = await client.billConnection({ data: { connectionNumber } });
      const termID = Number(headers.get('x-term-id'));
      const usage = uploads.map(([quantity, day]) => [connectionNumber, 'data', quantity, day]);
      const data = { data: JSON.stringify({ termID, usage }) };
      await client.uploadUsage({ operation: 'schedule', data });
      await bill(termID);
    }
  };
  const leave = async (effectiveDate: string, value: string) => {
    for (const { connectionNumber, number } of houses) {
      const readings = [{ number, value }];
      const kind = 'Temporary' as const;
      await client.disconnectConnection({
        data: { connectionNumber, effectiveDate, kind, readings },
      });
    }
  };
  const handOn = async (name: string, transferDate: string, value: string) => {
    for (const { connectionNumber, number } of houses) {
      const toPartyNumber = await newParty(client, name);
      const readings = [{ number, value }];
      await client.transferConnection({
        data: { connectionNumber, transferDate, toPartyNumber, readings },
      });
    }
  };
  return { place, connectionNumbers, rows, bill, billFinal, read, leave, handOn };
}

const owner = 'A. Khan';

const stories: Record<string, { happens(street: Street): Promise<void>; bills: Row[] }> = {
  'uploaded use of the days of a final bill is on it, and on no other': {
    async happens({ place, connectionNumbers, bill, billFinal, read, leave }) {
      await bill(await place.open(july));
      await read('100', '31/07/2026');
      await leave('11/08/2026', '150');
      await billFinal(['5', '20/07/2026'], ['3', '05/08/2026']);
      for (const connectionNumber of connectionNumbers) {
        const on = { connectionNumber, effectiveDate: '05/09/2026', force: true };
        await place.client.reconnectConnection({ data: on });
      }
      await read('400', '30/09/2026');
      await bill(await place.open(september));
      await bill(await place.open(october));
    },
    bills: [
      [owner, 310, 0, 0],
      [owner, 100, 1500, 16],
      // 310 * 26/30
      [owner, 268.67, 0, 0],
      [owner, 310, 2500, 0],
    ],
  },
  'an owner who leaves in the first term is billed for the usage': {
    async happens({ billFinal, leave }) {
      await leave('11/07/2026', '50');
      await billFinal(['3', '05/07/2026']);
    },
    bills: [[owner, 100, 500, 6]],
  },
  'and so is each of several owners in one term': {
    async happens({ place, bill, billFinal, read, handOn }) {
      await handOn('Second', '11/07/2026', '50');
      await handOn('Third', '21/07/2026', '80');
      await billFinal(['3', '05/07/2026']);
      await billFinal(['4', '15/07/2026']);
      await bill(await place.open(july));
      await read('100', '31/07/2026');
      await bill(await place.open(august));
    },
    bills: [
      [owner, 100, 500, 6],
      ['Second', 100, 300, 8],
      ['Third', 110, 0, 0],
      ['Third', 310, 200, 0],
    ],
  },
  'use of the last days that were billed is on the next bill: Regular': {
    happens: (street) => billBetween(street, {}),
    bills: [
      [owner, 310, 0, 0],
      [owner, 310, 1000, 0],
      [owner, 0, 500, 0],
    ],
  },
  'use of the last days that were billed is on the next bill: Final': {
    happens: (street) =>
      billBetween(street, { type: 'Final', connectionNumbers: street.connectionNumbers }),
    bills: [
      [owner, 310, 0, 0],
      [owner, 310, 1000, 0],
      [owner, 0, 500, 0],
    ],
  },
  'an owner with a final bill does not block the regular term': {
    async happens({ place, connectionNumbers, bill, read, leave }) {
      await bill(await place.open(july));
      await read('100', '31/07/2026');
      await leave('11/08/2026', '150');
      const days = { startDate: '01/08/2026', endDate: '10/08/2026' };
      await bill(await place.open({ ...days, type: 'Final', connectionNumbers }));
      await bill(await place.open(august));
    },
    bills: [
      [owner, 310, 0, 0],
      [owner, 310, 1500, 0],
      [owner, 0, 0, 0],
    ],
  },
  'so it is where a Final term has the days of the bill before, too': {
    async happens({ place, connectionNumbers, bill, leave }) {
      await bill(await place.open(july));
      await leave('01/08/2026', '100');
      const days = { startDate: '01/07/2026', endDate: '05/08/2026' };
      await bill(await place.open({ ...days, type: 'Final', connectionNumbers }));
    },
    bills: [
      [owner, 310, 0, 0],
      [owner, 0, 1000, 0],
    ],
  },
};

/** Ten days of August are billed before the owner leaves, and the month after that. */
async function billBetween(
  { place, connectionNumbers, bill, read, leave }: Street,
  last: Parameters<Street['place']['open']>[0],
): Promise<void> {
  await bill(await place.open(july));
  await read('100', '31/07/2026');
  const days = { startDate: '01/08/2026', endDate: '10/08/2026' };
  await bill(await place.open({ ...days, type: 'OffCycle', connectionNumbers }));
  await leave('11/08/2026', '150');
  await bill(await place.open({ ...august, ...last }));
}

for (const [name, { happens, bills }] of Object.entries(stories)) {
  let billed: Promise<Row[][]> | undefined;
  const billStreet = async () => {
    const street = await openStreet();
    await happens(street);
    await assertChecks(scene, street.place.tenantId);
    return street.rows;
  };
  for (const [house, scope] of scopes.entries()) {
    test(`${name}: ${scope}`, async () => {
      billed ??= billStreet();
      assert.deepEqual((await billed)[house], bills);
    });
  }
}
