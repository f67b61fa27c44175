// Amounts of payments as people and programs send them: exact in currencies of 0, 2 and 3
// decimals, or refused with the field, and then nothing is stored.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BillingError } from '../../sdk/client.ts';
import { assertChecks } from '../support/checks.ts';
import { openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
let references = 0;

async function openPayer(workspace: string, currency: string) {
  const client = await scene.workspace(workspace, { currency });
  const partyNumber = await newParty(client);
  const pay = (amount: unknown) => {
    references += 1;
    const payment = { reference: `AMOUNT-${references}`, partyNumber, amount };
    return client.makePayments({ payments: [{ ...payment, paymentMethod: 'Cash' } as never] });
  };
  const wallet = async () => {
    const { rows } = await scene.sql.query(
      `select coalesce(sum(balance), 0)::text as held from party_wallets where tenant_id = $1`,
      [await scene.enter(client)],
    );
    return rows[0].held as string;
  };
  return { client, pay, wallet };
}

/** By currency: amounts that are taken, what they come to in minor units, and wrong ones. */
const currencies = {
  JPY: { taken: [1, '500', 1e9], minor: '1000000501', tooFine: ['0.5', 1.25] },
  PKR: { taken: ['0.01', 16.66, '999999999999.99'], minor: '100000000001666', tooFine: ['0.001'] },
  KWD: { taken: ['0.001', 1.005, '12.345'], minor: '13351', tooFine: ['0.0001', 0.12345] },
};

const wrong = [0, '-0', -0, -1, '-5.00', '1e400', '1e3x', '1,000', '٥٠٠', '５００', '½', '', ' 1'];
const odd = ['NaN', 'Infinity', '0x10', '1_000', '10^15', null, true, [], {}, '1'.repeat(400)];

for (const [currency, { taken, minor, tooFine }] of Object.entries(currencies)) {
  test(`payments in ${currency} are exact, and wrong amounts are refused`, async () => {
    const { client, pay, wallet } = await openPayer(`amounts-${currency.toLowerCase()}`, currency);
    for (const amount of taken) await pay(amount);
    assert.equal(await wallet(), minor);
    for (const amount of [...wrong, ...odd, ...tooFine, '1000000000000000', 1e15]) {
      const refusal = await pay(amount).then(
        () => assert.fail(`${JSON.stringify(amount)} was taken`),
        (error: BillingError) => error.error,
      );
      const { field } = refusal;
      assert.equal(field, 'payments[0].amount', `${JSON.stringify(amount)}: ${refusal.code}`);
    }
    assert.equal(await wallet(), minor, 'nothing more is stored');
    await assertChecks(scene, await scene.enter(client));
  });
}
