// On which accounts bills are booked where the context changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, rowsOf } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { august, july, type OfferPlace, openOffer } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

const components = (account?: string) => [
  { name: 'fee', label: 'Fee', type: 'Charge' as const, ...(account ? { account } : {}) },
];

async function openFee(workspace: string, account: string): Promise<OfferPlace> {
  const rules = { componentRules: [{ component: 'fee', formula: '310' }] };
  const place = await openOffer(scene, workspace, { components: components(account) }, rules);
  await place.connectOld();
  return place;
}

function change({ client, offer }: OfferPlace, effectiveDate: string, account?: string) {
  const service = { code: offer.serviceCode, components: components(account), effectiveDate };
  return client.updateService({ service });
}

async function posted(place: OfferPlace, days: typeof july): Promise<number> {
  const termId = await place.open(days);
  await generate(place, termId);
  await post(place, termId);
  return termId;
}

async function creditedOn(place: OfferPlace): Promise<Record<string, string>> {
  const rows = await rowsOf<{ code: string; amount: string }>(
    place,
    `select a.code, sum(l.amount) as amount from journal_lines l
     join ledger_accounts a using (tenant_id, ledger_account_id)
     where l.tenant_id = $1 and a.code <> 'RECEIVABLE'
     group by a.code having sum(l.amount) <> 0`,
  );
  return Object.fromEntries(rows.map(({ code, amount }) => [code, amount]));
}

test('the account of a later version is for terms that end when it holds', async () => {
  const place = await openFee('ahead', 'OLD');
  await change(place, '01/08/2026', 'NEW');
  const first = await posted(place, july);
  assert.deepEqual(await creditedOn(place), { OLD: '-31000' });
  await posted(place, august);
  assert.deepEqual(await creditedOn(place), { OLD: '-31000', NEW: '-31000' });
  // A credit note takes it back from where it is.
  const [bill] = await billsOf(place, first);
  await place.client.cancelBill({ data: { billID: bill?.billID ?? 0, reason: 'wrong' } });
  assert.deepEqual(await creditedOn(place), { NEW: '-31000' });
  await assertChecks(scene, place.tenantId);
});

test('a component that names an account no more is credited where others are', async () => {
  const place = await openFee('without', 'OLD');
  await change(place, '01/07/2026');
  await posted(place, july);
  assert.deepEqual(await creditedOn(place), { INCOME: '-31000' });
});
