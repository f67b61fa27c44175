// Add-ons on metered bills.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generate } from '../support/bill-run.ts';
import { newTariff, smallService } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { billOf, january, linesOf, openHome } from '../support/skipped-bills.ts';

const scene = await openScene();
scene.runJobs();

const green = { name: 'green', label: 'Green energy', type: 'Charge' as const, sequence: 1 };
const values = [
  { name: 'rate', type: 'Number' as const, default: '20' },
  { name: 'greenRate', type: 'Number' as const, default: '1', changeInTerm: 'Split' as const },
];

/** 150 units up to 10 January and 160 after it, with an add-on by the unit. */
async function billedWith(addOn: object, valueFormulas: { name: string; formula: string }[]) {
  const components = [...smallService.components, green];
  const home = await openHome(scene, { values, components });
  const [plan] = (await home.client.getTariffs({})).data.tariffs;
  const uniqueLabel = 'Green';
  const componentRules = [{ component: 'green', formula: 'usage.energy * greenRate' }];
  const planType = 'ADDON_PLAN' as const;
  const tariff = { planType, uniqueLabel, componentRules, valueFormulas };
  await newTariff(home.client, plan?.serviceCode ?? '', tariff);
  const addonTariffLabels = [{ label: uniqueLabel, ...addOn }];
  const { connection: connectionNumber } = home;
  await home.client.updateConnection({ data: { connectionNumber, addonTariffLabels } });
  const term = await home.read(january, ['150', '10/01/2026'], ['310', '31/01/2026']);
  await generate(home.run, term);
  return linesOf(await billOf(home.run, term)).filter(([component]) => component === 'green');
}

test('use is divided by the reading of the day on which the price of an add-on changes', async () => {
  const dearer = [{ name: 'greenRate', formula: '2', fromDate: '11/01/2026' }];
  assert.deepEqual(await billedWith({ fromDate: '01/01/2026' }, dearer), [
    ['green', '01/01/2026', 150],
    ['green', '11/01/2026', 320],
  ]);
});

test('an add-on that begins inside the term is billed for what was measured since', async () => {
  assert.deepEqual(await billedWith({ fromDate: '11/01/2026' }, []), [
    ['green', '11/01/2026', 160],
  ]);
});
