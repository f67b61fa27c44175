// Reconnecting, closing and transferring subscriptions: debts, deposits and balances.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openChangingOffer } from '../support/changing-offer.ts';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';
import { day, newMeter, newOffer, newParty, shown, subscribe } from '../support/subscriptions.ts';

const scene = await openScene();
const { admin, operator, serviceCode, owner, newOwner, plain, billed } = await openChangingOffer(
  scene,
  'settlement',
);

test('reconnecting with a balance above the limit needs force, which is for managers', async () => {
  const owing = (balance: number) => ({ accounts: [{ title: 'Receivable' as const, balance }] });
  const connectionNumber = await billed(owing(100.01));
  await admin.disconnectConnection({ data: { connectionNumber } });
  await refuses(admin.reconnectConnection({ data: { connectionNumber } }), 'BALANCE_OUTSTANDING', {
    statusCode: 422,
  });
  const forced = { connectionNumber, force: true };
  await refuses(operator.reconnectConnection({ data: forced }), 'PERMISSION_DENIED', {
    field: 'data.force',
    statusCode: 403,
  });
  await admin.updateService({ service: { code: serviceCode, reconnectionLimit: '100' } });
  await refuses(
    operator.reconnectConnection({ data: { connectionNumber } }),
    'BALANCE_OUTSTANDING',
  );
  // A limit is no amount: it may have more decimals and more digits than any.
  for (const reconnectionLimit of [100.01, '100.0105', '9999999999999']) {
    await admin.updateService({ service: { code: serviceCode, reconnectionLimit } });
    await operator.reconnectConnection({ data: { connectionNumber } });
    await operator.disconnectConnection({ data: { connectionNumber } });
  }
  await admin.updateService({ service: { code: serviceCode, reconnectionLimit: null } });
  await admin.reconnectConnection({ data: forced });
  assert.equal((await shown(admin, connectionNumber)).status, 'Active');
});

const balancesOf = async (connectionNumber: string) =>
  (await shown(admin, connectionNumber)).accounts?.map(({ balance }) => balance);

test('closing settles the deposit as requested, and leaves nothing open', async () => {
  const withDeposit = async (receivable: number, deposit: number) => {
    const partyNumber = await newParty(admin);
    const connectionNumber = await billed({
      users: [{ partyNumber }],
      accounts: [
        { title: 'Receivable', balance: receivable },
        { title: 'Security Deposit', balance: deposit },
      ],
    });
    await admin.disconnectConnection({ data: { connectionNumber } });
    return connectionNumber;
  };
  const applied = await withDeposit(30, 100);
  await admin.closeConnection({ data: { connectionNumber: applied } });
  assert.deepEqual(await balancesOf(applied), [0, 70, 0, 0]);
  const tooLittle = await withDeposit(130, 100);
  const data = { connectionNumber: tooLittle, depositHandling: 'ApplyToBalance' as const };
  await refuses(admin.closeConnection({ data }), 'BALANCE_OUTSTANDING', { statusCode: 422 });
  assert.deepEqual(await balancesOf(tooLittle), [130, 0, 100, 0]);
  const refunded = await withDeposit(0, 100);
  await admin.closeConnection({
    data: { connectionNumber: refunded, depositHandling: 'Refund' },
  });
  assert.deepEqual(await balancesOf(refunded), [0, 0, 0, 0]);
  const owing = await withDeposit(5, 100);
  const refund = { connectionNumber: owing, depositHandling: 'Refund' as const };
  await refuses(admin.closeConnection({ data: refund }), 'BALANCE_OUTSTANDING');
  const kept = await withDeposit(0, 100);
  await admin.closeConnection({ data: { connectionNumber: kept, depositHandling: 'Keep' } });
  assert.deepEqual(await balancesOf(kept), [0, 0, 100, 0]);
  const { rows } = await scene.sql.query(
    `select ledger_account_id as account, sum(amount)::integer as amount from journal_lines
     where ledger_account_id = 1 group by 1`,
  );
  assert.deepEqual(rows, [{ account: '1', amount: -100_00 }]);
  await refuses(
    operator.closeConnection({ data: { connectionNumber: kept } }),
    'PERMISSION_DENIED',
  );
});

