// Random tariffs, subscriptions, readings and values by hand, billed by real runs: what
// explain-bill answers for each line is what was billed, and its exact result rounds to it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DataOf } from '../../sdk/client.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import { parsePlain, roundPlain, same } from '../rating/plain-number.ts';
import { type RandomBill, randomBills } from '../rating/random-bills.ts';
import type { TariffCase } from '../rating/tariff-cases.ts';
import type { ShownBill } from '../support/bill-run.ts';
import { schedule } from '../support/delivery.ts';
import { assertIdentities, cents } from '../support/published-bill.ts';
import { openScene } from '../support/scene.ts';
import { saveTariffs } from '../support/tariffs.ts';
import { insertScenario, insertTerm } from '../support/term-rows.ts';

/** Ten thousand take some minutes; CONTRIBUTING.md tells how to ask for them. */
const billsWanted = Number(process.env.EXPLAIN_BILLS ?? 60);
const seed = Number(process.env.EXPLAIN_SEED ?? 20_260_715);

/** Bills of one tariff at most: many tariffs are worth more than many bills. */
const billsOfTariff = 50;
const callsAtOnce = 8;
/** Every so many tariffs one bills accounts, of so many subscriptions each. */
const everyAccount = 4;
const accountSize = 3;

const scene = await openScene();
scene.runJobs();
const client = await scene.workspace('random', { currency: 'PKR' });
const tenantId = await scene.enter(client);
await client.makeUsers({ userType: 'customer', users: [{ name: 'A. Khan' }] });
const connectionGroups = Array.from({ length: 20 }, (_, index) => ({
  connectionGroupLabel: `House ${index}`,
}));
await client.updateUser({ user: { partyNumber: 100001, connectionGroups } });

const byHand = fc.record({
  repairs: fc.option(fc.integer({ min: 0, max: 99_999 }).map((n) => (n / 100).toFixed(2))),
  rebate: fc.option(fc.integer({ min: -9_999, max: 9_999 }).map((n) => (n / 10).toFixed(1))),
});
type Random = { bill: RandomBill; hand: { repairs: string | null; rebate: string | null } };

/** A billable day: connected before it is disconnected, and before the term ends. */
function isBilled({ bill: { facts } }: Random): boolean {
  const day = (date: string | null | undefined) => date?.split('/').reverse().join('') ?? '';
  const { connectionDate, disconnectDate } = facts.connection ?? {};
  const isOn = day(connectionDate) <= day(facts.term.endDate);
  const first = [day(connectionDate), day(facts.term.startDate)].sort().at(-1) ?? '';
  return isOn && (!disconnectDate || day(disconnectDate) > first);
}

let made = 0;

/** The tariff of the first, under a code of its own, with components that take values by hand. */
function tariffOf({ bill }: Random, postType: string): TariffCase {
  made += 1;
  const code = `MIX${made}`;
  const { components = [], ...context } = bill.context;
  const service = {
    ...context,
    code,
    name: code,
    serviceType: 'Sale',
    chargingType: 'Postpaid',
    postType,
    billingCycle: 1,
    components: [
      ...components.map((one) => (one.name === 'rebate' ? { ...one, manual: 'Optional' } : one)),
      { name: 'repairs', type: 'Charge', categories: ['taxed'], sequence: 3, manual: 'Optional' },
    ].map((one) => ({ label: one.name, ...one })),
  };
  const tariffs = bill.plans.map((plan) => ({
    ...plan,
    serviceCode: code,
    uniqueLabel: `${plan.code} ${made}`,
    planType: plan.code === 'EXTRA' ? 'ADDON_PLAN' : 'BASE_PLAN',
    chargeType: 'Postpaid',
  }));
  return { id: code, title: code, service, tariffs, scenarios: [] } as never;
}

let subscriptions = 0;

