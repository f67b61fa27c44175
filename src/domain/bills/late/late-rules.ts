// The rules by which bills of a run are late: days of grace, the basis of the surcharge, prices.

import type { Tx } from '../../../base/db/pool.ts';
import type { ContextPricing } from '../../pricing/context.ts';
import { listContextVersions } from '../../pricing/contexts-store.ts';
import type { PinnedBook } from '../../pricing/price-books.ts';
import { findSettings } from '../../tenants/store.ts';
import { findTerm, type Term } from '../../terms/store.ts';
import { findRun } from '../generate/runs-store.ts';
import { accountsOfTerm } from '../posting/bill-journals.ts';
import { bookOfRun } from '../run-prices.ts';

export type LateRules = {
  term: Term;
  pinned: PinnedBook;
  /** The ledger account of a LateSurcharge component. */
  accountOf: (component: string) => number;
  graceDays: number;
  isOfUnpaid: boolean;
};

type OfRun = { term_id: number; first_run: number };

export const runKey = ({ term_id, first_run }: OfRun) => `${term_id} ${first_run}`;

/** By run of a term. The prices are those of the run; the rules are those of the day. */
export async function loadLateRules(
  tx: Tx,
  tenantId: number,
  bills: readonly OfRun[],
  day: Temporal.PlainDate,
): Promise<Map<string, LateRules>> {
  const settings = await findSettings(tx, tenantId);
  const tenant = {
    tenantId,
    currency: settings.currency,
    currencyDecimals: settings.currency_decimals,
  };
  const rules = new Map<string, LateRules>();
  const pricing = new Map<number, ContextPricing>();
  for (const bill of bills) {
    const key = runKey(bill);
    if (rules.has(key)) continue;
    const { term_id: termId, first_run: runNumber } = bill;
    const term = await findTerm(tx, tenantId, termId);
    const run = await findRun(tx, tenantId, { termId, runNumber });
    if (!term || !run) throw new Error(`term ${termId} has no run ${runNumber}`);
    const pinned = await bookOfRun(tx, tenant, term, run);
    const accountOf = await accountsOfTerm(tx, tenantId, pinned, term);
    const known = pricing.get(term.context_id);
    const context = known ?? (await contextOn(tx, tenantId, term.context_id, day));
    pricing.set(term.context_id, context);
    rules.set(key, {
      term,
      pinned,
      accountOf: (component) => accountOf(component, null),
      graceDays: context.graceDays ?? 0,
      isOfUnpaid: context.lateFeeBasis === 'UnpaidAmount',
    });
  }
  return rules;
}

/** The version of a pricing context that is effective on a day. */
export async function contextOn(
  tx: Tx,
  tenantId: number,
  contextId: number,
  day: Temporal.PlainDate,
): Promise<ContextPricing> {
  const versions = await listContextVersions(tx, tenantId, contextId);
  const inForce = versions.filter(
    ({ effective_date: from }) => from === null || from <= day.toString(),
  );
  return (inForce.at(-1) ?? versions[0])?.definition ?? {};
}

/** The last day on which a bill is paid in time. */
export function deadlineOf(
  bill: { due_date: string; issue_date: string },
  graceDays: number,
): string {
  const last = bill.due_date > bill.issue_date ? bill.due_date : bill.issue_date;
  return Temporal.PlainDate.from(last).add({ days: graceDays }).toString();
}
