// User names that look alike, and those with letters that cannot be seen.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene();
const admin = await scene.workspace('names');
const visitor = scene.visitor('names');

function make(...usernames: string[]) {
  const logins = usernames.map((username) => ({
    username,
    name: 'N',
    password: adminPassword,
    roles: ['Auditor' as const],
  }));
  return admin.makeLogins({ logins });
}

async function userOf(username: string): Promise<number> {
  return (await visitor.login({ username, password: adminPassword })).data.user.userID;
}

test('a user name with letters that cannot be seen is refused with INVALID_CHARACTER', async () => {
  const unseen = ['\u200b', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u202e', '\u3164', '\ufe0f'];
  for (const char of [...unseen, '\u2800', '\u0085', '\u{e0061}', '\u034f']) {
    const { error } = await refuses(make(`ro${char}ot`), 'INVALID_CHARACTER', {
      field: 'logins[0].username',
      statusCode: 400,
    });
    assert.match(error.message, /^The user name contains /);
  }
});

test('a user name of two alphabets is refused with INVALID_CHARACTER', async () => {
  for (const name of ['аdmin', 'admіn', 'αdmin', 'pаypal', 'rооt', 'ops-օne', 'ops-עוד']) {
    const { error } = await refuses(make(name), 'INVALID_CHARACTER');
    assert.match(error.message, /Use one alphabet\.$/, name);
  }
});

test('names of one alphabet are taken, with digits and marks', async () => {
  const names = [
    'müller',
    'José.Ñandú',
    'Ольга-7',
    'Νίκος',
    'علی رضا',
    'अनिता',
    'たなか漢字ABC',
    '김철수',
  ];
  await make(...names);
  for (const name of names) await userOf(name);
});

test('composed, decomposed, wide and upper-case forms are one login', async () => {
  await make('Zoë');
  const id = await userOf('zoë');
  const forms = ['zoe\u0308', 'ZOE\u0308', 'ZOË', '\uff3aoë', ' zoë '];
  for (const form of forms) {
    await refuses(make(form), 'DUPLICATE', { field: 'logins[0].username', statusCode: 409 });
    if (form.trim() === form) assert.equal(await userOf(form), id, form);
  }
  await refuses(make('new-one', 'x', 'X'), 'DUPLICATE', { field: 'logins[2].username' });
  await make('strasse');
  await refuses(make('straße'), 'DUPLICATE');
  const { data } = await admin.getLogins({ username: 'ZOE\u0308' });
  assert.deepEqual(
    data.logins.map((one) => one.username),
    ['zoë'],
  );
  await admin.updateLogin({ data: { username: 'ZOE\u0308', roles: ['Cashier'] } });
});

test('a name in another alphabet that looks like a taken one is refused as DUPLICATE', async () => {
  await make('cope');
  const { error } = await refuses(make('соре'), 'DUPLICATE', { field: 'logins[0].username' });
  assert.match(error.message, /looks like it/);
  await make('user-۱۲۳');
  await refuses(make('user-123'), 'DUPLICATE');
});

test('guesses at two forms of a name are counted together', async () => {
  const codes: string[] = [];
  for (let i = 0; i < 11; i += 1) {
    const username = ['chloe\u0308', 'CHLOË', 'chloë'][i % 3] ?? '';
    const guess = visitor.login({ username, password: `wrong password ${i}` });
    codes.push(await guess.then(() => 'OK').catch((error) => error.code));
  }
  assert.deepEqual(codes.slice(8), ['LOGIN_FAILED', 'LOGIN_LOCKED', 'LOGIN_LOCKED']);
});
