// A context changes under its subscriptions: what they use stays, and what is unique is kept so.
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { ContextPricing } from './context.ts';
import { type DefinedNames, forgetUnique, keepUnique, listUsedNames } from './usage-store.ts';

export type PricingChange = { contextId: number; before: ContextPricing; after: ContextPricing };

const lists = ['values', 'connectionInputs', 'meteredInputs', 'unmeteredInputs'] as const;

/** Refuses to leave out what a subscription uses. */
export async function assertUnused(
  tx: Tx,
  tenantId: number,
  { contextId, before, after }: PricingChange,
): Promise<void> {
  const entries = lists.map((list) => {
    const kept = new Set((after[list] ?? []).map((item) => item.name));
    const names = (before[list] ?? []).map((item) => item.name);
    return [list, names.filter((name) => !kept.has(name))] as const;
  });
  if (entries.every(([, names]) => names.length === 0)) return;
  const left = Object.fromEntries(entries) as unknown as DefinedNames;
  const [used] = await listUsedNames(tx, tenantId, contextId, left);
  if (!used) return;
  throw new AppError('IN_USE', {
    message: `Subscriptions use ${used.name}, which ${used.list} would no longer have`,
    field: `service.${used.list}`,
  });
}

export async function changeUnique(
  tx: Tx,
  tenantId: number,
  { contextId, before, after }: PricingChange,
): Promise<void> {
  const unique = (pricing: ContextPricing) =>
    (pricing.connectionInputs ?? []).filter((one) => one.unique === 1).map((one) => one.name);
  const [old, now] = [new Set(unique(before)), new Set(unique(after))];
  await forgetUnique(tx, tenantId, contextId, [...old.difference(now)]);
  await keepUnique(tx, tenantId, contextId, [...now.difference(old)]);
}
