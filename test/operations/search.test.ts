// Search over everything: each kind by its number and its words, for callers that may read it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestClient } from '../support/client.ts';
import { schedule } from '../support/delivery.ts';
import { openStreet } from '../support/metered-month.ts';
import { adminPassword, openScene } from '../support/scene.ts';
import { newMeter, newOffer, subscribe } from '../support/subscriptions.ts';
import { newTerm } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();
scene.clock.begin(Temporal.Instant.from('2026-02-03T06:00:00Z'));
const admin = await scene.workspace('search-one');
const other = await scene.workspace('search-two');
const place = await fill(admin, 'Asma Qureshi');
await fill(other, 'Hidden Qureshi');

/** One of each kind: a party with a phone, its subscription, meter, bill and payment. */
async function fill(client: TestClient, name: string) {
  const contacts = [{ contactType: 'Mobile' as const, contactValue: '+92 300 7654321' }];
  const { headers } = await client.makeUsers({
    userType: 'customer',
    users: [{ name, email: 'asma@example.com', contacts }, { name: '100% O_ne \\ two' }],
  });
  const partyNumber = Number(headers.get('x-party-number')?.split(',')[0]);
  const offer = await newOffer(
    client,
    {
      meteredInputs: [],
      components: [{ name: 'fee', label: 'Fee', type: 'Charge' }],
      holdRules: [],
    } as never,
    { componentRules: [{ component: 'fee', formula: '100' }], usageData: [] } as never,
  );
  const number = await newMeter(client);
  const connection = await subscribe(
    client,
    {
      ...offer,
      connectionNumber: 'ELEC-00000042',
      connectionDate: '01012026',
      projectName: 'Orchard <Row>',
      users: [{ partyNumber }],
    } as never,
    { batchUpload: true },
  );
  const termID = await newTerm(client, {
    serviceCode: offer.serviceCode,
    dueDate: '31/12/2026',
    label: 'January',
  });
  await client.generateBills(schedule(termID));
  await client.postBills(schedule(termID));
  await client.makeCashDesks({ cashDesks: [{ code: 'MAIN', name: 'Main', cashAccountID: 1 }] });
  await client.makePayments({
    payments: [
      {
        ...{ reference: 'BANK-77', partyNumber, amount: 40, paymentMethod: 'Cash' as const },
        cashDesk: 'MAIN',
      },
    ],
  });
  const { bills } = (await client.getBills({ termID })).data;
  return { partyNumber, offer, number, connection, bill: bills[0] };
}

async function found(client: TestClient, text: string, kinds?: ('party' | 'bill' | 'plan')[]) {
  const { data } = await client.search({ text, kinds: kinds ?? null });
  return data.results.map(({ kind, number }) => `${kind} ${number}`);
}

test('each kind is found by its number, and parties by name, mail and phone', async () => {
  const { partyNumber, offer, number, bill } = place;
  const party = `party ${partyNumber}`;
  for (const text of ['asma', 'ASMA QUR', 'qureshi', 'asma@exam', '7654321', '300 765']) {
    assert.deepEqual(await found(admin, text), [party], text);
  }
  assert.ok((await found(admin, String(partyNumber))).includes(party));
  assert.ok((await found(admin, String(partyNumber).slice(0, 4))).includes(party));
  for (const text of ['elec-0000', 'ELEC-00000042', '00042']) {
    assert.deepEqual(await found(admin, text), ['connection ELEC-00000042'], text);
  }
  assert.deepEqual(await found(admin, String(number)), [`meter ${number}`]);
  const billNumber = bill?.billNumber ?? '';
  assert.deepEqual(await found(admin, billNumber.toLowerCase()), [`bill ${billNumber}`]);
  assert.ok((await found(admin, bill?.billRefNo ?? '')).includes(`bill ${billNumber}`));
  assert.deepEqual(await found(admin, 'bank-7'), ['payment BANK-77']);
  assert.deepEqual(await found(admin, 'MAIN-2026'), ['payment BANK-77']);
  assert.deepEqual(await found(admin, offer.tariffCode.toLowerCase(), ['plan']), [
    `plan ${offer.tariffCode}`,
  ]);
  assert.deepEqual(await found(admin, offer.tariffCode, ['bill']), []);
  const { results } = (await admin.search({ text: 'bank-77' })).data;
  assert.deepEqual(results[0], {
    kind: 'payment',
    id: results[0]?.id,
    number: 'BANK-77',
    title: 'Asma Qureshi',
    detail: '03/02/2026 · 40.00 · MAIN-2026-000001',
  });
});

