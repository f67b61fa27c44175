// Which bills a caller may be shown, where one is asked for by its id.
import { billNotFound } from '../../domain/bills/store.ts';
import type { Call } from '../operation.ts';

/** A customer sees bills of its own that are published, and hears of no others. */
export function visibleBill<Row extends { party_id: number; status: string }>(
  { ownPartyId }: Call,
  billId: number,
  row: Row | undefined,
): Row {
  const isForAll = ownPartyId === null;
  if (row && (isForAll || (row.party_id === ownPartyId && row.status === 'Published'))) return row;
  throw billNotFound(billId, 'billID');
}