test('a Pending subscription is closed with the deposit that it never paid', async () => {
  const secured = await newOffer(admin, { requireDeposit: 1, securityDeposit: 80 });
  const connectionNumber = await subscribe(admin, { ...plain, ...secured });
  await admin.closeConnection({ data: { connectionNumber } });
  assert.deepEqual(await balancesOf(connectionNumber), [0, 0, 0, 0]);
});

test('close frees the meters', async () => {
  const meter = await newMeter(admin);
  const connectionNumber = await billed({ meters: [meter] });
  await admin.disconnectConnection({ data: { connectionNumber, effectiveDate: day(-9) } });
  await admin.closeConnection({ data: { connectionNumber, effectiveDate: day(-2) } });
  const { meters } = (await admin.getMeters({ number: meter })).data.meters;
  assert.equal(meters[0]?.status, 'InActive');
  await subscribe(admin, { ...plain, meters: [{ number: meter }] });
});

test('a transfer leaves the debts with the old owner, or moves them', async () => {
  const from = await newParty(admin, 'From');
  const to = await newParty(admin, 'To');
  const accounts = [
    { title: 'Receivable' as const, balance: 40 },
    { title: 'Security Deposit' as const, balance: 25 },
  ];
  const users = [
    { partyNumber: from, role: 'Owner' as const },
    { partyNumber: owner, role: 'Payer' as const },
  ];
  const owed = async (partyNumber: number) =>
    (await admin.getUsers({ partyNumber })).data.user.outstandingAccount.balance;
  const stays = await billed({ users, accounts });
  const moves = await billed({ users, accounts });
  const data = { transferDate: day(-20), toPartyNumber: to, reason: 'Sold' };
  await admin.transferConnection({ data: { connectionNumber: stays, ...data } });
  assert.deepEqual(await balancesOf(stays), [0, 0, 0, 0]);
  assert.deepEqual([await owed(from), await owed(to)], [80, 0]);
  await admin.transferConnection({
    data: {
      connectionNumber: moves,
      ...data,
      balanceHandling: 'MoveToNew',
      connectionGroupLabel: 'Moved',
    },
  });
  assert.deepEqual(await balancesOf(moves), [40, 0, 25, 0]);
  assert.deepEqual([await owed(from), await owed(to)], [40, 40]);
  const one = await shown(admin, moves);
  assert.deepEqual([one.partyName, one.connectionGroupLabel], ['To', 'Moved']);
  assert.deepEqual(
    one.users?.map((user) => [user.partyName, user.role, user.fromDate, user.toDate]),
    [
      ['From', 'Owner', day(-100), day(-21)],
      ['Old Owner', 'Payer', day(-100), day(-21)],
      ['To', 'Owner', day(-20), null],
    ],
  );
  const [transfer] = one.transfers ?? [];
  const { createdAt, transferID, ...facts } = transfer ?? {};
  assert.ok(createdAt && transferID);
  assert.deepEqual(facts, {
    transferDate: day(-20),
    fromPartyID: one.users?.[0]?.partyID,
    fromPartyName: 'From',
    toPartyID: one.partyID,
    toPartyName: 'To',
    readings: [],
    balanceHandling: 'MoveToNew',
    amountMoved: 40,
    reason: 'Sold',
    createdBy: 'admin@settlement.example',
  });
  const { user } = (await admin.getUsers({ partyNumber: to })).data;
  assert.deepEqual(
    user.subscriptions.map((s) => s.connectionNumber).toSorted(),
    [stays, moves].toSorted(),
  );
  await refuses(
    admin.updateUser({ user: { partyNumber: from, archiveStatus: 1 } }),
    'PARTY_HAS_BALANCE',
  );
});

