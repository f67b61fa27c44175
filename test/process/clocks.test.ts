// The clocks of the program and of the database disagree, and the program's is set back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
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

test('payments while the clock is set back are each booked once, on its dates', async () => {
  const zone = 'Asia/Karachi';
  const midnight = scene.clock.now().toZonedDateTimeISO(zone).startOfDay().add({ days: 1 });
  scene.clock.begin(midnight.subtract({ minutes: 5 }).toInstant());
  const admin = await scene.workspace('clocks-of-cashiers');
  const made = await admin.makeUsers({ userType: 'customer', users: [{ name: 'Payer' }] });
  const partyNumber = Number(made.headers.get('x-party-number'));
  const today = () => scene.clock.now().toZonedDateTimeISO(zone).toPlainDate().toString();
  const expected: string[] = [];
  // Five minutes before midnight, after it, before it again, after it.
  for (const minutes of [0, 10, -12, 4, 20]) {
    scene.clock.advance({ minutes });
    const payment = { partyNumber, amount: 10, paymentMethod: 'Cash' } as const;
    const reference = `CLOCK-${expected.length}`;
    const send = () => admin.makePayments({ payments: [{ ...payment, reference }] });
    await send();
    await send();
    expected.push(today());
  }
  const tenantId = await scene.enter(admin);
  const { rows } = await scene.sql.query(
    `select p.value_date::text as paid, j.posting_date::text as posted
     from payments p join journals j using (tenant_id, journal_id)
     where p.tenant_id = $1 order by p.payment_id`,
    [tenantId],
  );
  assert.deepEqual(
    rows,
    expected.map((day) => ({ paid: day, posted: day })),
  );
  const { user } = (await admin.getUsers({ partyNumber })).data;
  assert.equal(user.walletAccount?.balance, 50);
  await assertChecks(scene, tenantId);
});
