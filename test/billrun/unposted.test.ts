// What the next bill builds on: a term that is unposted, or billed days before it, leaves it as if
// nothing had happened.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { generateBillsStep } from '../../src/billrun/generate.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
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
import { august, july, type OfferPlace, openOffer, september } from '../support/offer-place.ts';
import { prepareStep, whileCrew } from '../support/run-steps.ts';
import { openScene } from '../support/scene.ts';
import { newParty, subscribe } from '../support/subscriptions.ts';
import { insertOpening, readNext } from '../support/term-rows.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

const fee = (formula: string) => [{ component: 'fee', formula, prorate: 'Days' as const }];

const postTypes = ['Post Subscription', 'Post Account', 'Post Party'] as const;
type PostType = (typeof postTypes)[number];

let places = 0;

/** A fee of 310 a month, billed in advance. */
function openPlace(postType: PostType, changed: { postBilling?: 1 } = {}): Promise<OfferPlace> {
  places += 1;
  const components = [{ name: 'fee', label: 'Fee', type: 'Charge', manual: 'Optional' }] as const;
  return openOffer(
    scene,
    `place-${places}`,
    { postType, postBilling: 0, components: [...components], ...changed },
    { componentRules: fee('310') },
  );
}

async function generatedOver(place: OfferPlace, days: typeof july): Promise<number> {
  const termId = await place.open(days);
  await generate(place, termId);
  return termId;
}

function raisePrice({ client, offer }: OfferPlace, effectiveDate: string) {
  const { serviceCode, tariffCode: code } = offer;
  const componentRules = fee('620');
  return client.updateTariff({ tariff: { serviceCode, code, componentRules, effectiveDate } });
}

async function subscriptionIds(place: OfferPlace): Promise<number[]> {
  const rows = await rowsOf<{ id: string }>(
    place,
    'select subscription_id as id from subscriptions where tenant_id = $1 order by 1',
  );
  return rows.map((row) => Number(row.id));
}

const linesOf = (bill: ShownBill | undefined) =>
  bill?.lines.map((line) => [line.lineType, line.fromDate, line.toDate, line.amount]);

const brought = (bill: ShownBill | undefined) => [
  bill?.previousBalance,
  bill?.paymentsReceived,
  bill?.adjustments,
  bill?.arrears,
];

