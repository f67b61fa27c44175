// The worked tariffs, saved through the API as contexts and plans, and priced by simulations.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DataOf, RequestOf } from '../../sdk/client.ts';
import { minorUnitsText } from '../../src/base/numbers/decimal-text.ts';
import { type ExpectedBill, type TariffCase, tariffCases } from '../rating/tariff-cases.ts';
import type { TestClient } from '../support/client.ts';
import { openScene } from '../support/scene.ts';
import { newMeter, newParty, shown, subscribe } from '../support/subscriptions.ts';

const scene = await openScene();

type Simulated = DataOf<'simulateTariff'>['bill'];
type Service = RequestOf<'createService'>['service'];
type Tariff = RequestOf<'createTariff'>['tariff'];

type Dated = { name: string; value: string; fromDate?: string };
type Facts = {
  connectionNumber: string;
  connectionDate: string;
  tariffHistory: { tariffCode: string; fromDate: string }[];
  connectionInputs: { name: string; value: string }[];
  unmeteredInputs: Dated[];
  variants: Dated[];
  addOns: { tariffLabel: string; quantity: string; fromDate: string }[];
};

const totals = [
  'currentCharges',
  'taxAmount',
  'arrears',
  'roundingAdjustment',
  'payableWithinDueDate',
  'latePaymentSurcharge',
  'payableAfterDueDate',
] as const;

const decimalsOf = (one: TariffCase) => one.service.currencyScale ?? 2;

function text(amount: number, decimals: number): string {
  return minorUnitsText(Math.round(amount * 10 ** decimals), decimals);
}

function assertPublished(bill: Simulated, expected: ExpectedBill, decimals: number): void {
  assert.deepEqual(bill.errors, []);
  assert.equal(bill.status, 'Draft');
  const amounts = new Map<string, number>();
  for (const line of [...bill.lines, ...bill.surcharges]) {
    amounts.set(line.component, (amounts.get(line.component) ?? 0) + line.amount);
  }
  const names = Object.keys(expected.amounts);
  const found = names.map((name) => [name, text(amounts.get(name) ?? 0, decimals)]);
  assert.deepEqual(Object.fromEntries(found), expected.amounts);
  for (const name of amounts.keys()) assert.ok(names.includes(name), `unexpected ${name}`);
  for (const total of totals) assert.equal(text(bill[total], decimals), expected[total], total);
  const usage = bill.usage.map((item) => [item.input, item.quantity]);
  assert.deepEqual(Object.fromEntries(usage), expected.usage);
  const sum = bill.lines.reduce((all, line) => all + line.amount, 0);
  assert.equal(text(sum, decimals), expected.currentCharges, 'the lines add up');
}

const clients = new Map<string, Promise<TestClient>>();

/** A workspace for each currency. */
function clientFor(one: TariffCase): Promise<TestClient> {
  const currency = one.service.currency ?? 'PKR';
  const client = clients.get(currency) ?? scene.workspace(currency.toLowerCase(), { currency });
  clients.set(currency, client);
  return client;
}

/** Meters of electricity measure neither water nor gas. */
const meterTypes: Record<string, number> = { WATER: 3, GAS: 4 };

/** Makes the subscription of a scenario, and tells what the API then shows of it. */
async function subscribed(
  client: TestClient,
  serviceCode: string,
  facts: Facts,
  isMetered: boolean,
): Promise<Facts> {
  const [first, ...later] = facts.tariffHistory;
  const meterType = meterTypes[serviceCode] ?? 1;
  const connectionNumber = await subscribe(
    client,
    {
      serviceCode,
      postType: 'Post Subscription',
      tariffCode: first?.tariffCode ?? '',
      connectionDate: facts.connectionDate.replaceAll('/', ''),
      connectionInputs: facts.connectionInputs,
      unmeteredInputs: facts.unmeteredInputs,
      variants: facts.variants,
      addonTariffLabels: facts.addOns.map(({ tariffLabel: label, ...rest }) => ({
        label,
        ...rest,
      })),
      users: [{ partyNumber: await newParty(client) }],
      meters: isMetered ? [{ number: await newMeter(client, { meterType }) }] : [],
    },
    { batchUpload: true },
  );
  for (const { tariffCode, fromDate: effectiveDate } of later) {
    await client.changeTariff({ data: { connectionNumber, tariffCode, effectiveDate } });
  }
  const made = (await shown(client, connectionNumber)) as unknown as Facts;
  const { tariffHistory, connectionInputs, unmeteredInputs, variants, addOns } = made;
  const shownFacts = { tariffHistory, connectionInputs, unmeteredInputs, variants, addOns };
  return { ...facts, ...shownFacts };
}

