import { type Sql, sql } from '../../base/db/sql.ts';

/** What bills, their parts and open items keep of how they were settled. */
const settledColumns = ['paid_amount', 'credited', 'written_off', 'transferred', 'disputed'];

/** What is open of row `name`; below zero, what is still to be used of a credit. */
function openOf(name: string, amount: string): Sql {
  return sql.raw(
    `(${name}.${amount} - ${settledColumns.map((column) => `${name}.${column}`).join(' - ')})`,
  );
}

/** Of bill `b`. */
export const openOfBill = openOf('b', 'bill_amount');
/** Of the part `p` of a bill of several subscriptions. */
export const openOfPart = openOf('p', 'amount');
/** Of the open item `i`. */
export const openOfItem = openOf('i', 'amount');
