// Terms that readings are for, as a meter reader sees them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStreet } from '../support/metered-month.ts';
import { august, july } from '../support/offer-place.ts';
import { openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

test('get-reading-terms lists open terms of metered services, without amounts', async () => {
  const { place, houses } = await openStreet(scene, 'reading-terms', ['100']);
  const { client } = place;
  const reader = await scene.loginAs(client, ['Meter Reader']);
  assert.deepEqual((await reader.getReadingTerms({})).data.terms, []);
  const first = await place.open({ ...july, label: 'July' });
  const number = houses[0]?.number ?? 0;
  await reader.makeReadings({ readings: [{ number, value: '131', readingDate: '31/07/2026' }] });
  const second = await place.open({ ...august, label: 'August' });

  const { data, headers } = await reader.getReadingTerms({ page: { pageNumber: 0, size: 1 } });
  assert.equal(headers.get('x-total-count'), '2');
  const { serviceCode, batchCode } =
    (await client.getTerms({ termID: second })).data.terms[0] ?? {};
  const shown = { serviceCode, batchCode, stage: 'Created' };
  const { startDate, endDate } = august;
  assert.deepEqual(data.terms, [{ termID: second, label: 'August', startDate, endDate, ...shown }]);

  // Posted readings can still be completed; a term that is cancelled or posted takes none.
  const posting = { termID: first, reading: 'current' as const };
  await client.postMeterReadings({ operation: 'schedule', data: posting });
  const [own] = (await reader.getReadingTerms({ termID: first })).data.terms;
  assert.deepEqual([own?.label, own?.stage], ['July', 'ReadingsPosted']);
  await client.cancelTerm({ data: { termID: second, reason: 'opened by mistake' } });
  const left = (await reader.getReadingTerms({})).data.terms;
  assert.deepEqual(
    left.map(({ termID }) => termID),
    [first],
  );
  assert.deepEqual((await reader.getReadingTerms({ termID: 999_999 })).data.terms, []);
});

test('get-reading-terms leaves out terms of services without meters', async () => {
  const place = await openOwing(scene, 'reading-terms-unmetered');
  await place.connectOld();
  const termID = await place.openMonth({});
  assert.deepEqual((await place.client.getReadingTerms({ termID })).data.terms, []);
});
