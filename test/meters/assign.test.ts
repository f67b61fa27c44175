// Hanging meters up, as making subscriptions and assigning meters do it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Tx, tenantTransact } from '../../src/base/db/pool.ts';
import { AppError } from '../../src/base/errors.ts';
import {
  type CheckedInstallations,
  checkInstallations,
  installMeters,
  isMetered,
} from '../../src/domain/meters/assign.ts';
import type { Binding, WantedInstallation } from '../../src/domain/meters/installation.ts';
import { insertSubscriptions } from '../support/plain-subscription.ts';
import { newService, newTariff } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const admin = await scene.workspace('hanging');
const tenantId = await scene.enter(admin);
await admin.makeUsers({ userType: 'customer', users: [{ name: 'Asma Khan' }] });
await admin.updateUser({
  user: { partyID: 1, connectionGroups: [{ connectionGroupLabel: 'House 1' }] },
});
await newTariff(admin, await newService(admin));

const stamp = { at: Temporal.Instant.from('2026-03-01T00:00:00Z'), by: 'test' };
const installDate = Temporal.PlainDate.from('2026-01-10');
const energy = { name: 'energy', unit: 'kWh' };

let lastNumber = 100;

async function newMeter(facts: { meterType?: number; mf?: number; health?: 'faulty' } = {}) {
  lastNumber += 1;
  const { meterType = 1, mf = 1, health } = facts;
  const meter = { number: lastNumber, brand: 'Itron', meterType, purchaseDate: '15/01/2024', mf };
  await admin.makeMeters({ meters: [meter] });
  if (health) await admin.updateMeter({ data: { number: lastNumber, meterHealth: health } });
  return lastNumber;
}

function wanted(
  numbers: readonly number[],
  facts: Partial<WantedInstallation> & { initialReading?: string } = {},
): WantedInstallation {
  const { initialReading = null, ...others } = facts;
  return {
    field: 'connection',
    installDate,
    inputs: [energy],
    requiredInputs: [],
    meters: numbers.map((number, index) => ({
      field: `connection.meters[${index}]`,
      number,
      installDate: null,
      initialReading,
      initialReadings: [],
    })),
    bindings: [],
    ...others,
  };
}

function binding(facts: Partial<Binding> & { name: string; meterNumber: number }): Binding {
  return {
    field: 'connection.meteredConnectionInputs[0]',
    register: null,
    openingReading: null,
    openingDate: null,
    ...facts,
  };
}

function check(...installations: WantedInstallation[]): Promise<CheckedInstallations> {
  return tenantTransact(scene.api, tenantId, (tx) =>
    checkInstallations(tx, tenantId, installations),
  );
}

async function codesOf(...installations: WantedInstallation[]) {
  const { problems } = await check(...installations);
  return problems.map((problem) => [problem.code, problem.field]);
}

/** Checks and stores, as one call does. */
async function install(installation: WantedInstallation): Promise<number> {
  const [subscription] = await insertSubscriptions(scene, tenantId, 1);
  const subscriptionId = subscription?.subscriptionId ?? 0;
  await tenantTransact(scene.api, tenantId, async (tx) => {
    const { problems, installations } = await checkInstallations(tx, tenantId, [installation]);
    if (problems[0]) throw new AppError(problems[0].code, { details: problems });
    const meters = installations[0] ?? [];
    await installMeters(tx, tenantId, [{ subscriptionId, meters }], stamp);
  });
  return subscriptionId;
}

async function hangingAt(subscriptionId: number) {
  const { rows } = await scene.sql.query(
    `select m.number::int, m.status, a.install_date::text, a.mf, r.position, r.input,
       (select array_agg(e.reading_date || ' ' || e.value || ' ' || e.reading_type || ' ' || e.status
          order by e.reading_date)
        from readings e
        where e.tenant_id = ${tenantId} and e.assignment_id = a.assignment_id and e.position = r.position)
       as readings
     from meter_assignments a
     join meters m on m.tenant_id = ${tenantId} and m.meter_id = a.meter_id
     join assignment_registers r on r.tenant_id = ${tenantId} and r.assignment_id = a.assignment_id
     where a.tenant_id = ${tenantId} and a.subscription_id = $1
     order by m.number, r.position`,
    [subscriptionId],
  );
  return rows;
}

test('a meter is installed with its factor, its registers, its input and its first reading', async () => {
  const number = await newMeter({ mf: 40 });
  const at = await install(wanted([number], { initialReading: '0012.00' }));
  assert.deepEqual(await hangingAt(at), [
    {
      number,
      status: 'Active',
      install_date: '2026-01-10',
      mf: 40,
      position: 1,
      input: 'energy',
      readings: ['2026-01-10 12 Installation Accepted'],
    },
  ]);
});