for (const postType of postTypes) {
  test(`${postType}: a second bill that was unposted is made again as it was`, async () => {
    const place = await openPlace(postType);
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
        `select s.billed_through::text, h.terms, h.brought_forward, h.entry_id, h.billed
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

for (const postType of postTypes) {
  test(`${postType}: what a wallet paid of an unposted bill is no payment`, async () => {
    const place = await openPlace(postType, { postBilling: 1 });
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
    const place = await openPlace(postType, { postBilling: 1 });
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

for (const moment of ['before', 'after'] as const) {
  test(`a term that is unposted ${moment} the parts of another are made leaves that one stale`, async () => {
    const place = await openPlace('Post Subscription');
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

for (const postType of ['Post Subscription', 'Post Party'] as const) {
  test(`${postType}: many terms that are unposted one after the other take none with them`, async () => {
    const place = await openPlace(postType);
    await place.connectOld();
    await place.connectOld();
    const remembered = async () => {
      const rows = await rowsOf<{ terms: { label: string }[] }>(
        place,
        `select terms, brought_forward, entry_id, billed from usage_histories
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

/** Normal lines of whole months, and before them what was caught up. */
const caughtUp = {
  posted: [
    ['Normal', '22/07/2026', '31/07/2026', 100],
    ['Normal', '01/08/2026', '31/08/2026', 310],
  ],
  next: [['Normal', '01/09/2026', '30/09/2026', 310]],
};

for (const postType of postTypes) {
  test(`${postType}: days caught up on are not taken off the next bill`, async () => {
    const place = await openPlace(postType);
    const isCombined = postType !== 'Post Subscription';
    await place.connectOld();
    await post(place, await generatedOver(place, july));
    const users = [{ partyNumber: place.party, connectionGroupLabel: 'House' }];
    const late = await subscribe(place.client, {
      ...place.offer,
      connectionDate: '22072026',
      users,
    });
    const linesOfLate = async (termId: number) => {
      const bills = await billsOf(place, termId);
      assert.equal(bills.length, isCombined ? 1 : 2);
      const bill = bills.find((one) => isCombined || one.connectionNumber === late);
      const lines = bill?.lines.filter((line) => (line.connectionNumber ?? late) === late) ?? [];
      return linesOf({ ...bill, lines } as ShownBill);
    };
    const second = await generatedOver(place, august);
    assert.deepEqual(await linesOfLate(second), caughtUp.posted);
    await post(place, second);
    const third = await generatedOver(place, september);
    assert.deepEqual(await linesOfLate(third), caughtUp.next);
    // Nor when what was billed is gathered from the bill again.
    await post(place, third);
    await unpost(place, third);
    await generate(place, third);
    assert.deepEqual(await linesOfLate(third), caughtUp.next);
    // The month itself is still compared: ten days at 10 more, of both.
    await raisePrice(place, '22/08/2026');
    await generate(place, third);
    const adjusted = await billsOf(place, third);
    const lines = adjusted.flatMap((bill) => bill.lines);
    assert.deepEqual(
      lines.flatMap((line) => (line.lineType === 'Adjustment' ? [line.amount] : [])),
      [100, 100],
    );
    await post(place, third);
    await assertChecks(scene, place.tenantId);
  });
}

test('days of a skipped bill are caught up on once', async () => {
  const place = await openPlace('Post Subscription');
  await place.connectOld();
  const first = await generatedOver(place, july);
  const [left] = await billsOf(place, first);
  await place.client.holdBill({ data: { billID: left?.billID ?? 0, hold: true, reason: 'ask' } });
  await post(place, first, true);
  const second = await generatedOver(place, august);
  assert.deepEqual(linesOf((await billsOf(place, second))[0]), [
    ['Normal', '01/07/2026', '31/07/2026', 310],
    ['Normal', '01/08/2026', '31/08/2026', 310],
  ]);
  await post(place, second);
  const third = await generatedOver(place, september);
  assert.deepEqual(linesOf((await billsOf(place, third))[0]), caughtUp.next);
});

for (const postType of postTypes) {
  test(`${postType}: days that another term billed are not charged with the next bill`, async () => {
    const place = await openPlace(postType);
    const { client, offer } = place;
    const numbers = [await place.connectOld(), await place.connectOld()];
    const off = await newTerm(client, {
      serviceCode: offer.serviceCode,
      startDate: '01/07/2026',
      endDate: '10/07/2026',
      type: 'OffCycle',
      connectionNumbers: numbers,
    });
    await generate(place, off);
    await post(place, off);
    const first = await generatedOver(place, july);
    const allLines = async (termId: number) =>
      (await billsOf(place, termId)).flatMap((bill) => linesOf(bill) ?? []);
    const rest = ['Normal', '11/07/2026', '31/07/2026', 210];
    assert.deepEqual(await allLines(first), [rest, rest]);
    await post(place, first);
    const whole = ['Normal', '01/08/2026', '31/08/2026', 310];
    const second = await generatedOver(place, august);
    assert.deepEqual(await allLines(second), [whole, whole]);
    await post(place, second);
    await unpost(place, second);
    // Ten more a day since the 22nd.
    await raisePrice(place, '22/07/2026');
    await generate(place, second);
    const lines = (await allLines(second)).filter(([type]) => type === 'Adjustment');
    assert.deepEqual(
      lines.map(([, , , amount]) => amount),
      [100, 100],
    );
    await post(place, second);
    await assertChecks(scene, place.tenantId);
  });

  test(`${postType}: days of the owner before are not charged to the new one`, async () => {
    const place = await openPlace(postType);
    const { client, offer } = place;
    const number = await place.connectOld();
    const toPartyNumber = await newParty(client, 'B. Noor');
    await client.transferConnection({
      data: {
        connectionNumber: number,
        transferDate: '11/07/2026',
        toPartyNumber,
        connectionGroupLabel: 'Shop',
      },
    });
    const { serviceCode } = offer;
    const connectionNumbers = [number];
    const last = { serviceCode, ...july, type: 'Final' as const, connectionNumbers };
    const final = await newTerm(client, last);
    await generate(place, final);
    await post(place, final);
    const shownOf = async (termId: number) => {
      const [bill, ...others] = await billsOf(place, termId);
      assert.deepEqual(others, []);
      return [bill?.partyName, ...(linesOf(bill) ?? [])];
    };
    assert.deepEqual(await shownOf(final), [
      'A. Khan',
      ['Normal', '01/07/2026', '10/07/2026', 100],
    ]);
    const first = await generatedOver(place, july);
    assert.deepEqual(await shownOf(first), [
      'B. Noor',
      ['Normal', '11/07/2026', '31/07/2026', 210],
    ]);
    await post(place, first);
    const second = await generatedOver(place, august);
    assert.deepEqual(await shownOf(second), [
      'B. Noor',
      ['Normal', '01/08/2026', '31/08/2026', 310],
    ]);
    await post(place, second);
    await assertChecks(scene, place.tenantId);
  });
}

for (const postType of postTypes) {
  test(`${postType}: a charge given by hand is not computed again with the next bill`, async () => {
    const place = await openPlace(postType);
    const [lowered, waived, usual] = [
      await place.connectOld(),
      await place.connectOld(),
      await place.connectOld(),
    ];
    const first = await place.open(july);
    const compsData = [
      [lowered, 'fee', '50'],
      [waived, 'fee', '0'],
    ];
    const data = JSON.stringify({ termID: first, compsData });
    const { client } = place;
    await client.postManualComponentValues({ operation: 'schedule', data: { data } });
    await generate(place, first);
    await post(place, first);
    await raisePrice(place, '22/07/2026');
    const second = await generatedOver(place, august);
    const charged = async () => {
      const bills = await billsOf(place, second);
      return bills.flatMap((bill) =>
        bill.lines.map((line) => [
          line.connectionNumber ?? bill.connectionNumber,
          line.lineType,
          line.amount,
        ]),
      );
    };
    const expected = [
      [lowered, 'Normal', 620],
      [waived, 'Normal', 620],
      [usual, 'Normal', 620],
      [usual, 'Adjustment', 100],
    ];
    assert.deepEqual(await charged(), expected);
    await post(place, second);
    await unpost(place, second);
    await generate(place, second);
    assert.deepEqual(await charged(), expected);
    const { data: compared } = await client.compareRuns({ termID: second });
    assert.deepEqual(compared.differences, []);
  });
}

test('a charge given by hand for days caught up on leaves the month itself to be compared', async () => {
  const place = await openPlace('Post Subscription');
  const number = await place.connectOld();
  const first = await place.open(july);
  const data = JSON.stringify({ termID: first, compsData: [[number, 'fee', '50']] });
  await place.client.postManualComponentValues({ operation: 'schedule', data: { data } });
  await generate(place, first);
  const [left] = await billsOf(place, first);
  await place.client.holdBill({ data: { billID: left?.billID ?? 0, hold: true, reason: 'ask' } });
  await post(place, first, true);
  const second = await generatedOver(place, august);
  const lines = linesOf((await billsOf(place, second))[0]);
  assert.deepEqual(lines?.map(([type, , to, amount]) => [type, to, amount]).sort(), [
    ['Manual', '31/07/2026', 50],
    ['Normal', '31/08/2026', 310],
  ]);
  await post(place, second);
  await raisePrice(place, '22/08/2026');
  const third = await generatedOver(place, september);
  assert.deepEqual(linesOf((await billsOf(place, third))[0]), [
    ['Normal', '01/09/2026', '30/09/2026', 620],
    ['Adjustment', '01/08/2026', '31/08/2026', 100],
  ]);
});

/** From a plan of 310 to one of 620. */
async function dearerPlan({ client, offer }: OfferPlace) {
  const code = `${offer.tariffCode}-B`;
  const { serviceCode } = offer;
  await client.createTariff({
    tariff: {
      serviceCode,
      code,
      name: 'B',
      uniqueLabel: `Plan ${code}`,
      planType: 'BASE_PLAN',
      chargeType: 'Postpaid',
      componentRules: fee('620'),
    },
  });
  return (connectionNumber: string, effectiveDate: string) =>
    codeOf(client.changeTariff({ data: { connectionNumber, tariffCode: code, effectiveDate } }));
}

for (const postType of postTypes) {
  test(`${postType}: a plan changes inside the last billed term, not before it`, async () => {
    const place = await openPlace(postType);
    const change = await dearerPlan(place);
    const number = await place.connectOld();
    await place.connectOld();
    await post(place, await generatedOver(place, july));
    assert.equal(await change(number, '30/06/2026'), 'DATE_IN_POSTED_TERM');
    assert.equal(await change(number, '11/07/2026'), 'success');
    const second = await generatedOver(place, august);
    const bills = await billsOf(place, second);
    const lines = bills.flatMap((bill) =>
      bill.lines.map((line) => [
        line.connectionNumber ?? bill.connectionNumber,
        line.lineType,
        line.amount,
      ]),
    );
    assert.deepEqual(
      lines.filter(([of]) => of === number),
      [
        [number, 'Normal', 620],
        [number, 'Adjustment', 210],
      ],
    );
    assert.deepEqual(
      lines.filter(([of]) => of !== number).map(([, ...rest]) => rest),
      [['Normal', 310]],
    );
    await post(place, second);
    await assertChecks(scene, place.tenantId);
  });

  test(`${postType}: a plan does not change on days that nothing prices again`, async () => {
    const place = await openPlace(postType);
    const change = await dearerPlan(place);
    await place.connectOld();
    await post(place, await generatedOver(place, july));
    const users = [{ partyNumber: place.party, connectionGroupLabel: 'House' }];
    const connectionDate = '22072026';
    const late = await subscribe(place.client, { ...place.offer, connectionDate, users });
    await post(place, await generatedOver(place, august));
    assert.equal(await change(late, '25/07/2026'), 'DATE_IN_POSTED_TERM');
    assert.equal(await change(late, '22/08/2026'), 'success');
    const third = await generatedOver(place, september);
    const bills = await billsOf(place, third);
    const adjusted = bills.flatMap((bill) => bill.lines).filter((one) => one.amount === 100);
    assert.deepEqual(
      adjusted.map((line) => line.lineType),
      ['Adjustment'],
    );
  });

  test(`${postType}: a plan does not change in a term that was billed after it`, async () => {
    const place = await openPlace(postType, { postBilling: 1 });
    const change = await dearerPlan(place);
    const number = await place.connectOld();
    await place.connectOld();
    await post(place, await generatedOver(place, july));
    assert.equal(await change(number, '11/07/2026'), 'DATE_IN_POSTED_TERM');
    assert.equal(await change(number, '01/08/2026'), 'success');
  });
}
