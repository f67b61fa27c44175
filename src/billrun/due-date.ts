// Bills do not go out overdue: customers have some days to pay, counted from the day of posting and
// again from that of publishing.

import { dateIn, formatDate } from '../base/calendar.ts';
import { counted } from '../base/counted.ts';
import type { Tx } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { hasAmountToPay } from '../domain/bills/store.ts';
import type { Term } from '../domain/terms/store.ts';
import type { StepRequest } from '../jobs/step.ts';

/**
 * Refuses a term whose bills would be due too early. Prepaid bills are due when they are posted, a
 * workspace gives itself the time to pay vendors and employees, and on a bill of zero or less there
 * is nothing to pay.
 */
export async function assertTimeToPay(
  tx: Tx,
  request: StepRequest,
  term: Term,
  status: 'Draft' | 'Posted',
): Promise<void> {
  if (request.parameters.acceptDueDate === true) return;
  if (term.charging_type !== 'Postpaid' || term.context_type !== 'Sale') return;
  const { tenantId, timezone } = request.tenant;
  const days = term.minimum_days_to_pay;
  const earliest = dateIn(request.now, timezone).add({ days });
  const dueDate = Temporal.PlainDate.from(term.due_date);
  if (Temporal.PlainDate.compare(dueDate, earliest) >= 0) return;
  if (!(await hasAmountToPay(tx, tenantId, term.term_id, status))) return;
  const due = formatDate(dueDate);
  throw new AppError('DUE_DATE_TOO_EARLY', {
    message:
      `The bills of ${term.label} would be due on ${due}. ` +
      `Customers of ${term.context_code} have ${counted(days, 'day')} to pay: the earliest due ` +
      `date is ${formatDate(earliest)}. Change it with update-term, or send acceptDueDate: true.`,
    current: due,
    allowed: [formatDate(earliest)],
  });
}
