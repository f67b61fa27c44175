// Posting and publishing bills that leave customers few days to pay.
import * as Type from 'typebox';
import { maybe } from '../fields.ts';

export const acceptDueDate = maybe(
  Type.Boolean({
    description:
      'true: bills go out although customers have fewer days to pay than the service says',
  }),
);

/** Kept with the job and in the audit trail where it was sent. */
export function acceptedDueDate(data: { acceptDueDate?: boolean | null }): {
  acceptDueDate?: true;
} {
  return data.acceptDueDate === true ? { acceptDueDate: true } : {};
}
