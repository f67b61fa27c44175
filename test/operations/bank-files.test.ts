// Bank files: which lines are posted by themselves, what is left for a clerk, and that no line is
// ever posted twice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorCode } from '../../src/base/errors.ts';
import { billReference } from '../../src/domain/bills/reference.ts';
import { camt053, mt940, transfer } from '../bank-files/samples.ts';
import { csvOf, openBank } from '../support/bank.ts';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

test('lines that name a bill, a subscription or a party are posted; the rest waits in Suspense', async () => {
  const bank = await openBank(scene, 'bank-names');
  const number = await bank.connectOld();
  const second = await bank.connectOld();
  const [bill] = await bank.bill({ [number]: 300, [second]: 80 });
  const billID = bill?.billID ?? 0;
  const { message, bankFileID } = await bank.send([
    { amount: 100, reference: `pay ${billReference(billID)}`, payer: 'Whoever' },
    { amount: 50, text: `For ${bill?.billNumber} with thanks` },
    { amount: 20, text: `conn ${second.toLowerCase()}` },
    { amount: 10, reference: String(bank.party), payer: 'KHAN A' },
    { amount: 5, text: 'no hint at all', payer: 'Unknown Person' },
    { amount: -3, text: 'Account fee' },
  ]);
  assert.equal(message, '4 lines posted, 0 suggested, 1 unmatched, 0 duplicate, 1 ignored');
  // 300 - 100 - 50 - 10 (the oldest of the party), 80 - 20
  assert.deepEqual(await bank.left(), [140, 60]);
  assert.deepEqual(await Promise.all(['CASH', 'SUSPENSE'].map(bank.balance)), [185, -5]);
  const lines = await bank.lines({ bankFileID });
  assert.deepEqual(
    lines.map((line) => [line.status, line.amount, line.paymentID !== null]),
    [
      ['Posted', 100, true],
      ['Posted', 50, true],
      ['Posted', 20, true],
      ['Posted', 10, true],
      ['Unmatched', 5, false],
      ['Ignored', -3, false],
    ],
  );
  const { data } = await bank.client.getPayments({ paymentID: lines[0]?.paymentID ?? 0 });
  const [payment] = data.payments;
  assert.equal(payment?.paymentDate, '17/08/2026');
  assert.equal(payment?.paymentMethod, 'Bank');
  assert.match(payment?.reference ?? '', /^BANK-[0-9A-F]{32}$/);
  await assertChecks(scene, bank.tenantId);
});

test('the same file brings nothing again; an overlapping one only what is new', async () => {
  const bank = await openBank(scene, 'bank-again');
  const number = await bank.connectOld();
  const row = { reference: number, payer: 'A. Khan' };
  const first = [
    { ...row, amount: 50 },
    { ...row, amount: 50 },
    { ...row, amount: 60, id: 'TX-1' },
  ];
  const sent = await bank.send(first);
  assert.equal(sent.message, '3 lines posted, 0 suggested, 0 unmatched, 0 duplicate');
  // Two identical lines of 50 are two payments.
  assert.equal(await bank.wallet(), 160);
  const again = await bank.send(first);
  assert.equal(
    again.message,
    'The file was imported before: 3 lines posted, 0 suggested, 0 unmatched, 0 duplicate',
  );
  assert.equal(again.bankFileID, sent.bankFileID);
  // The bank words its line anew, with the same id of its own.
  const later = [
    { ...row, amount: 60, id: 'TX-1', text: 'reworded' },
    { ...row, amount: 50 },
    { ...row, amount: 50 },
    { ...row, amount: 50 },
  ];
  const { message, bankFileID } = await bank.send(later);
  assert.equal(message, '1 line posted, 0 suggested, 0 unmatched, 3 duplicate');
  assert.equal(await bank.wallet(), 210);
  const { data } = await bank.client.getBankFiles({ bankFileID });
  assert.deepEqual([data.bankFiles[0]?.lines, data.bankFiles[0]?.duplicates], [4, 3]);
  // A line that was reversed is not posted again, thirty days later or ever.
  const [line] = await bank.lines({ bankFileID: sent.bankFileID, status: 'Posted' });
  const paymentID = line?.paymentID ?? 0;
  await bank.client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  scene.clock.advance({ hours: 30 * 24 });
  const later30 = await scene.loginAs(bank.client, ['Administrator']);
  const rest = csvOf([
    { ...row, amount: 60, id: 'TX-1' },
    { ...row, amount: 50 },
  ]);
  const late = await later30.importBankFile({
    ...{ bankAccountID: 1, format: 'CSV', mappingName: 'usual' },
    contentBase64: Buffer.from(rest).toString('base64'),
  });
  assert.equal(late.message, '0 lines posted, 0 suggested, 0 unmatched, 2 duplicate');
  const { data: party } = await later30.getUsers({ partyNumber: bank.party });
  assert.equal(party.user.walletAccount?.balance, 160);
  await assertChecks(scene, bank.tenantId);
});

