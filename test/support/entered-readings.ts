// Readings that are entered, reviewed and listed by calls. Use it beside `metered.ts`.

import type { RequestOf } from '../../sdk/client.ts';
import type { TestClient } from './client.ts';

export type Reading = RequestOf<'makeReadings'>['readings'][number];

export function read(admin: TestClient, ...readings: Reading[]) {
  return admin.makeReadings({ readings });
}

export function at(
  number: number,
  readingDate: string,
  value: string,
  facts: Partial<Reading> = {},
) {
  return { number, readingDate, value, ...facts };
}

/** Date, value, status, use and days, and flags: in the order of days. */
export async function seen(admin: TestClient, number: number) {
  const { data } = await admin.getReadings({ number });
  const day = (text = '') => text.split('/').reverse().join('');
  return data.readings
    .sort((a, b) => (day(a.readingDate) < day(b.readingDate) ? -1 : 1))
    .filter((one) => one.readingType !== 'Installation')
    .map((one) => [one.readingDate, one.value, one.status, one.consumption, one.days, one.flags]);
}

export function review(
  admin: TestClient,
  readingID: number,
  decision: 'Accept' | 'Reject',
  facts: object = {},
) {
  return admin.reviewReading({ data: { readingID, decision, ...facts } });
}
