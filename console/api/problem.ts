// A refusal of the server in the words that a person reads.
import { BillingError } from '../../sdk/client.ts';

/** Nothing has the number or the name of an address. */
export class Missing extends Error {}

export function found<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw new Missing();
  return thing;
}

/** The number of an address; as null it would ask for all. */
export function numbered(id: number): number {
  if (!Number.isSafeInteger(id)) throw new Missing();
  return id;
}

/** Whether what a page should show is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof Missing || (error instanceof BillingError && error.statusCode === 404);
}

/** The session of the caller has ended: the person logs in again. */
export function hasEnded(error: unknown): boolean {
  return error instanceof BillingError && error.statusCode === 401;
}

export type Problem = {
  message: string;
  /** The message of each field that the server names. */
  fields: Record<string, string>;
  /** Shown where the fault is the server's own, so that it can be found in the log. */
  requestID: string | null;
};

export function problemOf(error: unknown): Problem {
  if (!(error instanceof BillingError)) {
    return { message: error instanceof Error ? error.message : String(error), ...nothingNamed };
  }
  const { message, field, details, requestID } = error.error;
  const named = [{ field, message }, ...details];
  const fields = Object.fromEntries(
    named.flatMap(({ field, message }) =>
      field ? placesOf(field).map((place) => [place, message]) : [],
    ),
  );
  return { message, fields, requestID: error.statusCode >= 500 ? requestID : null };
}

const nothingNamed = { fields: {}, requestID: null };

/**
 * `payments[0].amount` is the field `amount` of a form that sends one payment, and the field
 * `payments.0.amount` of one that sends a list.
 */
function placesOf(path: string): string[] {
  const names = path.split(/[.[\]]+/).filter((name) => name !== '');
  return names.map((_, index) => names.slice(index).join('.'));
}
