// What a cancelled bill means for later terms of the same subscriptions, whose bills tell of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, rowsOf, unpost } from '../support/bill-run.ts';
import { billed, cancel, fee } from '../support/cancelled-bills.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf } from '../support/delivery.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { termOf } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

const openFee = (workspace: string, service = {}) =>
  openOffer(scene, workspace, { ...fee.service, ...service }, fee.tariff);

test('a later term that is unposted after it has to be generated again', async () => {
  for (const postType of ['Post Subscription', 'Post Party'] as const) {
    const place = await openFee(`unposted-${postType.slice(5).toLowerCase()}`, { postType });
    await place.connectOld({ postType });
    await place.connectOld({ postType });
    const [first] = await billed(place, await place.open({ ...july, postType }));
    const later = await place.open({ ...august, postType });
    await billed(place, later);
    await unpost(place, later);
    assert.equal((await termOf(place.client, later)).stale, false);
    await post(place, later);
    await cancel(place, first?.billID ?? 0);
    await unpost(place, later);
    assert.equal(await codeOf(post(place, later)), 'TERM_STALE_GENERATE_AGAIN');
    const [bill] = await billed(place, later);
    assert.equal(bill?.arrears, 0);
    await assertChecks(scene, place.tenantId);
  }
});

test('terms whose bills are to be made again are found among what changed', async () => {
  const place = await openFee('changed-since');
  await place.connectOld();
  const [first] = await billed(place, await place.open(july));
  const [second, third] = [await place.open(august), await place.open(september)];
  const staleSince = async (updatedSince: number) => {
    const { terms } = (await place.client.getTerms({ metaData: { updatedSince } })).data;
    return terms.flatMap(({ termID, stale }) => (stale ? [termID] : []));
  };
  await generate(place, second);
  const { ts } = await termOf(place.client, second);
  await cancel(place, first?.billID ?? 0);
  assert.deepEqual(await staleSince(Number(ts) + 1), [second]);
  await generate(place, second);
  await generate(place, third);
  const { ts: last } = await termOf(place.client, third);
  await place.client.cancelTerm({ data: { termID: second, reason: 'x' } });
  assert.deepEqual(await staleSince(Number(last) + 1), [third]);
});

test('a draft that is being posted then is not posted as it was made', async () => {
  const place = await openFee('being-posted');
  await place.connectOld();
  await place.connectOld();
  const [first] = await billed(place, await place.open(july));
  const later = await place.open(august);
  await generate(place, later);
  // As a step leaves it that failed before its first part.
  const begin = `update terms set stage = 'Posting' where tenant_id = $1 and term_id = $2`;
  await rowsOf(place, begin, [later]);
  await cancel(place, first?.billID ?? 0);
  await post(place, later);
  assert.deepEqual(
    (await billsOf(place, later)).map((bill) => [bill.status, bill.arrears]),
    [
      ['Hold', 341],
      ['Posted', 341],
    ],
  );
  const [next] = await billed(place, await place.open(september));
  assert.deepEqual([next?.billedFrom, next?.billAmount, next?.arrears], ['01/08/2026', 693.36, 0]);
  await assertChecks(scene, place.tenantId);
});
