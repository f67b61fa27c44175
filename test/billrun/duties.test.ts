// Separation of duty: where a workspace wants it, who generates the bills of a term may not post
// them; others may.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { schedule } from '../support/delivery.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, newParty, subscribe } from '../support/subscriptions.ts';
import { newTerm, termOf } from '../support/terms.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene();
scene.runJobs();
const admin = await scene.workspace('duties');
const offer = await newOffer(
  admin,
  { meteredInputs: [], holdRules: [] },
  { componentRules: [{ component: 'energyCharge', scope: 'Term', formula: '500' }] },
);
const users = [{ partyNumber: await newParty(admin) }];
await subscribe(admin, { ...offer, users, connectionDate: '01012026' }, { batchUpload: true });
const manager = await scene.loginAs(admin, ['Billing Manager']);
const other = await scene.loginAs(admin, ['Billing Manager']);
const month = (number: string) => ({
  startDate: `01/${number}/2026`,
  endDate: `28/${number}/2026`,
});
const { serviceCode } = offer;

test('it is off unless asked for', async () => {
  assert.equal((await admin.getSettings()).data.settings.separationOfDuty, false);
  const termID = await newTerm(admin, { serviceCode, ...month('01') });
  await manager.generateBills(schedule(termID));
  await manager.postBills(schedule(termID));
  assert.equal((await termOf(admin, termID)).status, 'Posted');
});

test('a login that generated one bill of the term may not post it; another manager may', async () => {
  await admin.updateSettings({ data: { separationOfDuty: true } });
  const termID = await newTerm(admin, { serviceCode, ...month('02') });
  await manager.generateBills(schedule(termID));
  const before = await hashRows(scene.sql);
  await refuses(manager.postBills(schedule(termID)), 'PERMISSION_DENIED', { statusCode: 403 });
  assert.deepEqual(await hashRows(scene.sql), before);
  const [bill] = (await admin.getBills({ termID })).data.bills;
  await other.generateBills({ ...schedule(termID), billId: bill?.billID ?? 0 });
  await refuses(other.postBills(schedule(termID)), 'PERMISSION_DENIED');
  await admin.postBills(schedule(termID));
  assert.equal((await termOf(admin, termID)).status, 'Posted');
});

test('a scheduled posting is checked against the login that requested it', async () => {
  const termID = await newTerm(admin, { serviceCode, ...month('03') });
  await manager.generateBills(schedule(termID));
  const tomorrow = Temporal.Now.plainDateISO('Asia/Karachi').add({ days: 1 });
  const later = `${tomorrow}T00:00:00`;
  await refuses(manager.postBills(schedule(termID, later)), 'PERMISSION_DENIED');
  assert.match((await other.postBills(schedule(termID, later))).message, /^scheduled/);
  await admin.updateSettings({ data: { separationOfDuty: false } });
  await manager.postBills(schedule(termID));
});

test('a login that generated bills may not continue a posting begun by another', async () => {
  await admin.updateSettings({ data: { separationOfDuty: true } });
  const termID = await newTerm(admin, { serviceCode, ...month('04') });
  await manager.generateBills(schedule(termID));
  await scene.sql.query(`
    create function refuse_posting() returns trigger language plpgsql as
      $$ begin raise exception 'a bill that cannot be posted'; end $$;
    create trigger refusing before update on bills for each row
      when (new.status = 'Posted') execute function refuse_posting()`);
  await assert.rejects(other.postBills(schedule(termID)), /post-bills failed/);
  await scene.sql.query('drop function refuse_posting cascade');
  assert.equal((await termOf(admin, termID)).stage, 'Posting');
  await refuses(manager.postBills(schedule(termID)), 'PERMISSION_DENIED', { statusCode: 403 });
  await other.postBills(schedule(termID));
  assert.equal((await termOf(admin, termID)).status, 'Posted');
});
