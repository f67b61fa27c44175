// Payments at the same moment as others, and as cancelling: each once, and no deadlock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { deadlocksOf } from '../support/lock-waits.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

test('a bill that is paid and cancelled at once ends cancelled, with the money in the wallet', async () => {
  const place = await openOwing(scene, 'race-cancel');
  const number = await place.connectOld();
  for (let round = 1; round <= 4; round += 1) {
    const [bill] = await place.bill({ [number]: 100 });
    const data = { billID: bill?.billID ?? 0, reason: 'Wrong' };
    await Promise.all([place.pay({ amount: 100 }), place.client.cancelBill({ data })]);
    // The payment came first and is back in the wallet, or found nothing to pay.
    assert.deepEqual([await place.owed(), await place.wallet()], [0, 100 * round]);
  }
  await assertChecks(scene, place.tenantId);
});

test('a payment whose bill was cancelled is reversed out of the wallet', async () => {
  const place = await openOwing(scene, 'race-reversed');
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 100 });
  const paymentID = await place.pay({ amount: 130 });
  await place.client.cancelBill({ data: { billID: bill?.billID ?? 0, reason: 'Wrong' } });
  assert.equal(await place.wallet(), 130);
  await place.client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  assert.deepEqual([await place.owed(), await place.wallet()], [0, 0]);
  await assertChecks(scene, place.tenantId);
});

/** Five customers with two bills of 100 each. */
async function openCustomers(place: Owing): Promise<string[]> {
  const numbers: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    const partyNumber = await newParty(place.client, `Customer ${index}`);
    const users = [{ partyNumber, connectionGroupLabel: 'House' }];
    numbers.push(await place.connectOld({ users }));
  }
  const amounts = Object.fromEntries(numbers.map((number) => [number, 100]));
  await place.bill(amounts);
  await place.bill(amounts);
  return numbers;
}

test('clerks who send the same payments many times take each once', async () => {
  const place = await openOwing(scene, 'race-clerks');
  const numbers = await openCustomers(place);
  const before = await deadlocksOf(scene.sql);
  const wanted = numbers.flatMap((connectionNumber, customer) =>
    Array.from({ length: 6 }, (_, index) => ({
      reference: `C${customer}-${index}`,
      connectionNumber,
      amount: 50,
      paymentMethod: 'Cash' as const,
    })),
  );
  const clerk = async (shift: number) => {
    for (let index = 0; index < wanted.length; index += 3) {
      // Several at a time, in another order than the other clerks.
      const payments = [0, 1, 2].map((step) => {
        const at = (wanted.length + shift * (index + step) + shift) % wanted.length;
        return wanted[at] ?? (wanted[0] as (typeof wanted)[number]);
      });
      await place.client.makePayments({ payments }).catch((error: Error) => {
        if (!error.message.includes('send the call again')) throw error;
      });
    }
  };
  await Promise.all([1, 7, 11, 13, 17, 23].map(clerk));
  const { data } = await place.client.getPayments({});
  const references = data.payments.map((one) => one.reference);
  assert.equal(new Set(references).size, references.length);
  const total = data.payments.reduce((sum, one) => sum + (one.amount ?? 0), 0);
  const { rows } = await scene.sql.query<{ cash: string }>(
    `select sum(amount)::text as cash from journal_lines
     where tenant_id = $1 and ledger_account_id = 1`,
    [place.tenantId],
  );
  assert.equal(Number(rows[0]?.cash), total * 100);
  assert.equal(await deadlocksOf(scene.sql), before);
  await assertChecks(scene, place.tenantId);
});