test('a clerk matches a line later: Suspense is settled, the payer is remembered', async () => {
  const bank = await openBank(scene, 'bank-clerk');
  const number = await bank.connectOld();
  const [bill] = await bank.bill({ [number]: 120 });
  await bank.send([{ amount: 120, payer: 'Uncle Bob', account: 'XX99BOB' }]);
  const [open] = await bank.lines({ status: 'Unmatched' });
  const bankLineID = open?.bankLineID ?? 0;
  assert.equal(await bank.balance('SUSPENSE'), -120);
  const { matchBankLine } = bank.client;
  const withoutPayer = matchBankLine({ data: { bankLineID } });
  await refuses(withoutPayer, 'REQUIRED_FIELD', { statusCode: 400 });
  const allocations = [{ billID: bill?.billID ?? 0, amount: 120.01 }];
  const payer = { connectionNumber: number };
  await refuses(matchBankLine({ data: { bankLineID, payer, allocations } }), 'OVER_ALLOCATED', {
    statusCode: 422,
  });
  const done = await matchBankLine({ data: { bankLineID, payer, reason: 'He called' } });
  assert.match(done.message, /^Bank line \d+ is posted as payment \d+$/);
  assert.deepEqual(await Promise.all(['CASH', 'SUSPENSE'].map(bank.balance)), [120, 0]);
  assert.deepEqual(await bank.left(), [0]);
  const again = matchBankLine({ data: { bankLineID, payer } });
  await refuses(again, 'INVALID_STATE', { statusCode: 409 });
  // A reversal takes the money out of the bank, not back into Suspense.
  const paymentID = Number(done.headers.get('x-resource-id'));
  await bank.client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  assert.deepEqual(await Promise.all(['CASH', 'SUSPENSE'].map(bank.balance)), [0, 0]);
  const { message } = await bank.send([
    { amount: 7, payer: 'Another Person', account: 'XX99 BOB' },
    { amount: 8, payer: 'BOB UNCLE' },
  ]);
  assert.equal(message, '0 lines posted, 2 suggested, 0 unmatched, 0 duplicate');
  const suggestions = (await bank.lines({ status: 'Suggested' })).map((line) => line.suggestions);
  const about = { partyNumber: bank.party, connectionNumber: number, billID: null };
  assert.deepEqual(suggestions, [
    [
      {
        ...{ ...about, amount: 7 },
        reason: 'Money of the same bank account was matched to this party before',
      },
    ],
    [{ ...about, amount: 8, reason: 'Money of the same payer was matched to this party before' }],
  ]);
  await assertChecks(scene, bank.tenantId);
});

test('an ignored line leaves Suspense; matching it later takes the money in again', async () => {
  const bank = await openBank(scene, 'bank-ignored');
  await bank.send([{ amount: 40, text: 'Loan of the owner' }]);
  const [line] = await bank.lines({ status: 'Unmatched' });
  const bankLineID = line?.bankLineID ?? 0;
  const { matchBankLine } = bank.client;
  await matchBankLine({ data: { bankLineID, ignore: true, reason: 'A loan' } });
  assert.deepEqual(await Promise.all(['CASH', 'SUSPENSE'].map(bank.balance)), [0, 0]);
  await matchBankLine({ data: { bankLineID, partyNumber: bank.party } });
  assert.deepEqual(await Promise.all(['CASH', 'SUSPENSE'].map(bank.balance)), [40, 0]);
  assert.equal(await bank.wallet(), 40);
  const missing = matchBankLine({ data: { bankLineID: 99, ignore: true } });
  await refuses(missing, 'BANK_LINE_NOT_FOUND', { statusCode: 404, field: 'data.bankLineID' });
  await assertChecks(scene, bank.tenantId);
});

