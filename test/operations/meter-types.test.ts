// The types of meters: those every workspace begins with, and its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene();
const admin = await scene.workspace('types');

const register = (name: string, facts: object = {}) => ({
  register: name,
  unit: 'kWh',
  kind: 'Cumulative' as const,
  timeOfUse: null,
  digits: 6,
  decimals: 0,
  ...facts,
});

/** Word for word what is published. */
const first = [
  {
    id: 1,
    name: 'Electric single phase',
    utility: 'Electricity',
    phases: 1,
    prepaid: 0,
    registers: [register('kWh')],
  },
  {
    id: 2,
    name: 'Electric three phase TOU',
    utility: 'Electricity',
    phases: 3,
    prepaid: 0,
    registers: [
      register('kWhPeak', { timeOfUse: 'Peak' }),
      register('kWhOffPeak', { timeOfUse: 'OffPeak' }),
      register('kW', { unit: 'kW', kind: 'Demand', digits: 5, decimals: 2 }),
    ],
  },
  {
    id: 3,
    name: 'Water',
    utility: 'Water',
    phases: null,
    prepaid: 0,
    registers: [register('m3', { unit: 'm3', digits: 5, decimals: 1 })],
  },
  {
    id: 4,
    name: 'Gas',
    utility: 'Gas',
    phases: null,
    prepaid: 0,
    registers: [register('m3', { unit: 'm3', digits: 5 })],
  },
  {
    id: 5,
    name: 'Heat / BTU',
    utility: 'Heat',
    phases: null,
    prepaid: 0,
    registers: [register('kWhT')],
  },
];

test('get-meter-metaData shows the first types and all words, exactly', async () => {
  const { data } = await admin.getMeterMetaData();
  assert.deepEqual(data, {
    meterTypes: first,
    brands: [],
    meterHealth: ['ok', 'faulty', 'stopped', 'tampered', 'lost', 'retired'],
    statuses: ['Active', 'InActive'],
    readingTypes: [
      'Actual',
      'Customer',
      'Estimated',
      'Installation',
      'Removal',
      'Final',
      'Check',
      'Automatic',
    ],
    readingRemarks: ['Locked premises', 'Meter stopped', 'Unreadable'],
  });
});

test('get-meter-metaData lists each brand of the registered meters once', async () => {
  const plain = { meterType: 1, purchaseDate: '15/01/2024', mf: 1 };
  const brands = ['Landis+Gyr', 'Itron', 'Landis+Gyr', 'Ärzen', 'Itron'];
  await admin.makeMeters({
    meters: brands.map((brand, index) => ({ number: index + 1, brand, ...plain })),
  });
  const { data } = await admin.getMeterMetaData();
  assert.deepEqual(data.brands.toSorted(), ['Itron', 'Landis+Gyr', 'Ärzen']);
  await admin.updateMeter({ data: { number: 4, brand: 'Zenner' } });
  assert.deepEqual((await admin.getMeterMetaData()).data.brands.toSorted(), [
    'Itron',
    'Landis+Gyr',
    'Zenner',
  ]);
});

const cooling = {
  name: 'Chilled water',
  utility: 'Cooling',
  registers: [{ register: 'TRh', unit: 'TRh', kind: 'Consumptive' as const, digits: 7 }],
};

test('make-meter-types makes types that meters can be of', async () => {
  const prepaid = {
    name: ' Prepaid ',
    utility: 'Electricity',
    phases: 1,
    prepaid: 1 as const,
    registers: [register('kWh', { decimals: 2 })],
  };
  const made = await admin.makeMeterTypes({ meterTypes: [cooling, prepaid] });
  assert.deepEqual(made.data, {});
  assert.equal(made.headers.get('x-resource-id'), '6,7');
  const { data } = await admin.getMeterMetaData();
  assert.deepEqual(data.meterTypes.slice(5), [
    {
      id: 6,
      name: 'Chilled water',
      utility: 'Cooling',
      phases: null,
      prepaid: 0,
      registers: [register('TRh', { unit: 'TRh', kind: 'Consumptive', digits: 7 })],
    },
    { ...prepaid, id: 7, name: 'Prepaid' },
  ]);
  const meter = { number: 77, brand: 'A', meterType: 7, purchaseDate: '15/01/2024', mf: 1 };
  await admin.makeMeters({ meters: [meter] });
  const shown = await admin.getMeters({ number: 77 });
  assert.equal(shown.data.meters.meters[0]?.meterType, 'Prepaid');
});

test('make-meter-types names every name that is taken or appears twice, and stores nothing', async () => {
  const before = await hashRows(scene.sql);
  const named = (name: string, registers = cooling.registers) => ({ ...cooling, name, registers });
  const [one] = cooling.registers;
  assert.ok(one);
  const refusal = await refuses(
    admin.makeMeterTypes({
      meterTypes: [
        named('New'),
        named('wATER'),
        named('NEW'),
        named('Newer', [one, { ...one, register: 'trH' }]),
      ],
    }),
    'DUPLICATE',
    { field: 'meterTypes[1].name', statusCode: 409 },
  );
  assert.deepEqual(
    refusal.error.details.map((detail) => detail.field),
    ['meterTypes[1].name', 'meterTypes[2].name', 'meterTypes[3].registers[1].register'],
  );
  const bad = (change: object) =>
    admin.makeMeterTypes({ meterTypes: [{ ...cooling, name: 'Bad', ...change }] });
  const withRegister = (change: object) => bad({ registers: [{ ...one, ...change }] });
  await refuses(bad({ phases: 4 }), 'INVALID_NUMBER', { field: 'meterTypes[0].phases' });
  await refuses(bad({ utility: '' }), 'REQUIRED_FIELD', { field: 'meterTypes[0].utility' });
  await refuses(bad({ registers: [] }), 'REQUIRED_FIELD', { field: 'meterTypes[0].registers' });
  await refuses(withRegister({ kind: 'Odd' }), 'INVALID_ENUM');
  await refuses(withRegister({ digits: 0 }), 'INVALID_NUMBER');
  await refuses(withRegister({ decimals: 7 }), 'INVALID_NUMBER');
  assert.deepEqual(await hashRows(scene.sql), before);
});

test('twenty types of one name at once: one is made, the others are refused', async () => {
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () =>
      admin.makeMeterTypes({ meterTypes: [{ ...cooling, name: 'Once only' }] }),
    ),
  );
  assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
  for (const result of results) {
    if (result.status === 'rejected') {
      assert.equal(result.reason.code, 'DUPLICATE');
      assert.equal(result.reason.error.field, 'meterTypes[0].name');
    }
  }
});