test('a counter of which nothing is said begins at zero; a demand register with nothing', async () => {
  const number = await newMeter({ meterType: 2 });
  const inputs = [
    { name: 'peak', unit: 'kWh', register: 'KWHPEAK' },
    { name: 'rest', unit: 'kwh' },
    { name: 'demand', unit: 'kW' },
  ];
  const rows = await hangingAt(await install(wanted([number], { inputs })));
  assert.deepEqual(
    rows.map((row) => [row.input, row.readings]),
    [
      ['peak', ['2026-01-10 0 Installation Accepted']],
      ['rest', ['2026-01-10 0 Installation Accepted']],
      ['demand', null],
    ],
  );
});

test('the last reading of an input elsewhere becomes the first reading of the installation', async () => {
  const number = await newMeter();
  const openingDate = Temporal.PlainDate.from('2025-12-31');
  const bindings = [
    binding({ name: 'energy', meterNumber: number, openingReading: '4711', openingDate }),
  ];
  const rows = await hangingAt(await install(wanted([], { bindings })));
  assert.equal(rows[0]?.install_date, '2025-12-31');
  assert.deepEqual(rows[0]?.readings, ['2025-12-31 4711 Installation Accepted']);
  const late = await newMeter();
  const meters = wanted([late]).meters.map((meter) => ({ ...meter, installDate }));
  const early = [binding({ name: 'energy', meterNumber: late, openingReading: '1', openingDate })];
  assert.deepEqual(await codesOf(wanted([], { meters, bindings: early })), [
    ['INVALID_DATE', 'connection.meteredConnectionInputs[0].openingDate'],
  ]);
});

test('a meter that is unknown, installed elsewhere, repeated or not ok is named', async () => {
  const free = await newMeter();
  const faulty = await newMeter({ health: 'faulty' });
  const hung = await newMeter();
  await install(wanted([hung]));
  const bindings = [binding({ name: 'energy', meterNumber: 999_999 })];
  const one = wanted([free], { field: 'connection[0]' });
  const two = wanted([faulty, hung, free, 999_998], { field: 'connection[1]', bindings });
  const { problems } = await check(one, two);
  assert.deepEqual(problems.map((problem) => [problem.code, problem.rejectedValue]).slice(0, 5), [
    ['METER_NOT_ASSIGNABLE', faulty],
    ['METER_ALREADY_ASSIGNED', hung],
    ['METER_ALREADY_ASSIGNED', free],
    ['METER_NOT_REGISTERED', 999_998],
    ['METER_NOT_REGISTERED', 999_999],
  ]);
  assert.equal(problems[4]?.field, 'connection.meteredConnectionInputs[0].meterNumber');
});

test('inputs are bound by code and unit only where that leaves one choice', async () => {
  const [one, two] = [await newMeter(), await newMeter()];
  const water = await newMeter({ meterType: 3 });
  const day = await newMeter({ meterType: 2 });
  const meters = 'connection.meters';
  assert.deepEqual(await codesOf(wanted([one, two])), [['METER_BINDING_AMBIGUOUS', meters]]);
  assert.deepEqual(await codesOf(wanted([day])), [['METER_BINDING_AMBIGUOUS', meters]]);
  const twins = { inputs: [energy, { name: 'export', unit: 'kWh' }] };
  assert.deepEqual(await codesOf(wanted([one], twins)), [
    ['METER_BINDING_AMBIGUOUS', meters],
    ['METER_BINDING_AMBIGUOUS', meters],
  ]);
  assert.deepEqual(await codesOf(wanted([water])), [
    ['METER_TYPE_NOT_ALLOWED', 'connection.meters[0].number'],
  ]);
  const onlyThree = { inputs: [{ ...energy, meterTypes: [2] }] };
  assert.deepEqual(await codesOf(wanted([one], onlyThree)), [
    ['METER_TYPE_NOT_ALLOWED', 'connection.meters[0].number'],
  ]);
  assert.deepEqual(await codesOf(wanted([water], { inputs: [] })), []);
  const said = [
    binding({ name: 'energy', meterNumber: one }),
    binding({ name: 'energy', meterNumber: two }),
  ];
  const { installations } = await check(wanted([one, two], { bindings: said }));
  assert.deepEqual(
    installations[0]?.map((meter) => meter.registers),
    [[{ position: 1, input: 'energy' }], [{ position: 1, input: 'energy' }]],
  );
  assert.ok(isMetered(installations[0] ?? []));
});

