// What became of a mail, and when to try again.

/**
 * Sent: the server has it. Temporary: it does not, and a later attempt may go well. Permanent: it
 * refused the mail. Uncertain: the connection broke when all was said; the server may have it, and
 * sending again by itself could make two.
 */
export type MailOutcome = 'Sent' | 'Temporary' | 'Permanent' | 'Uncertain';

export type MailResult = { readonly outcome: MailOutcome; readonly detail: string };

/** Minutes until a temporary failure is tried again: a mail server is down for a day at most. */
const retryMinutes = [1, 5, 15, 60, 180, 360, 720] as const;

/** Seconds until the next attempt, by the number of failed ones; null if that was the last. */
export function mailRetrySeconds(attempts: number): number | null {
  const minutes = retryMinutes[attempts - 1];
  return minutes === undefined ? null : minutes * 60;
}

/** All of these pauses, in order. */
export const retrySeconds: readonly number[] = retryMinutes.map((minutes) => 60 * minutes);

export const firstRetrySeconds = 60 * retryMinutes[0];