function frozenOf({ bill: { facts }, hand }: Random): FrozenInputs {
  subscriptions += 1;
  const connectionNumber = `X-${subscriptions}`;
  const [meter] = facts.meters ?? [];
  const given = Object.entries(hand).flatMap(([component, value]) =>
    value === null ? [] : [[connectionNumber, component, value] as const],
  );
  return {
    ...facts,
    connection: { ...facts.connection, connectionNumber },
    meters: meter ? [{ ...meter, number: 1_000 + subscriptions, register: 'kWh' }] : [],
    manual: given,
  };
}

/** Bills a group in its own run and returns the bills. */
async function billGroup(group: readonly Random[], postType: string): Promise<ShownBill[]> {
  const [first] = group;
  if (!first) return [];
  const tariff = tariffOf(first, postType);
  await saveTariffs(client, tariff);
  const { startDate, endDate } = first.bill.facts.term;
  const termId = await insertTerm(scene, tenantId, {
    serviceCode: tariff.service.code,
    label: tariff.id,
    startDate,
    endDate,
    dueDate: endDate,
  });
  for (const [index, random] of group.entries()) {
    const accountId = 1 + (Math.floor(index / accountSize) % connectionGroups.length);
    await insertScenario(scene, tenantId, termId, frozenOf(random), { accountId });
  }
  await client.generateBills(schedule(termId));
  return (await client.getBills({ termID: termId })).data.bills;
}

type Explained = DataOf<'explainBill'>['lines'][number];

function assertExplained(bill: ShownBill, lines: readonly Explained[]): void {
  const billed = [...bill.lines, ...bill.surcharges];
  assert.deepEqual(
    lines.map((line) => [line.lineNo, line.component, line.amount, line.connectionNumber]),
    billed.map((line) => [line.lineNo, line.component, line.amount, line.connectionNumber]),
  );
  for (const { exact, rounding, amount } of lines) {
    // Digits that are left out decide nothing: no half has more than twelve.
    const rounded = roundPlain(parsePlain(exact.replace('…', '')), rounding.scale, rounding.mode);
    assert.ok(same(rounded, parsePlain((cents(amount) / 100).toFixed(2))), `${exact} ${amount}`);
  }
}

async function explainAll(bills: readonly ShownBill[]): Promise<number> {
  const left = bills.values();
  let lines = 0;
  const explainOne = async () => {
    for (const bill of left) {
      const { data } = await client.explainBill({ billID: bill.billID });
      assertExplained(bill, data.lines);
      lines += data.lines.length;
    }
  };
  await Promise.all(Array.from({ length: callsAtOnce }, explainOne));
  return lines;
}

test(`explain-bill gives the billed amount of every line of ${billsWanted} random bills`, async (t) => {
  const seen = new Set<string>();
  let [bills, lines, errors, round] = [0, 0, 0, 0];
  while (bills < billsWanted) {
    const sample = fc.sample(fc.record({ bill: randomBills, hand: byHand }), {
      numRuns: billsOfTariff * 4,
      seed: seed + round,
    });
    const byTerm = Map.groupBy(sample.filter(isBilled), (one) => one.bill.facts.term.startDate);
    for (const group of byTerm.values()) {
      if (bills >= billsWanted) break;
      const isOfAccounts = made % everyAccount === everyAccount - 1;
      const postType = isOfAccounts ? 'Post Account' : 'Post Subscription';
      const found = await billGroup(group.slice(0, billsOfTariff), postType);
      for (const bill of found) {
        if (bill.status === 'Error') errors += 1;
        assertIdentities(bill);
        for (const line of bill.lines) seen.add(`${line.component} ${line.source}`);
      }
      lines += await explainAll(found);
      bills += found.length;
    }
    round += 1;
  }
  assert.equal(errors, 0);
  // It was worth it: every component, computed and by hand.
  for (const kind of ['energyCharge Computed', 'repairs Manual', 'rebate Manual', 'tax Computed']) {
    assert.ok(seen.has(kind), kind);
  }
  assert.ok(seen.size >= 11, [...seen].join());
  t.diagnostic(`${bills} bills, ${lines} lines, ${made} tariffs, seed ${seed}`);
});
