// A cancelled bill explains days that no bill has, and no more. Tampering is named by `billwright
// verify` also on cancelled bills and on bills of several subscriptions.
import assert from 'node:assert/strict';
import { billed, cancel, fee, termAgain } from '../support/cancelled-bills.ts';
import { august, july, openOffer } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { seal, type Tampering, testTamperings } from '../support/tampering.ts';

const scene = await openScene();
const worker = scene.runJobs();

/**
 * By subscription, of one bill each: July is cancelled of the first two, and billed again of one.
 */
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
await seal(scene);

const mine = `tenant_id = ${alone.tenantId}`;
const ofGone = `${mine} and bill_id = ${gone.billID}`;
/** Subscriptions are numbered in the order in which they were connected. */
const [cancelledOne, rebilledOne] = [1, 2];

const tamperingsAlone: readonly Tampering[] = [
  ...[cancelledOne, rebilledOne].map(
    (id): Tampering => ({
      what: `subscription ${id}, of which a bill was cancelled, is billed further than its bills`,
      table: 'subscriptions',
      statements: `update subscriptions set billed_through = billed_through + 30
        where ${mine} and subscription_id = ${id}`,
      checks: ['L2'],
      names: new RegExp(`^subscription ${id}$`),
    }),
  ),
  ...[cancelledOne, rebilledOne].map(
    (id): Tampering => ({
      what: `a day between bills of subscription ${id} is on none, and none was cancelled for it`,
      table: 'bills',
      statements: `update bills set previously_billed_to = previously_billed_to + 1, billed_from = billed_from + 1
        where ${mine} and subscription_id = ${id} and billed_to = '2026-08-31'`,
      checks: ['L2', 'L4'],
      names: new RegExp(`^bill \\d+ of subscription ${id}$`),
    }),
  ),
  {
    what: 'a cancelled bill that is not billed again had other days',
    table: 'bills',
    statements: `update bills set billed_to = billed_to - 1 where ${ofGone}`,
    checks: ['L2', 'L4'],
    names: /^bill \d+ of subscription 1$/,
  },
  {
    what: 'the words of a cancelled bill are changed',
    table: 'bill_contents',
    statements: `update bill_contents set document = replace(document::text, 'Fee', 'Fine')::json
      where ${ofGone}`,
    checks: ['L4'],
    names: new RegExp(`^bill ${gone.billID}$`),
  },
  ...['paid_amount = 100, credited = credited - 100', 'credited = credited - 100'].map(
    (change): Tampering => ({
      what: `a cancelled bill is paid or late: ${change}`,
      table: 'bills',
      statements: `update bills set ${change} where ${ofGone}`,
      checks: ['L15'],
      names: new RegExp(`^bill ${gone.billID} is (Unpaid|Paid|Overdue) with \\d+$`),
    }),
  ),
  {
    what: 'a bill is credited where it was not booked',
    table: 'subledger_entries',
    statements: `update subledger_entries set ledger_account_id = 1000001, amount = -amount
      where ${ofGone} and kind = 'CreditNote'`,
    checks: ['L1', 'L5', 'L15', 'L17'],
    names: new RegExp(`^bill ${gone.billID} is cancelled and not credited$`),
  },
  ...['party_id = party_id + 1', 'amount = amount - 1', 'issue_date = issue_date + 1'].map(
    (change): Tampering => ({
      what: `a credit note is changed: ${change}`,
      table: 'credit_notes',
      statements: `update credit_notes set ${change} where ${ofGone}`,
      checks: change.startsWith('issue_date') ? ['L17'] : ['L15', 'L17'],
      names: /^credit-note \d+ was changed$/,
    }),
  ),
  {
    what: 'a credit note has another party',
    table: 'credit_notes',
    statements: `update credit_notes set party_id = party_id + 1 where ${ofGone}`,
    checks: ['L15', 'L17'],
    names: /^credit note \d+ is not for the party of bill \d+$/,
  },
  ...[1, 5].map(
    (last): Tampering => ({
      what: `the counter of credit notes is not at the last one but at ${last}`,
      table: 'counters',
      statements: `update counters set last_number = ${last} where ${mine} and series = 'credit-note'`,
      checks: ['L3'],
      names: new RegExp(`^taken ${last}, on credit notes 2 up to 2$`),
    }),
  ),
];
testTamperings(scene, alone.tenantId, tamperingsAlone);

const theirs = `tenant_id = ${together.tenantId}`;
const tamperingsTogether: readonly Tampering[] = [
  {
    what: 'a subscription is on two bills of several',
    table: 'bill_parts',
    statements: `insert into bill_parts (tenant_id, bill_id, subscription_id, amount, arrears, days,
        billed_to, previously_billed_to, unit_ts)
      select tenant_id, ${shop.billID}, subscription_id, 0, 0, 0, billed_to, billed_to, unit_ts
      from bill_parts where ${theirs} and bill_id = ${house.billID} and subscription_id = 1`,
    checks: ['L2', 'L6'],
    names: new RegExp(`^term ${later} subscription 1$`),
  },
  {
    what: 'a day of a subscription with others is on none, and none was cancelled for it',
    table: 'bill_parts',
    statements: `update bill_parts set previously_billed_to = previously_billed_to + 1
      where ${theirs} and bill_id = ${house.billID} and subscription_id = 1`,
    checks: ['L2'],
    names: new RegExp(`^bill ${house.billID} of subscription 1$`),
  },
];
testTamperings(scene, together.tenantId, tamperingsTogether);