test('an open bill of the same amount and a similar name are suggested, not posted', async () => {
  const bank = await openBank(scene, 'bank-similar');
  const partyNumber = await newParty(bank.client, 'Dr. Maria Gonzalez-Ruiz');
  const users = [{ partyNumber, connectionGroupLabel: 'House' }];
  const number = await bank.connectOld({ users });
  const [bill] = await bank.bill({ [number]: 77.7 });
  const { message } = await bank.send([
    { amount: 77.7, payer: 'RUIZ MARIA GONZALEZ' },
    { amount: 77.71, payer: 'RUIZ MARIA GONZALEZ' },
    { amount: 77.7, payer: 'Mario Gonzales' },
  ]);
  assert.equal(message, '0 lines posted, 1 suggested, 2 unmatched, 0 duplicate');
  const [line] = await bank.lines({ status: 'Suggested' });
  assert.deepEqual(line?.suggestions, [
    {
      ...{ partyNumber, connectionNumber: number, billID: bill?.billID, amount: 77.7 },
      reason: 'The amount of an open bill, and the name of the payer',
    },
  ]);
  await assertChecks(scene, bank.tenantId);
});

test('a line for an archived party, a closed subscription or two parties goes to the work list', async () => {
  const bank = await openBank(scene, 'bank-obstacles');
  const closed = await bank.connectOld();
  await bank.client.disconnectConnection({
    data: { connectionNumber: closed, effectiveDate: '01/07/2026' },
  });
  await bank.client.closeConnection({ data: { connectionNumber: closed } });
  const archived = await newParty(bank.client, 'Gone Away');
  const { data } = await bank.client.getUsers({ partyNumber: archived });
  await bank.client.updateUser({
    user: { ...data.user, partyNumber: archived, archiveStatus: 1 } as never,
  });
  const other = await newParty(bank.client, 'Other');
  const users = [{ partyNumber: other, connectionGroupLabel: 'House' }];
  const [mine, theirs] = [await bank.connectOld(), await bank.connectOld({ users })];
  const { message } = await bank.send([
    { amount: 1, reference: closed },
    { amount: 2, reference: String(archived), payer: 'Gone Away' },
    { amount: 3, text: `${mine} and ${theirs}` },
  ]);
  assert.equal(message, '0 lines posted, 3 suggested, 0 unmatched, 0 duplicate');
  const lines = await bank.lines({ status: 'Suggested' });
  assert.deepEqual(
    lines.map((line) => line.reason),
    [`Subscription ${closed} is closed`, 'The party is archived', 'The line names several parties'],
  );
  assert.equal(lines[2]?.suggestions?.length, 2);
  assert.equal(await bank.balance('SUSPENSE'), -6);
  await assertChecks(scene, bank.tenantId);
});

