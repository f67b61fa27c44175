// A bill that is paid, credited, cancelled and unposted at the same moment: as if one came first.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

type Bill = { billID: number; termID: number };

const actions = {
  pay: (place: Owing) => place.pay({ amount: 100 }),
  credit: ({ client }: Owing, { billID }: Bill) => {
    const lines = [{ component: 'fee', amount: 40 }];
    return client.makeCreditNotes({ creditNotes: [{ billID, lines, reason: 'Misread' }] });
  },
  cancel: ({ client }: Owing, { billID }: Bill) =>
    client.cancelBill({ data: { billID, reason: 'Wrong' } }),
  unpost: ({ client }: Owing, { termID }: Bill) =>
    client.unpostBills({ operation: 'schedule', data: { termID, reason: 'Wrong' } }),
};
type Action = keyof typeof actions;

const pairs: [Action, Action][] = [
  ['pay', 'credit'],
  ['pay', 'cancel'],
  ['pay', 'unpost'],
  ['credit', 'cancel'],
  ['credit', 'unpost'],
  ['cancel', 'unpost'],
];

async function deadlocks(): Promise<string> {
  const { rows } = await scene.sql.query(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  return rows[0].deadlocks;
}

/** Done, or refused with the state that prevents it. */
async function outcome(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    const { statusCode, error: sent } = error as { statusCode?: number; error?: object };
    const text = `${String(error)} ${JSON.stringify(sent)}`;
    assert.equal(statusCode, 409, text);
    assert.match(text, /INVALID_STATE|JOB_ALREADY_RUNNING/);
    return false;
  }
}

for (const [first, second] of pairs) {
  test(`${first} and ${second} of one bill at once end as if one came first`, async () => {
    const place = await openOwing(scene, `race-${first}-${second}`);
    const number = await place.connectOld();
    const [made] = await place.bill({ [number]: 100 });
    const bill = { billID: made?.billID ?? 0, termID: made?.termID ?? 0 };
    const before = await deadlocks();
    const done = new Set<Action>();
    const both = [first, second].map(async (action) => {
      if (await outcome(actions[action](place, bill))) done.add(action);
    });
    await Promise.all(both);
    assert.ok(done.size >= 1, 'one of them is done');
    const { data } = await place.client.getBills({ billID: bill.billID });
    const [shown] = data.bills;
    const isOwed = shown?.status === 'Posted';
    assert.equal(shown?.status === 'Cancelled', done.has('cancel'));
    assert.equal(shown?.status === 'Draft', done.has('unpost'));
    assert.ok(isOwed || shown?.paymentStatus === 'Unpaid', 'not cancelled or a draft, and paid');
    const owed = isOwed ? 100 - (done.has('credit') ? 40 : 0) : 0;
    const paid = done.has('pay') ? 100 : 0;
    // Whatever came first, the money is on the bill or in the wallet.
    assert.deepEqual(
      [await place.owed(), await place.wallet()],
      [Math.max(0, owed - paid), Math.max(0, paid - owed)],
    );
    assert.equal(await deadlocks(), before);
    await assertChecks(scene, place.tenantId);
  });
}
