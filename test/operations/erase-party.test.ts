// The personal data of a former customer is erased: it is looked for in every table afterwards.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, subscribe } from '../support/subscriptions.ts';
import { tablesOf } from '../support/two-workspaces.ts';

const scene = await openScene();
const admin = await scene.workspace('erasure');
const tenantId = await scene.enter(admin);
const password = 'correct horse battery';
const mark = 'Zebrowski';

async function newCustomer(name: string) {
  const facts = {
    email: `${name.toLowerCase()}@example.com`,
    identityNumber: `${name}-ID`,
    address: { street: `${name} Street` },
    contacts: [{ contactType: 'Mobile' as const, contactValue: '+92 300 1112223' }],
  };
  const made = await admin.makeUsers({ userType: 'customer', users: [{ name, ...facts }] });
  const partyNumber = Number(made.headers.get('x-party-number'));
  const connectionGroups = [{ connectionGroupLabel: `House ${name}` }];
  await admin.updateUser({ user: { partyNumber, connectionGroups } });
  return partyNumber;
}

const archive = (partyNumber: number) =>
  admin.updateUser({ user: { partyNumber, archiveStatus: 1 } });
const erase = (partyNumber: number, reason = 'Request of 12/11/2026') =>
  admin.eraseParty({ user: { partyNumber, reason } });

async function tablesWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const table of await tablesOf(scene.sql)) {
    const { rows } = await scene.sql.query(
      `select from ${table} t where tenant_id = $1 and t::text ilike $2 limit 1`,
      [tenantId, `%${text}%`],
    );
    if (rows.length > 0) found.push(table);
  }
  return found;
}

test('erasing a party clears its data everywhere but in the audit trail, and search finds nothing', async () => {
  const partyNumber = await newCustomer(mark);
  const login = { username: `${mark}-login`, name: mark, password, email: 'z@zebrowski.example' };
  await admin.makeLogins({ logins: [{ ...login, partyNumber, roles: ['Customer'] }] });
  await admin.makeNotes({ notes: [{ partyNumber, kind: 'Note', text: `${mark} calls back` }] });
  await archive(partyNumber);
  assert.ok((await tablesWith(mark)).includes('parties'));
  const reply = await erase(partyNumber);
  assert.match(
    reply.message,
    /^Party \d+ erased\. Kept as accounting records: 0 bills, 0 documents, .* go after 10 years; /,
  );
  assert.deepEqual(reply.data, {});
  assert.deepEqual(await tablesWith(mark), ['audit_entries']);
  const metaData = { search: mark, includeArchived: true };
  assert.deepEqual((await admin.listUsers({ metaData } as never)).data.users, []);
  const { user } = (await admin.getUsers({ partyNumber })).data;
  assert.equal(user.name, `Erased party ${partyNumber}`);
  const { entries } = (await admin.getAudit({ subject: 'party' } as never)).data as never as {
    entries: { operation: string; before: unknown; after: Record<string, unknown> }[];
  };
  const [entry] = entries;
  assert.equal(entry?.before, null);
  assert.equal(entry?.after.reason, 'Request of 12/11/2026');
  assert.deepEqual(entry?.after.erased, {
    accounts: 1,
    logins: 1,
    notes: 1,
    notices: 0,
    payers: 0,
  });
});

test('an erased party is neither erased again, nor changed or restored', async () => {
  const partyNumber = await newCustomer('Again');
  await archive(partyNumber);
  await erase(partyNumber);
  await refuses(erase(partyNumber), 'INVALID_STATE', { field: 'user.partyNumber' });
  for (const change of [{ archiveStatus: 0 as const }, { name: 'Back' }]) {
    const updated = admin.updateUser({ user: { partyNumber, ...change } });
    await refuses(updated, 'PARTY_ARCHIVED', { field: 'user.archiveStatus' });
  }
});

test('a party that is not archived, has a subscription or owes is refused, and keeps its data', async () => {
  const offer = await newOffer(admin);
  const partyNumber = await newCustomer('Keeper');
  await refuses(erase(partyNumber), 'INVALID_STATE', { field: 'user.partyNumber' });
  const users = [{ partyNumber, connectionGroupLabel: 'House Keeper' }];
  const connection = { ...offer, connectionDate: '01012020', users };
  const active = { ...connection, status: 'Active' as const };
  await subscribe(admin, active, { batchUpload: true });
  await refuses(erase(partyNumber), 'PARTY_HAS_ACTIVE_SUBSCRIPTIONS');
  const debtor = await newCustomer('Debtor');
  const accounts = [{ title: 'Receivable' as const, balance: 12 }];
  const closed = { ...connection, status: 'Closed' as const, accounts };
  const owed = [{ partyNumber: debtor, connectionGroupLabel: 'House Debtor' }];
  await subscribe(admin, { ...closed, users: owed }, { batchUpload: true });
  await refuses(erase(debtor), 'PARTY_HAS_BALANCE');
  for (const number of [partyNumber, debtor]) {
    assert.doesNotMatch((await admin.getUsers({ partyNumber: number })).data.user.name, /Erased/);
  }
});

test('an unknown party, keys of two parties and an old ts are refused', async () => {
  const [one, two] = [await newCustomer('One'), await newCustomer('Two')];
  await refuses(erase(999_999), 'PARTY_NOT_FOUND');
  const { user } = (await admin.getUsers({ partyNumber: one })).data;
  const both = { partyID: user.partyID, partyNumber: two, reason: 'x' };
  await refuses(admin.eraseParty({ user: both }), 'PARTY_KEY_MISMATCH');
  const stale = { partyNumber: one, reason: 'x', ts: 1 };
  await refuses(admin.eraseParty({ user: stale }), 'STALE_OBJECT');
  await refuses(admin.eraseParty({ user: { reason: 'x' } }), 'REQUIRED_FIELD');
});
