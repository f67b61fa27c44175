// What the next bill builds on: a term that is unposted, or billed days before it, leaves it as if
// nothing had happened.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { generateBillsStep } from '../../src/billrun/generate.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import {
  generatedOver,
  linesOf,
  openPlace,
  postTypes,
  raisePrice,
} from '../support/advance-fee.ts';
import {
  addSubscription,
  addTerm,
  billsOf,
  copyOf,
  generate,
  openBillRun,
  post,
  rowsOf,
  type ShownBill,
  tariffCase,
  unpost,
} from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf } from '../support/delivery.ts';
import { forms } from '../support/forms.ts';
import { readNext } from '../support/meter-rows.ts';
import { august, july, type OfferPlace } from '../support/offer-place.ts';
import { prepareStep, whileCrew } from '../support/run-steps.ts';
import { openScene } from '../support/scene.ts';
import { insertOpening } from '../support/term-rows.ts';

const scene = await openScene();
scene.runJobs();

async function subscriptionIds(place: OfferPlace): Promise<number[]> {
  const rows = await rowsOf<{ id: string }>(
    place,
    'select subscription_id as id from subscriptions where tenant_id = $1 order by 1',
  );
  return rows.map((row) => Number(row.id));
}

const brought = (bill: ShownBill | undefined) => [
  bill?.previousBalance,
  bill?.paymentsReceived,
  bill?.adjustments,
  bill?.arrears,
];

for (const postType of forms(postTypes)) {
  test(`${postType}: a second bill that was unposted is made again as it was`, async () => {
    const place = await openPlace(scene, postType);
    await place.connectOld();
    await place.connectOld();
    // On the first bill already: it must not count as paid since.
    const [paid] = await subscriptionIds(place);
    await insertOpening(scene, place.tenantId, paid ?? 0, 500_00, 'Opening');
    await insertOpening(scene, place.tenantId, paid ?? 0, -500_00, 'Payment');
    const first = await generatedOver(place, july);
    await post(place, first);
    const standing = () =>
      rowsOf(
        place,
        `select s.billed_through::text, h.terms, h.brought_forward, h.received, h.billed
         from subscriptions s join usage_histories h
           on h.tenant_id = s.tenant_id and h.subscription_id = s.subscription_id
         where s.tenant_id = $1 order by s.subscription_id`,
      );
    const before = await standing();
    assert.equal(before.length, 2);
    await raisePrice(place, '11/07/2026');
    const second = await generatedOver(place, august);
    const drafts = await billsOf(place, second);
    // Each 620 of August, and 21 days of July at 10 more.
    const sum = drafts.reduce((total, bill) => total + bill.currentCharges, 0);
    assert.equal(sum, 2 * (620 + 210));
    const balances = drafts.map((bill) => brought(bill));
    const open = postType === 'Post Subscription' ? [310, 310] : [620];
    assert.deepEqual(
      balances,
      open.map((amount) => [amount, 0, 0, amount]),
    );
    await post(place, second);
    await unpost(place, second);
    assert.deepEqual(await standing(), before);
    await generate(place, second);
    assert.deepEqual((await billsOf(place, second)).map(brought), balances);
    const { data } = await place.client.compareRuns({ termID: second });
    assert.deepEqual(data.differences, []);
    await post(place, second);
    await assertChecks(scene, place.tenantId);
  });
}

for (const postType of forms(postTypes)) {
  test(`${postType}: what a wallet paid of an unposted bill is no payment`, async () => {
    const place = await openPlace(scene, postType, { postBilling: 1 });
    await place.connectOld();
    await insertOpening(scene, place.tenantId, null, -40_00);
    const first = await generatedOver(place, july);
    await post(place, first);
    await unpost(place, first);
    // Once as it was, once made anew.
    await post(place, first);
    await unpost(place, first);
    await generate(place, first);
    const [again] = await billsOf(place, first);
    assert.deepEqual(brought(again), [0, 0, 0, 0]);
    await post(place, first);
    const second = await generatedOver(place, august);
    const [next] = await billsOf(place, second);
    assert.deepEqual(brought(next), [310, 40, 0, 270]);
    await assertChecks(scene, place.tenantId);
  });

  test(`${postType}: a bill that was posted again at once was paid once`, async () => {
    const place = await openPlace(scene, postType, { postBilling: 1 });
    await place.connectOld();
    await insertOpening(scene, place.tenantId, null, -40_00);
    const first = await generatedOver(place, july);
    await post(place, first);
    await unpost(place, first);
    await post(place, first);
    const second = await generatedOver(place, august);
    const [next] = await billsOf(place, second);
    assert.deepEqual(brought(next), [310, 40, 0, 270]);
  });
}