test('characters with a meaning in patterns are searched as they are', async () => {
  const strange = `party ${place.partyNumber + 1}`;
  for (const text of ['100% o', '% O_', 'o_ne', 'ne \\ t', '\\ two']) {
    assert.deepEqual(await found(admin, text), [strange], text);
  }
  const nothing = ['%%%', '___', 'a%a', 'as_a', "' or 1=1 --", '\\', '\u{10ffff}', 'e\\'];
  for (const text of nothing) assert.deepEqual(await found(admin, text), [], text);
});

test('a caller finds the kinds that it may read, and nothing of another workspace', async () => {
  const roles = { Cashier: 'cashier', Customer: 'customer', 'Meter Reader': 'reader' } as const;
  const seen: Record<string, string[]> = {};
  for (const [role, username] of Object.entries(roles)) {
    const login = { username, name: username, password: adminPassword, roles: [role as never] };
    const { partyNumber } = place;
    await admin.makeLogins({ logins: [{ ...login, ...(role === 'Customer' && { partyNumber }) }] });
    const client = scene.visitor('search-one');
    const { data } = await client.login({ username, password: adminPassword });
    client.useToken(data.accessToken);
    const texts = ['asma', 'elec-', String(place.number), place.bill?.billNumber ?? '', 'bank-77'];
    const kinds = new Set<string>();
    for (const text of [...texts, place.offer.tariffCode]) {
      for (const { kind } of (await client.search({ text })).data.results) kinds.add(kind);
    }
    seen[role] = [...kinds].sort();
  }
  assert.deepEqual(seen, {
    Cashier: ['bill', 'party', 'payment'],
    Customer: [],
    'Meter Reader': ['connection', 'meter'],
  });
  assert.deepEqual(await found(admin, 'hidden'), []);
  assert.deepEqual(await found(other, 'asma q'), []);
});

/** What a login finds with payers, without ids. */
async function foundByPayer(workspace: string, username: string, text: string) {
  const client = scene.visitor(workspace);
  const { data } = await client.login({ username, password: adminPassword });
  client.useToken(data.accessToken);
  const { results } = (await client.search({ text, payers: true })).data;
  return results.map(({ id, ...shown }) => shown);
}

const payer = { partyNumber: place.partyNumber, name: 'Asma Qureshi' };

test('a cashier finds the payer by each number, and of hidden kinds nothing else', async () => {
  const foundBy = (text: string) => foundByPayer('search-one', 'cashier', text);
  assert.deepEqual(await foundBy('elec-0000'), [
    { kind: 'connection', number: 'ELEC-00000042', title: payer.name, detail: null, payer },
  ]);
  for (const text of ['7654321', place.bill?.billNumber ?? '', 'bank-77']) {
    const payers = (await foundBy(text)).map((one) => one.payer);
    assert.deepEqual(payers, [payer], text);
  }
  // The project of a subscription is hidden, a meter that is not installed has no payer.
  assert.deepEqual(await found(admin, 'orchard'), ['connection ELEC-00000042']);
  for (const text of ['orchard', String(place.number), place.offer.tariffCode, 'hidden']) {
    assert.deepEqual(await foundBy(text), [], text);
  }
});

test('payers are shown, if asked for, to callers that may read parties or payments', async () => {
  assert.deepEqual(await foundByPayer('search-one', 'customer', 'elec-'), []);
  const [seen] = await foundByPayer('search-one', 'reader', 'elec-');
  assert.equal(seen?.kind, 'connection');
  assert.equal('payer' in (seen ?? {}), false);
  const { results } = (await admin.search({ text: 'elec-', payers: true })).data;
  assert.deepEqual(results[0]?.payer, payer);
  assert.match(results[0]?.detail ?? '', /^\w+ · /);
  const [meter] = (await admin.search({ text: String(place.number), payers: true })).data.results;
  assert.equal(meter?.payer, null);
});

test('a meter leads a cashier to the owner of the subscription that it measures', async () => {
  const street = await openStreet(scene, 'search-street', ['100', '100']);
  const { client, party: partyNumber } = street.place;
  const username = 'cashier@search-street.example';
  const login = { username, name: 'Cashier', password: adminPassword };
  await client.makeLogins({ logins: [{ ...login, roles: ['Cashier'] }] });
  const { name } = (await client.getUsers({ partyNumber })).data.user;
  const number = String(street.houses[1]?.number);
  assert.deepEqual(await foundByPayer('search-street', username, number), [
    { kind: 'meter', number, title: name, detail: null, payer: { partyNumber, name } },
  ]);
});
