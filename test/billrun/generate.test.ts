// Step 6: the worked tariffs come out of a real run with the published amounts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minorUnitsText } from '../../src/base/numbers/decimal-text.ts';
import { generateBillsStep } from '../../src/billrun/generate.ts';
import { type TariffCase, tariffCases } from '../rating/tariff-cases.ts';
import { type Crew, openCrew, runStep } from '../support/run-steps.ts';
import { openScene } from '../support/scene.ts';
import { saveTariffs } from '../support/tariffs.ts';
import { insertScenario, insertTerm } from '../support/term-rows.ts';

const scene = await openScene();

async function crewFor(one: TariffCase): Promise<Crew> {
  const workspace = one.id.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const client = await scene.workspace(workspace, { currency: one.service.currency ?? 'PKR' });
  await saveTariffs(client, one);
  await client.makeUsers({ userType: 'customer', users: [{ name: 'A. Khan' }] });
  const user = { partyNumber: 100001, connectionGroups: [{ connectionGroupLabel: 'House 12-B' }] };
  await client.updateUser({ user });
  return openCrew(scene, workspace);
}

type BillRow = {
  status: string;
  current_charges: string;
  tax_amount: string;
  arrears: string;
  rounding_adjustment: string;
  payable: string;
  late_surcharge: string;
  document: {
    lines?: { component: string; amount: number }[];
    surcharges?: never;
    errors?: unknown;
  };
};

for (const one of tariffCases.cases) {
  test(`${one.id}: the published bills come out of a run`, async () => {
    const crew = await crewFor(one);
    const { tenantId } = crew;
    const [first] = one.scenarios;
    const { label, startDate, endDate, dueDate } = first?.term ?? assert.fail();
    const termId = await insertTerm(scene, tenantId, {
      serviceCode: one.service.code,
      label: label ?? '',
      startDate,
      endDate,
      dueDate: dueDate ?? endDate,
    });
    const expected = new Map<number, (typeof one.scenarios)[number]>();
    for (const scenario of one.scenarios) {
      expected.set(await insertScenario(scene, tenantId, termId, scenario), scenario);
    }
    const finish = await runStep(crew, generateBillsStep, { termId });
    assert.equal(finish.bills, one.scenarios.length, JSON.stringify(finish));
    for (const [subscriptionId, scenario] of expected) {
      const { rows } = await scene.sql.query<BillRow>(
        'select * from bills where tenant_id = $1 and subscription_id = $2',
        [tenantId, subscriptionId],
      );
      const [bill] = rows;
      assert.ok(bill, scenario.id);
      assert.equal(bill.document.errors, undefined);
      const text = (minor: string | number) => minorUnitsText(Number(minor), 2);
      const wanted = scenario.expected;
      assert.equal(text(bill.current_charges), wanted.currentCharges, scenario.id);
      assert.equal(text(bill.tax_amount), wanted.taxAmount);
      assert.equal(text(bill.arrears), wanted.arrears);
      assert.equal(text(bill.rounding_adjustment), wanted.roundingAdjustment);
      assert.equal(text(bill.payable), wanted.payableWithinDueDate);
      assert.equal(text(bill.late_surcharge), wanted.latePaymentSurcharge);
    }
  });
}
