// The clocks of the program and of the database disagree, and the program's is set back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openScene } from '../support/scene.ts';

const scene = await openScene();

test('with clocks ten minutes apart, and one set back, ts grows and sessions stay good', async () => {
  const admin = await scene.workspace('clocks');
  const made = await admin.makeUsers({ userType: 'customer', users: [{ name: 'Watched' }] });
  const partyNumber = Number(made.headers.get('x-party-number'));
  let last = (await admin.getUsers({ partyNumber })).data.user.ts;
  for (const minutes of [0, 10, -20, -5, 0, 30, -15]) {
    scene.clock.advance({ minutes });
    await admin.updateUser({ user: { partyNumber, name: `Watched at ${minutes}`, ts: last } });
    const { ts } = (await admin.getUsers({ partyNumber })).data.user;
    assert.ok(ts > last, `${ts} follows ${last}`);
    last = ts;
  }
});

test('an answer is kept for its 24 hours by the clock that stored it', async () => {
  const admin = await scene.workspace('keeping');
  const send = () =>
    admin.makeUsers(
      { userType: 'customer', users: [{ name: 'Once' }] },
      { idempotencyKey: 'the same' },
    );
  const first = await send();
  scene.clock.advance({ minutes: -10 });
  const replayed = await send();
  assert.equal(replayed.headers.get('idempotency-replayed'), 'true');
  assert.equal(replayed.headers.get('x-party-number'), first.headers.get('x-party-number'));
  assert.equal((await admin.listUsers()).data.users.length, 1);
});