for (const moment of forms(['before', 'after'] as const)) {
  test(`a term that is unposted ${moment} the parts of another are made leaves that one stale`, async () => {
    const place = await openPlace(scene, 'Post Subscription');
    await place.connectOld();
    const first = await generatedOver(place, july);
    await post(place, first);
    const second = await place.open(august);
    await whileCrew(scene, place.client.workspace, async (crew) => {
      const { job, chunks } = await prepareStep(crew, generateBillsStep, { termId: second });
      if (moment === 'before') await unpost(place, first);
      const worked: object[] = [];
      for (const chunk of chunks) {
        const { outcome } = await tenantTransact(crew.database, crew.tenantId, (tx) =>
          generateBillsStep.work(tx, job, chunk, crew.tools),
        );
        worked.push(outcome ?? {});
      }
      if (moment === 'after') await unpost(place, first);
      await tenantTransact(crew.database, crew.tenantId, (tx) =>
        generateBillsStep.finish(
          tx,
          job,
          { done: 1, total: 1, outcomes: worked, setAside: [] },
          crew.tools,
        ),
      );
    });
    assert.equal(await codeOf(post(place, second)), 'TERM_STALE_GENERATE_AGAIN');
    // July is open again, and its days are August's to bill.
    await generate(place, second);
    const [bill] = await billsOf(place, second);
    assert.deepEqual(linesOf(bill), [
      ['Normal', '01/07/2026', '31/07/2026', 310],
      ['Normal', '01/08/2026', '31/08/2026', 310],
    ]);
    await post(place, second);
    assert.equal(await codeOf(post(place, first)), 'TERM_STALE_GENERATE_AGAIN');
    await assertChecks(scene, place.tenantId);
  });
}

test('thirteen terms that a bill looks back on are all there when it is unposted', async () => {
  const elec = tariffCase('ELEC');
  const scenario = elec.scenarios[2] as unknown as FrozenInputs;
  const run = await openBillRun(scene, elec);
  const termId = await addTerm(run);
  const facts = { ...copyOf(scenario, 1, 150), account: {} };
  const subscription = await addSubscription(run, termId, facts);
  const past = Array.from({ length: 13 }, (_, index) => ({
    termId: null,
    label: `M${index}`,
    days: 30,
    usage: { energy: { quantity: String(100 + index), type: 'Actual' } },
  }));
  await rowsOf(
    run,
    `insert into usage_histories (tenant_id, subscription_id, terms) values ($1, $2, $3)
     on conflict (tenant_id, subscription_id) do update set terms = excluded.terms`,
    [subscription, past.map((term) => JSON.stringify(term))],
  );
  await generate(run, termId);
  await post(run, termId);
  const next = await addTerm(run, {
    label: 'Aug-2025',
    startDate: '01/08/2025',
    endDate: '31/08/2025',
    dueDate: '15/09/2025',
  });
  await readNext(scene, run.tenantId, next, subscription, { date: '2025-08-31', use: 120 });
  await generate(run, next);
  const lookedBackOn = async () => {
    const rows = await rowsOf<{ labels: string[] }>(
      run,
      `select array(select t ->> 'label'
         from json_array_elements(k.frozen -> 'usageHistory' -> 'energy') t) as labels
       from bill_contents k where k.tenant_id = $1 order by k.bill_id`,
    );
    return rows.map((row) => row.labels);
  };
  const labels = past.map((term) => term.label);
  assert.deepEqual(await lookedBackOn(), [labels, ['Jul-2025', ...labels.slice(0, 12)]]);
  await post(run, next);
  for (const id of [next, termId]) {
    await unpost(run, id);
    await generate(run, id);
    const { data } = await run.client.compareRuns({ termID: id });
    assert.deepEqual(data.differences, []);
  }
  assert.deepEqual((await lookedBackOn())[0], labels);
});

for (const postType of forms(['Post Subscription', 'Post Party'] as const)) {
  test(`${postType}: many terms that are unposted one after the other take none with them`, async () => {
    const place = await openPlace(scene, postType);
    await place.connectOld();
    await place.connectOld();
    const remembered = async () => {
      const rows = await rowsOf<{ terms: { label: string }[] }>(
        place,
        `select terms, brought_forward, received, billed from usage_histories
         where tenant_id = $1 order by subscription_id`,
      );
      assert.equal(rows.length, 2);
      return rows;
    };
    const terms: number[] = [];
    const accountStatuses: unknown[] = [];
    for (let day = 1; day <= 16; day += 1) {
      const date = `${String(day).padStart(2, '0')}/07/2026`;
      const termId = await generatedOver(place, { startDate: date, endDate: date });
      await post(place, termId);
      terms.push(termId);
      accountStatuses.push(await remembered());
    }
    for (const termId of terms.slice(13).reverse()) await unpost(place, termId);
    const back = await remembered();
    assert.deepEqual(
      back.map((row) => row.terms.length),
      [13, 13],
    );
    assert.deepEqual(back, accountStatuses[12]);
    await assertChecks(scene, place.tenantId);
  });
}
