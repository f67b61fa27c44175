// A generated term of the worked electricity tariff, with a bill for each use. Use it for tests of
// generating and posting, and of what comes after it.

import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import {
  addSubscription,
  addTerm,
  type BillRun,
  copyOf,
  generate,
  openBillRun,
  rowsOf,
  tariffCase,
} from './bill-run.ts';
import type { Scene } from './scene.ts';

export const elec = tariffCase('ELEC');
export const [elecA, elecB, elecC] = elec.scenarios as unknown as [
  FrozenInputs,
  FrozenInputs,
  FrozenInputs,
];

export const cents = (amount: number) => Math.round(amount * 100);

/** A generated term with a bill for each use. */
export async function generated(
  scene: Scene,
  uses: readonly number[],
  options: { changed?: object; facts?: FrozenInputs } = {},
): Promise<{ run: BillRun; termId: number; subscriptions: number[] }> {
  const run = await openBillRun(scene, elec, (options.changed ?? {}) as never);
  const termId = await addTerm(run);
  const subscriptions: number[] = [];
  for (const [index, use] of uses.entries()) {
    const facts = { ...copyOf(options.facts ?? elecC, index, use), account: {} };
    subscriptions.push(await addSubscription(run, termId, facts));
  }
  await generate(run, termId);
  return { run, termId, subscriptions };
}

/** Three plain copies of the third scenario, each with another use. */
export async function threeBills(
  scene: Scene,
  uses = [120, 250, 404],
): Promise<{ run: BillRun; termId: number }> {
  const run = await openBillRun(scene, elec);
  const termId = await addTerm(run);
  for (const [index, use] of uses.entries()) {
    await addSubscription(run, termId, copyOf(elecC, index, use));
  }
  await generate(run, termId);
  return { run, termId };
}

type Balance = { code: string; amount: string };

export const balances = (run: BillRun) =>
  rowsOf<Balance>(
    run,
    `select a.code, sum(l.amount)::text as amount from journal_lines l
     join ledger_accounts a on a.tenant_id = l.tenant_id
       and a.ledger_account_id = l.ledger_account_id
     where l.tenant_id = $1
     group by a.code having sum(l.amount) <> 0 order by a.code`,
  );

export const termOf = async (run: BillRun, termId: number) => {
  const [term] = await rowsOf<{ status: string; stage: string }>(
    run,
    'select status, stage from terms where tenant_id = $1 and term_id = $2',
    [termId],
  );
  return [term?.status, term?.stage];
};
