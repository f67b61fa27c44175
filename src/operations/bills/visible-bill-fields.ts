// Which bills a caller may see, for operations that take the id of a bill.
import { billNotFound } from '../../domain/bills/store.ts';
import type { Call } from '../operation.ts';

/** A customer sees its own published bills; any other bill does not exist for it. */
export function visibleBill<Row extends { party_id: number; status: string }>(
  { ownPartyId }: Call,
  billId: number,
  row: Row | undefined,
): Row {
  const isForAll = ownPartyId === null;
  if (row && (isForAll || (row.party_id === ownPartyId && row.status === 'Published'))) return row;
  throw billNotFound(billId, 'billID');
}
