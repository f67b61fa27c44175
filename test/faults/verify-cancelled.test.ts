// What was cancelled explains days that nobody bills, and no more: what somebody changed besides is
// named by `billwright verify`, also on cancelled bills themselves and on those of several
// subscriptions.
import assert from 'node:assert/strict';
import { billed, cancel, fee, termAgain } from '../support/cancelled-bills.ts';
import { type Crime, testCrimes } from '../support/crimes.ts';
import { august, july, openOffer } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const worker = scene.runJobs();

/** By subscription, of one bill each: July is cancelled of the first two, and billed again of one. */
const alone = await openOffer(scene, 'alone', fee.service, fee.tariff);
for (const connectionNumber of ['a', 'b', 'c']) await alone.connectOld({ connectionNumber });
const [gone, misread] = await billed(alone, await alone.open(july));
assert.ok(gone && misread);
await cancel(alone, gone.billID);
await cancel(alone, misread.billID, true);
await billed(alone, await termAgain(alone, misread.billID));
await billed(alone, await alone.open(august));

/** By account, of two subscriptions each: July is cancelled of the first. */
const postType = 'Post Account';
const together = await openOffer(scene, 'together', { ...fee.service, postType }, fee.tariff);
for (const connectionGroupLabel of ['House', 'House', 'Shop', 'Shop']) {
  const users = [{ partyNumber: together.party, connectionGroupLabel }];
  await together.connectOld({ postType, users });
}
const [first] = await billed(together, await together.open({ ...july, postType }));
assert.ok(first);
await cancel(together, first.billID);
const later = await together.open({ ...august, postType });
const [house, shop] = await billed(together, later);
assert.ok(house && shop);
await worker.stop();

const mine = `tenant_id = ${alone.tenantId}`;
const ofGone = `${mine} and bill_id = ${gone.billID}`;
/** Subscriptions are numbered in the order in which they were connected. */
const [cancelledOne, rebilledOne] = [1, 2];

const crimesAlone: readonly Crime[] = [
  ...[cancelledOne, rebilledOne].map(
    (id): Crime => ({
      what: `subscription ${id}, of which a bill was cancelled, is billed further than its bills`,
      table: 'subscriptions',
      commit: `update subscriptions set billed_through = billed_through + 30
        where ${mine} and subscription_id = ${id}`,
      laws: ['L2'],
      names: new RegExp(`^subscription ${id}$`),
    }),
  ),
  ...[cancelledOne, rebilledOne].map(
    (id): Crime => ({
      what: `a day between bills of subscription ${id} is on none, and none was cancelled for it`,
      table: 'bills',
      commit: `update bills set billed_through = billed_through + 1, billed_from = billed_from + 1
        where ${mine} and subscription_id = ${id} and billed_to = '2026-08-31'`,
      laws: ['L2', 'L4'],
      names: new RegExp(`^bill \\d+ of subscription ${id}$`),
    }),
  ),
  {
    what: 'a cancelled bill that nobody bills again had other days',
    table: 'bills',
    commit: `update bills set billed_to = billed_to - 1 where ${ofGone}`,
    laws: ['L2', 'L4'],
    names: /^bill \d+ of subscription 1$/,
  },
  {
    what: 'the words of a cancelled bill are changed',
    table: 'bill_contents',
    commit: `update bill_contents set document = replace(document::text, 'Fee', 'Fine')::json
      where ${ofGone}`,
    laws: ['L4'],
    names: new RegExp(`^bill ${gone.billID}$`),
  },
  ...['paid_amount = 100', `payment_status = 'Paid'`, `payment_status = 'Overdue'`].map(
    (change): Crime => ({
      what: `a cancelled bill is paid or late: ${change}`,
      table: 'bills',
      commit: `update bills set ${change} where ${ofGone}`,
      laws: ['L15'],
      names: new RegExp(`^bill ${gone.billID} is (Unpaid|Paid|Overdue) with \\d+$`),
    }),
  ),
  {
    what: 'a bill is credited where it was not booked',
    table: 'subledger_entries',
    commit: `update subledger_entries set ledger_account_id = 1000001, amount = -amount
      where ${ofGone} and kind = 'CreditNote'`,
    laws: ['L1', 'L5', 'L15'],
    names: new RegExp(`^bill ${gone.billID} is cancelled and not credited$`),
  },
  ...[1, 5].map(
    (last): Crime => ({
      what: `the counter of credit notes is not at the last one but at ${last}`,
      table: 'counters',
      commit: `update counters set last_number = ${last} where ${mine} and series = 'credit-note'`,
      laws: ['L3'],
      names: new RegExp(`^taken ${last}, on credit notes 2 up to 2$`),
    }),
  ),
];
testCrimes(scene, alone.tenantId, crimesAlone);

const theirs = `tenant_id = ${together.tenantId}`;
const crimesTogether: readonly Crime[] = [
  {
    what: 'a subscription is on two bills of several',
    table: 'bill_parts',
    commit: `insert into bill_parts (tenant_id, bill_id, subscription_id, amount, arrears, days,
        billed_to, billed_through, subject_ts)
      select tenant_id, ${shop.billID}, subscription_id, 0, 0, 0, billed_to, billed_to, subject_ts
      from bill_parts where ${theirs} and bill_id = ${house.billID} and subscription_id = 1`,
    laws: ['L2', 'L6'],
    names: new RegExp(`^term ${later} subscription 1$`),
  },
  {
    what: 'a day of a subscription with others is on none, and none was cancelled for it',
    table: 'bill_parts',
    commit: `update bill_parts set billed_through = billed_through + 1
      where ${theirs} and bill_id = ${house.billID} and subscription_id = 1`,
    laws: ['L2'],
    names: new RegExp(`^bill ${house.billID} of subscription 1$`),
  },
];
testCrimes(scene, together.tenantId, crimesTogether);