test('what the caller says of registers is held against the meter', async () => {
  const day = await newMeter({ meterType: 2 });
  const at = 'connection.meteredConnectionInputs[0]';
  const tries: [Partial<Binding>, string, string][] = [
    [{ register: 'kWhPeak' }, '', ''],
    [{}, 'METER_BINDING_AMBIGUOUS', `${at}.register`],
    [{ register: 'kW' }, 'METER_TYPE_NOT_ALLOWED', `${at}.register`],
    [{ register: 'm3' }, 'REGISTER_REQUIRED', `${at}.register`],
    [{ name: 'steam' }, 'UNKNOWN_INPUT', `${at}.name`],
    [{ register: 'kWhPeak', openingReading: '1000000' }, 'INVALID_NUMBER', `${at}.openingReading`],
    [{ register: 'kWhPeak', openingReading: '-1' }, 'INVALID_NUMBER', `${at}.openingReading`],
    [{ register: 'kWhPeak', openingReading: '1.5' }, 'INVALID_NUMBER', `${at}.openingReading`],
  ];
  for (const [facts, code, field] of tries) {
    const bindings = [binding({ name: 'energy', meterNumber: day, ...facts })];
    const found = await codesOf(wanted([day], { bindings }));
    assert.deepEqual(found, code === '' ? [] : [[code, field]], JSON.stringify(facts));
  }
  assert.deepEqual(await codesOf(wanted([day], { inputs: [], initialReading: '5' })), [
    ['REGISTER_REQUIRED', 'connection.meters[0].initialReading'],
  ]);
});

test('an input that the context or the plan requires needs a meter', async () => {
  const needed = { inputs: [{ ...energy, required: 1 as const }] };
  assert.deepEqual(await codesOf(wanted([], needed)), [['METER_REQUIRED', 'connection.meters']]);
  assert.deepEqual(await codesOf(wanted([], { requiredInputs: ['energy'] })), [
    ['METER_REQUIRED', 'connection.meters'],
  ]);
  assert.deepEqual(await codesOf(wanted([])), []);
});

test('of two simultaneous calls that install the same meter one is refused', async () => {
  for (let round = 0; round < 5; round += 1) {
    const number = await newMeter();
    const tries = await Promise.allSettled([1, 2, 3, 4].map(() => install(wanted([number]))));
    const codes = tries.map((one) => (one.status === 'fulfilled' ? 'done' : one.reason.code));
    assert.deepEqual(codes.sort(), [...Array(3).fill('METER_ALREADY_ASSIGNED'), 'done']);
  }
});

test('a meter cannot be stored in two places even by a caller that did not lock it', async () => {
  const number = await newMeter();
  const { installations } = await check(wanted([number]));
  const meters = installations[0] ?? [];
  const store = async () => {
    const [at] = await insertSubscriptions(scene, tenantId, 1);
    await tenantTransact(scene.api, tenantId, (tx) =>
      installMeters(tx, tenantId, [{ subscriptionId: at?.subscriptionId ?? 0, meters }], stamp),
    );
  };
  await store();
  await assert.rejects(store(), { code: 'METER_ALREADY_ASSIGNED' });
});

/** The same transaction, telling of each statement. */
function counted(tx: Tx, tell: () => void): Tx {
  return {
    ...tx,
    run: (statement) => {
      tell();
      return tx.run(statement);
    },
  };
}

test('a thousand subscriptions get their meters in a constant number of statements', async () => {
  const numbers = Array.from({ length: 1_000 }, (_, index) => 50_000 + index);
  await admin.makeMeters({
    meters: numbers.map((number) => {
      return { number, brand: 'Itron', meterType: 1, purchaseDate: '15/01/2024', mf: 1 };
    }),
  });
  const statementsFor = async (some: readonly number[]): Promise<number> => {
    const subscriptions = await insertSubscriptions(scene, tenantId, some.length);
    let statements = 0;
    await tenantTransact(scene.api, tenantId, async (tx) => {
      const counting = counted(tx, () => {
        statements += 1;
      });
      const installations = some.map((number) => wanted([number]));
      const checked = await checkInstallations(counting, tenantId, installations);
      assert.deepEqual(checked.problems, []);
      const places = subscriptions.map(({ subscriptionId }, index) => ({
        subscriptionId,
        meters: checked.installations[index] ?? [],
      }));
      await installMeters(counting, tenantId, places, stamp);
    });
    return statements;
  };
  const few = await statementsFor(numbers.slice(0, 2));
  assert.equal(await statementsFor(numbers.slice(2)), few);
  assert.ok(few > 5 && few < 12, `${few} statements`);
});
