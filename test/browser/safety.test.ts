// What a page may do: no script of others, nothing secret that a script could read, and texts of
// customers that stay texts.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { findBrowser, logIn, visit } from '../support/browser.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';
import { addressesOf, findInWorkspace, screens, settled } from '../support/screens.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
const equipment = openTestEquipment();
scene.runJobs({ equipment });
after(() => equipment.close());
const skip = findBrowser() === undefined;
const hostile = '<img src=x onerror="window.wasRun=1"><b>bold</b>';
const ownPassword = 'lanterns over the river';

test('every page forbids scripts in it, frames and other hosts, and an injected script is refused', {
  skip,
}, async () => {
  await scene.workspace('safety-headers');
  const { page, address } = await visit(scene, 'safety-headers');
  const anything = {
    ...{ termID: 1, billID: 1, partyNumber: 1, connectionNumber: 'X', paymentID: 1 },
    ...{ bankFileID: 1, planID: 1, serviceCode: 'X' },
  };
  for (const path of screens.flatMap((screen) => addressesOf(screen, anything))) {
    const answer = await page.goto(`${address}${path}`, { waitUntil: 'commit' });
    const policy = answer?.headers()['content-security-policy'] ?? '';
    assert.match(policy, /default-src 'none'; script-src 'self';/, path);
    assert.match(policy, /frame-ancestors 'none'/, path);
    assert.doesNotMatch(policy, /script-src[^;]*unsafe/, path);
    assert.doesNotMatch(policy, /https?:/, path);
    assert.equal(answer?.headers()['x-content-type-options'], 'nosniff', path);
  }
  await page.goto(`${address}/login`);
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await page.evaluate(`{
    const script = document.createElement('script');
    script.textContent = 'window.wasRun = 1';
    document.body.append(script);
    document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(hostile)});
  }`);
  await page.locator('img[src=x]').waitFor({ state: 'attached' });
  assert.equal(await page.evaluate('window.wasRun'), undefined);
});

test('after the login no storage of the browser has a token, and no script reads the cookie', {
  skip,
}, async () => {
  await scene.workspace('safety-storage');
  const { page, address, assertClean } = await visit(scene, 'safety-storage');
  await page.goto(`${address}/login`);
  await logIn(page, 'admin@safety-storage.example');
  await page.getByRole('heading', { name: 'Bill runs' }).waitFor();
  const cookies = await page.context().cookies();
  assert.equal(cookies.length, 1);
  const [cookie] = cookies;
  assert.equal(cookie?.httpOnly, true);
  assert.equal(cookie?.sameSite, 'Strict');
  assert.match(cookie?.path ?? '', /^\/billing\/auth/);
  const kept = await page.evaluate(`(async () => JSON.stringify([
    { ...localStorage }, { ...sessionStorage }, document.cookie, await indexedDB.databases(),
    await caches.keys(),
  ]))()`);
  assert.deepEqual(JSON.parse(String(kept)), [{ 'billwright-keys': 'true' }, {}, '', [], []]);
  assertClean();
});

test('a script in texts of a customer is shown as text on every screen', { skip }, async () => {
  const place = await openHostile('safety-texts');
  const { page, address, assertClean } = await visit(scene, 'safety-texts');
  await page.goto(`${address}/login`);
  await logIn(page, 'admin@safety-texts.example');
  await page.waitForURL((url) => url.pathname !== '/login');
  const found = await findInWorkspace(place.client);
  const seen: string[] = [];
  const tabs = ['bills', 'payments', 'statement', 'notes'].map(
    (tab) => `/customers/${place.party}?tab=${tab}`,
  );
  const staff = screens.filter((screen) => screen.for === 'staff');
  for (const path of [...staff.flatMap((screen) => addressesOf(screen, found)), ...tabs]) {
    await page.goto(`${address}${path}`);
    await settled(page);
    if (await isShown(page)) seen.push(path);
    assert.equal(await page.evaluate('window.wasRun'), undefined, path);
    assert.equal(await page.locator('img[src=x]').count(), 0, path);
  }
  // The name is on these; a sweep that saw it nowhere would prove nothing.
  for (const path of ['/customers', `/customers/${place.party}`, '/payments', '/subscriptions']) {
    assert.ok(seen.includes(path), `${path} does not show the name; seen on ${seen}`);
  }
  assertClean();
});

async function isShown(page: Page): Promise<boolean> {
  return (await page.locator('main').getByText(hostile).count()) > 0;
}

async function openHostile(workspace: string): Promise<Owing> {
  const place = await openOwing(scene, workspace);
  const number = await place.connectOld();
  const { client, party } = place;
  await client.updateUser({ user: { partyNumber: party, name: hostile } });
  await place.bill({ [number]: 100 });
  await place.pay({ amount: 40, remark: hostile });
  await client.makeNotes({ notes: [{ partyNumber: party, kind: 'Note', text: hostile }] });
  return place;
}

test('a customer reads nothing of another party, by address or by call', { skip }, async () => {
  const place = await openHostile('safety-portal');
  const { client } = place;
  const stranger = await newParty(client, 'Stranger');
  const username = 'stranger@safety-portal.example';
  const login = { username, name: 'Stranger', password: ownPassword, partyNumber: stranger };
  await client.makeLogins({ logins: [{ ...login, roles: ['Customer'] }] });
  const found = await findInWorkspace(client);
  const { page, address } = await visit(scene, 'safety-portal');
  await page.goto(`${address}/login`);
  await logIn(page, username, ownPassword);
  await page.getByText('You owe nothing').waitFor();
  for (const screen of screens.filter((one) => one.for !== 'visitor')) {
    for (const path of addressesOf(screen, found)) {
      await page.goto(`${address}${path}`);
      await settled(page);
      assert.match(new URL(page.url()).pathname, /^\/portal/, path);
      assert.equal(await isShown(page), false, path);
    }
  }
  const own = scene.visitor('safety-portal');
  own.useToken((await own.login({ username, password: ownPassword })).data.accessToken);
  const billID = Number(found.billID);
  const partyNumber = place.party;
  const connectionNumber = String(found.connectionNumber);
  const refused = [
    () => own.getUsers({ partyNumber }),
    () => own.getBillDocument({ billID, format: 'PDF' }),
    () => own.getPaymentDetails({ billID }),
    () => own.explainBill({ billID }),
    () => own.getStatement({ partyNumber }),
    () => own.getStatementDocument({ partyNumber, format: 'PDF' }),
    () => own.makeNotes({ notes: [{ partyNumber, kind: 'Problem', text: 'not mine' }] }),
  ];
  for (const call of refused) {
    await assert.rejects(call, { code: /NOT_FOUND|FORBIDDEN/ }, call.toString());
  }
  const lists = [
    (await own.getBills({ billID })).data.bills,
    (await own.getBills({ connectionNumber })).data.bills,
    (await own.getBills({ newestFirst: true })).data.bills,
    (await own.getNotes({})).data.notes,
    (await own.getPayments({})).data.payments,
    (await own.getConnections({ connectionNumber })).data.connections,
  ];
  assert.deepEqual(lists, [[], [], [], [], [], []]);
});