test('camt and MT940 files are posted; their balances are shown as proven', async () => {
  const bank = await openBank(scene, 'bank-formats');
  const number = await bank.connectOld();
  const currency = 'PKR';
  const details = transfer('08', { payer: 'A. Khan', text: `pays ${number}` });
  const entries = [{ amount: '25.00', details }];
  const camt = camt053('08', [{ currency, opening: '10.00', closing: '35.00', entries }]);
  const sent = await bank.send(camt, { format: 'CAMT', mappingName: null });
  assert.equal(sent.message, '1 line posted, 0 suggested, 0 unmatched, 0 duplicate');
  const { data } = await bank.client.getBankFiles({ bankFileID: sent.bankFileID });
  const statement = { statementID: 'S1', account: 'XX11BANK01', lines: 1, isProven: 1 };
  assert.deepEqual(data.bankFiles[0]?.statements, [
    { ...statement, openingBalance: 10, closingBalance: 35 },
  ]);
  const lines = [
    `:61:260817C5,NTRF${number}`,
    ':61:260817RC25,NTRFNONREF',
    ':61:260817RD2,NTRFNONREF',
    ':61:260817D2,NTRFNONREF',
  ];
  const text = mt940(lines, { opening: '35,', closing: '15,' }).replaceAll('EUR', currency);
  const { message } = await bank.send(text, { format: 'MT940', mappingName: null });
  assert.equal(message, '1 line posted, 0 suggested, 1 unmatched, 0 duplicate, 2 ignored');
  const [back] = await bank.lines({ status: 'Unmatched' });
  assert.equal(
    back?.reason,
    'The bank took money back: reverse the payment, then ignore this line',
  );
  const payer = { partyNumber: bank.party };
  const taken = bank.client.matchBankLine({ data: { bankLineID: back?.bankLineID ?? 0, payer } });
  await refuses(taken, 'INVALID_STATE', { statusCode: 409 });
  assert.deepEqual(await Promise.all(['CASH', 'SUSPENSE'].map(bank.balance)), [30, 0]);
  await assertChecks(scene, bank.tenantId);
});

test('a dry run counts and stores nothing; a wrong file is refused whole', async () => {
  const bank = await openBank(scene, 'bank-dry');
  const number = await bank.connectOld();
  const rows = [{ amount: 5, reference: number }, { amount: 6 }];
  const dry = await bank.send(rows, { dryRun: true });
  assert.equal(
    dry.message,
    'Nothing is stored: 1 line posted, 0 suggested, 1 unmatched, 0 duplicate',
  );
  const wrong: [Parameters<typeof bank.send>, ErrorCode, number][] = [
    [[[...rows, { amount: 'x' }]], 'INVALID_FORMAT', 400],
    [[[{ amount: 5, date: '31/12/2030' }]], 'DATE_IN_FUTURE', 422],
    [[rows, { bankAccountID: 9 }], 'BANK_ACCOUNT_NOT_FOUND', 404],
    [[rows, { mappingName: 'none' }], 'MAPPING_NOT_FOUND', 404],
    [[rows, { mappingName: null }], 'REQUIRED_FIELD', 400],
    [[rows, { contentBase64: null }], 'REQUIRED_FIELD', 400],
    [
      [camt053('08', [{ opening: '1', closing: '2', entries: [] }]), { format: 'CAMT' }],
      'CURRENCY_MISMATCH',
      422,
    ],
    [
      [
        camt053('08', [{ currency: 'PKR', opening: '1', closing: '2', entries: [] }]),
        { format: 'CAMT' },
      ],
      'STATEMENT_NOT_PROVEN',
      422,
    ],
  ];
  for (const [sent, code, statusCode] of wrong) {
    await refuses(bank.send(...sent), code, { statusCode });
  }
  assert.deepEqual(await bank.lines(), []);
  assert.deepEqual((await bank.client.getBankFiles({})).data.bankFiles, []);
  assert.equal(await bank.wallet(), 0);
});

test('mappings are saved by name, replaced, and refused if they contradict themselves', async () => {
  const { client } = await openBank(scene, 'bank-mappings');
  const columns = { date: 'D', amount: 'A', dateFormat: 'YYYY-MM-DD', decimal: ',' } as const;
  await client.makeMappings({ mappings: [{ name: 'usual', columns }] });
  const { data } = await client.getMappings({ name: 'usual' });
  assert.deepEqual(data.mappings[0]?.columns, columns);
  const bad = [
    { ...columns, amount: null },
    { ...columns, debit: 'X' },
    { ...columns, dateFormat: 'YYYY-MM' },
    { ...columns, amount: '2' },
  ];
  for (const one of bad) {
    const made = client.makeMappings({ mappings: [{ name: 'bad', columns: one }] });
    await refuses(made, 'INVALID_FORMAT', { statusCode: 400 });
  }
});
