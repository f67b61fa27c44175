// The general accounts on which components are booked.

import type { Tx } from '../../base/db/pool.ts';
import {
  type ContextType,
  controlAccounts,
  isOwedByWorkspace,
  ledgerAccounts,
} from './accounts.ts';
import { openAccounts, type WantedAccount } from './accounts-store.ts';

/** A component, with the code of the account that it names. */
export type BookedComponent = {
  account?: string | null | undefined;
  type?: string | null | undefined;
  contextType: ContextType;
};

/** The account that a component names, which is opened if it is new; else by its type. */
export async function componentAccounts(
  tx: Tx,
  tenantId: number,
  components: readonly BookedComponent[],
): Promise<(component: BookedComponent) => number> {
  const wanted = components.flatMap(({ account, type, contextType }): WantedAccount[] => {
    const code = account?.trim();
    const kind = isOwedByWorkspace(contextType) ? 'Expense' : 'Income';
    return code ? [{ code, name: code, kind: type === 'Tax' ? 'Liability' : kind }] : [];
  });
  const ids =
    wanted.length === 0 ? new Map<string, number>() : await openAccounts(tx, tenantId, wanted);
  return ({ account, type, contextType }) => {
    const id = ids.get(account?.trim() ?? '');
    if (id !== undefined && !controlAccounts.includes(id)) return id;
    if (type === 'Tax') return ledgerAccounts.tax;
    return isOwedByWorkspace(contextType) ? ledgerAccounts.expense : ledgerAccounts.income;
  };
}
