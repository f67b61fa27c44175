// Open items of an old system: imported once, then settled, aged and dunned as any other debt.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { file, problemsOf, storesNothing, take } from '../support/imported-files.ts';
import { openLate } from '../support/late.ts';
import { openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

const header =
  'reference,kind,connectionNumber,partyNumber,issueDate,dueDate,amount,component,description';

test('open items of an old system are settled by due date, aged, dunned and on the statement', async () => {
  // Today is 01/08/2029.
  const place = await openLate(scene, 'opening-items', 2029);
  const { client, party, number, offer } = place;
  await scene.enter(client);
  const dunning = { steps: [{ daysAfterDue: 60, action: 'List' as const }] };
  await client.updateService({ service: { code: offer.serviceCode, dunning } });
  const neighbour = await newParty(client, 'Neighbour');
  const content = file(
    header,
    `OLD-2,,${number},,01/07/2029,20/07/2029,100,fee,Bill of June`,
    `OLD-1,OpenItem,${number},${party},2029-05-01,15/05/2029,300.50,fee,Bill of April`,
    `OLD-3,,${number},,,01/06/2029,-50.50,,Goodwill`,
    `OLD-4,,,${party},,31/07/2029,40,,Key of the meter box`,
    `OLD-5,Advance,,${neighbour},,,75,,Paid ahead`,
    `OLD-6,SecurityDeposit,${number},,,,25,,`,
  );
  await take(client, 'OpenItems', content, { dryRun: true });
  assert.deepEqual(await place.money(), { owed: 0, wallet: 0 }, 'a dry run stores nothing');
  await take(client, 'OpenItems', content);
  // 100 + 300.50 - 50.50 + 40
  assert.deepEqual(await place.money(), { owed: 390, wallet: 0 });
  const { data: other } = await client.getUsers({ partyNumber: neighbour });
  assert.equal(other.user.walletAccount?.balance, 75);
  const { data: statement } = await client.getStatement({ partyNumber: party });
  assert.deepEqual(statement.entries.map((one) => one.reference).toSorted(), [
    ...['OLD-1', 'OLD-2', 'OLD-3', 'OLD-4'],
  ]);
  // 15/05 is 78 days ago: 300.50 - 50.50 of credit. 20/07 is 12 days ago, 31/07 one: 100 + 40.
  const aging = { current: 0, d1_30: 140, d31_60: 0, d61_90: 250, over90: 0 };
  assert.deepEqual(statement.aging, aging);
  const { data: report } = await client.getReport({ report: 'Aging' });
  assert.deepEqual(report.totals, { ...aging, total: 390 });
  // -(300.50 + 100 - 50.50 + 40) + 75 + 25
  const { data: ledger } = await client.getTrialBalance({ accountCode: 'OPENING' });
  assert.equal(ledger.accounts[0]?.balance, -290);
  await place.on('02/08');
  const { data: dunned } = await client.getDunning({});
  // 15/05 is 79 days ago; the credit pays 50.50 of it: 250 + 100. The party's own 40 is not dunned.
  assert.deepEqual(
    dunned.dunning.map((one) => [one.connectionNumber, one.action, one.overdueAmount]),
    [[number, 'List', 350]],
  );
  await place.pay(270);
  // 250 of the oldest, then 20 of 100.
  assert.deepEqual(await place.money(), { owed: 120, wallet: 0 });
  const { data: left } = await client.getStatement({ partyNumber: party });
  assert.deepEqual(left.aging, { current: 0, d1_30: 120, d31_60: 0, d61_90: 0, over90: 0 });
  await assertChecks(scene, place.tenantId);

  await refuses(take(client, 'OpenItems', content), 'DUPLICATE', { field: 'content' });
  await take(client, 'OpenItems', content, { again: true });
  assert.deepEqual(await place.money(), { owed: 120, wallet: 0 }, 'each reference counts once');
});

test('a bad row of open items is named by its line and column, and nothing is stored', async () => {
  const place = await openLate(scene, 'opening-refused', 2029);
  const { client, party, number } = place;
  await scene.enter(client);
  await take(client, 'OpenItems', file(header, `A,,${number},,,15/04/2029,300,,`));
  const content = file(
    header,
    `A,,${number},,,15/04/2029,301,,`,
    `B,,NONE,,,15/04/2029,1,,`,
    `C,,,9,,15/04/2029,1,,`,
    `D,,${number},,,,1,,`,
    `E,,,,,15/04/2029,1,,`,
    `F,,${number},,,15/04/2029,0,,`,
    `G,Advance,${number},,,,-1,,`,
    `H,SecurityDeposit,,${party},,,1,,`,
    `I,,${number},,,15/04/2029,1,none,`,
    `J,,${number},,01/01/2030,15/01/2030,1,,`,
    `K,,${number},,,15/04/2029,1.005,,`,
    `L,Debt,${number},,,15/04/2029,1,,`,
    `M,,${number},9,,15/04/2029,1,,`,
  );
  await storesNothing(scene, async () => {
    assert.deepEqual(await problemsOf(take(client, 'OpenItems', content)), [
      ['lines[2].reference', 'DUPLICATE'],
      ['lines[3].connectionNumber', 'SUBSCRIPTION_NOT_FOUND'],
      ['lines[4].partyNumber', 'PARTY_NOT_FOUND'],
      ['lines[5].dueDate', 'REQUIRED_FIELD'],
      ['lines[6].partyNumber', 'REQUIRED_FIELD'],
      ['lines[7].amount', 'INVALID_NUMBER'],
      ['lines[8].amount', 'INVALID_NUMBER'],
      ['lines[9].connectionNumber', 'REQUIRED_FIELD'],
      ['lines[10].component', 'COMPONENT_NOT_FOUND'],
      ['lines[11].issueDate', 'DATE_IN_FUTURE'],
      ['lines[12].amount', 'INVALID_NUMBER'],
      ['lines[13].kind', 'INVALID_ENUM'],
      ['lines[14].connectionNumber', 'SUBSCRIPTION_NOT_FOUND'],
    ]);
  });
  const operator = await scene.loginAs(client, ['Billing Operator']);
  await refuses(take(operator, 'OpenItems', content), 'PERMISSION_DENIED');
});

test('an accountant brings the open items of an old system, and no rows of another kind', async () => {
  const place = await openLate(scene, 'opening-accountant', 2029);
  const { client, number } = place;
  await scene.enter(client);
  const accountant = await scene.loginAs(client, ['Accountant']);
  await take(accountant, 'OpenItems', file(header, `A,,${number},,,15/04/2029,300,,`));
  assert.deepEqual(await place.money(), { owed: 300, wallet: 0 });
  await refuses(take(accountant, 'Parties', file('name', 'A. Khan')), 'PERMISSION_DENIED');
});
