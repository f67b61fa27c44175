// Keeps the receipt of a payment when it is first asked for.
import type { Tx } from '../../base/db/pool.ts';
import { documentThreads } from './document-threads.ts';
import { findFurther } from './further-documents-store.ts';
import { keepFurther } from './keep-further.ts';
import { receiptSources } from './receipts.ts';

type Transact = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/** Nothing is kept of a payment that was paid out, or that the party did not make. */
export async function keepReceipt(
  transact: Transact,
  tenantId: number,
  { paymentId, ownPartyId }: { paymentId: number; ownPartyId: number | null },
  at: Temporal.Instant,
): Promise<void> {
  const key = { kind: 'Receipt', subjectId: paymentId } as const;
  const source = await transact(async (tx) => {
    if (await findFurther(tx, tenantId, key)) return undefined;
    return (await receiptSources(tx, tenantId, [paymentId], ownPartyId)).get(paymentId);
  });
  if (source?.row.direction !== 'In') return;
  // No connection is held while it is made.
  const { file, parts } = await documentThreads().printKept(source.paper);
  await transact((tx) => keepFurther(tx, tenantId, [{ ...key, ...file }], parts, at));
}
