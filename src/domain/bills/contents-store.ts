// A bill `b` as it is read, with its document and its frozen inputs `k`.
import { sql } from '../../base/db/sql.ts';

/** Of a `StoredBill`, without its document and frozen inputs. */
export const storedBillColumns = `b.bill_id, b.bill_number, b.bill_type, b.status,
  b.subscription_id, b.account_id, b.party_id, b.due_date, b.billed_from, b.billed_to, b.days,
  b.current_charges::text as current_charges, b.tax_amount::text as tax_amount,
  b.rounding_adjustment::text as rounding_adjustment, b.bill_amount::text as bill_amount,
  b.previous_balance::text as previous_balance, b.payments_received::text as payments_received,
  b.adjustments::text as adjustments, b.arrears::text as arrears,
  b.wallet_applied::text as wallet_applied, b.payable::text as payable,
  b.credit_balance::text as credit_balance, b.late_surcharge::text as late_surcharge`;

/**
 * Looked up for each bill by its key. Joined, they would be read from the first to the last of all
 * bills where PostgreSQL does not know yet how many there are.
 */
export const withContents = (tenantId: number) => sql`cross join lateral (
    select c.document, c.frozen from bill_contents c
    where c.tenant_id = ${tenantId} and c.bill_id = b.bill_id
    limit 1
  ) k`;

/** For lists: of the frozen inputs, which are most of a bill, only what its head shows. */
export const withHead = (tenantId: number) => sql`cross join lateral (
    select c.document, json_build_object('connection', json_build_object(
        'connectionNumber', c.frozen #>> '{connection,connectionNumber}'
      )) as frozen
    from bill_contents c
    where c.tenant_id = ${tenantId} and c.bill_id = b.bill_id
    limit 1
  ) k`;