test('a transfer has its own refusals', async () => {
  const connectionNumber = await billed();
  const gone = await newParty(admin);
  await admin.updateUser({ user: { partyNumber: gone, archiveStatus: 1 } });
  const wrong: [object, string, string][] = [
    [{}, 'REQUIRED_FIELD', 'data.toPartyID'],
    [{ toPartyNumber: 9 }, 'PARTY_NOT_FOUND', 'data.toPartyNumber'],
    [{ toPartyID: 99_999 }, 'PARTY_NOT_FOUND', 'data.toPartyID'],
    [{ toPartyNumber: gone }, 'PARTY_ARCHIVED', 'data.toPartyNumber'],
    [{ toPartyNumber: owner }, 'DUPLICATE', 'data.toPartyNumber'],
    [{ toPartyID: 1, toPartyNumber: newOwner }, 'PARTY_KEY_MISMATCH', 'data.toPartyNumber'],
    [{ toPartyNumber: newOwner, transferDate: day(1) }, 'DATE_IN_FUTURE', 'data.transferDate'],
    [{ toPartyNumber: newOwner, balanceHandling: 'Halve' }, 'INVALID_ENUM', 'data.balanceHandling'],
  ];
  for (const [fields, code, field] of wrong) {
    const data = { connectionNumber, ...fields } as { connectionNumber: string };
    await refuses(admin.transferConnection({ data }), code as 'DUPLICATE', { field });
  }
  await refuses(
    operator.transferConnection({ data: { connectionNumber, toPartyNumber: newOwner } }),
    'PERMISSION_DENIED',
  );
});

test('every balance is the sum of its entries, and the ledger balances', async () => {
  const { rows } = await scene.sql.query(
    `select
       (select sum(amount) from journal_lines)::integer as ledger,
       (select count(*) from (
          select subscription_id, party_id,
            coalesce(sum(amount) filter (where ledger_account_id = 2), 0) as receivable,
            coalesce(-sum(amount) filter (where ledger_account_id = 4), 0) as deposit
          from subledger_entries where subscription_id is not null group by 1, 2
        ) e full join subscription_balances b using (subscription_id, party_id)
        where b.receivable is distinct from e.receivable
          or b.deposit is distinct from e.deposit)::integer as wrong,
       (select count(*) from party_wallets w where balance <> coalesce((
          select -sum(amount) from subledger_entries e
          where e.party_id = w.party_id and ledger_account_id = 3), 0))::integer as wallets`,
  );
  assert.deepEqual(rows[0], { ledger: 0, wrong: 0, wallets: 0 });
});

test('a deposit is paid back from cash, whatever account the context names for it', async () => {
  for (const [cashAccountID, paidFrom] of [
    [5, 5],
    [2, 1],
    [4, 1],
    [9_999, 1],
  ] as const) {
    // Contexts of earlier days may name any.
    await scene.sql.query(
      `update pricing_contexts set cash_account_id = ${cashAccountID}
       where code = '${serviceCode}'`,
    );
    const accounts = [{ title: 'Security Deposit' as const, balance: 100 }];
    const connectionNumber = await billed({ accounts });
    await admin.disconnectConnection({ data: { connectionNumber } });
    await admin.closeConnection({ data: { connectionNumber, depositHandling: 'Refund' } });
    const { rows } = await scene.sql.query(
      `select l.ledger_account_id::int as account, l.amount::int as amount
       from journal_lines l join journals j using (tenant_id, journal_id)
       where j.source_type = 'Refund' and l.amount < 0
       order by j.journal_id desc limit 1`,
    );
    assert.deepEqual(rows, [{ account: paidFrom, amount: -100_00 }]);
  }
  await admin.updateService({ service: { code: serviceCode, cashAccountID: 1 } });
});
