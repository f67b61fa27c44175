// What customers are shown of what operators wrote: no names of staff, and no notes.
import type { BillView } from './bills/bill-fields.ts';
import type { Call } from './operation.ts';

type Viewer = Pick<Call, 'ownPartyId' | 'principal'>;

/** Shown to customers in place of every name but their own. */
const staff = 'Staff';

/** The name of a login or client as the caller may see it. */
export function shownName({ ownPartyId, principal }: Viewer, name: string): string {
  return ownPartyId === null || name === principal.name ? name : staff;
}

type Stamped = { createdBy: string; modifiedBy: string };

export function withShownNames<Shown extends Stamped>(viewer: Viewer, shown: Shown): Shown {
  if (viewer.ownPartyId === null) return shown;
  const createdBy = shownName(viewer, shown.createdBy);
  return { ...shown, createdBy, modifiedBy: shownName(viewer, shown.modifiedBy) };
}

/** A customer sees the notes on a reading that it made and that no operator has reviewed. */
export function maySeeNotes(
  { ownPartyId, principal }: Viewer,
  row: { created_by: string; modified_by: string },
): boolean {
  const { name } = principal;
  return ownPartyId === null || (row.created_by === name && row.modified_by === name);
}

export function shownBills(viewer: Viewer, bills: readonly BillView[]): BillView[] {
  if (viewer.ownPartyId === null) return [...bills];
  return bills.map((bill) => ({ ...withShownNames(viewer, bill), holdReason: null }));
}