/** Parents before the plans that inherit from them. */
function inOrder(plans: readonly Tariff[]): Tariff[] {
  const depth = (plan: Tariff): number => {
    const parent = plans.find((other) => other.code === plan.parentTariffCode);
    return parent ? depth(parent) + 1 : 0;
  };
  return [...plans].sort((a, b) => depth(a) - depth(b));
}

for (const one of tariffCases) {
  const service = one.service as unknown as Service;
  const tariffs = one.tariffs as unknown as Tariff[];

  test(`${one.id}: context and plans are saved and read back as they were sent`, async () => {
    const client = await clientFor(one);
    const made = await client.createService({ service });
    assert.equal(made.headers.get('x-ignored-fields'), 'service.currency,service.currencyScale');
    for (const tariff of inOrder(tariffs)) await client.createTariff({ tariff });
    const { services } = (await client.getServices({ serviceCode: service.code })).data;
    for (const key of ['values', 'components', 'connectionInputs', 'meteredInputs'] as const) {
      assert.deepEqual(services[0]?.[key], service[key], key);
    }
    assert.deepEqual(services[0]?.unmeteredInputs, service.unmeteredInputs);
    assert.deepEqual(services[0]?.billRounding, service.billRounding);
    const { data } = await client.getTariffs({ serviceCode: service.code });
    for (const listed of data.tariffs) {
      const whole = (await client.getTariffs({ tariffID: listed.tariffID })).data.tariffs[0];
      const sent = tariffs.find((tariff) => tariff.code === listed.tariffCode) as Tariff;
      for (const [key, value] of Object.entries(sent)) {
        assert.deepEqual(whole?.[key as keyof typeof whole], value, key);
      }
    }
    assert.equal(data.tariffs.length, tariffs.length);
  });

  for (const { id, title, expected, ...scenario } of one.scenarios) {
    const body = { scenario: scenario as never };
    const tariffCode = tariffs.at(-1)?.code ?? '';

    test(`${id}: ${title}: the published bill from what is saved`, async () => {
      const client = await clientFor(one);
      const asked = { serviceCode: service.code, tariffCode, ...body };
      const { data } = await client.simulateTariff(asked);
      assertPublished(data.bill, expected, decimalsOf(one));
      const explained = (await client.simulateTariff({ ...asked, explain: true })).data;
      assert.deepEqual(explained.bill, data.bill);
      const lines = data.bill.lines.length + data.bill.surcharges.length;
      assert.equal(explained.explanation?.length, lines);
      assert.equal(data.explanation, undefined);
    });

    test(`${id}: ${title}: the published bill of a subscription that was made`, async () => {
      const client = await clientFor(one);
      const isMetered = (scenario.meters ?? []).length > 0;
      const facts = scenario.connection as Facts;
      const connection = await subscribed(client, service.code, facts, isMetered);
      const { data } = await client.simulateTariff({
        serviceCode: service.code,
        tariffCode: connection.tariffHistory[0]?.tariffCode ?? '',
        scenario: { ...scenario, connection } as never,
      });
      assertPublished(data.bill, expected, decimalsOf(one));
    });

    test(`${id}: ${title}: the published bill from what was never saved`, async () => {
      const client = await clientFor(one);
      const unsaved = { ...service, code: `X-${service.code}` };
      const { data } = await client.simulateTariff({
        service: unsaved,
        tariffs: tariffs.toReversed() as never,
        tariffCode,
        ...body,
      });
      assertPublished(data.bill, expected, decimalsOf(one));
      const { services } = (await client.getServices({ serviceCode: unsaved.code })).data;
      assert.deepEqual(services, []);
    });
  }
}
