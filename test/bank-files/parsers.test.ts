// What bank files bring: lines and proven balances, or an error with its place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.ts';
import { amountOf, readBankCsv } from '../../src/domain/bank-files/bank-csv.ts';
import { readCamt } from '../../src/domain/bank-files/camt.ts';
import type { MappingColumns } from '../../src/domain/bank-files/mapping.ts';
import { readMt940 } from '../../src/domain/bank-files/mt940.ts';
import type { Piece, Statement, StatementLine } from '../../src/domain/bank-files/statement.ts';
import {
  type CamtVersion,
  camt053,
  camt054,
  camtFile,
  mt940,
  type SampleStatement,
  transfer,
} from './samples.ts';

const money = { currency: 'EUR', decimals: 2 };
const usual = { encoding: null, money };

/** In small pieces, so that every element is cut somewhere. */
async function* pieces(content: string | Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(content);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all(
  read: AsyncIterable<Piece>,
): Promise<{ lines: StatementLine[]; statements: Statement[] }> {
  const lines: StatementLine[] = [];
  const statements: Statement[] = [];
  for await (const piece of read) {
    lines.push(...piece.lines);
    statements.push(...piece.statements);
  }
  return { lines, statements };
}

async function refusal(read: AsyncIterable<Piece>): Promise<string> {
  const error = await all(read).then(
    () => assert.fail('the file was read'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof AppError, String(error));
  return `${error.code} ${error.message}`;
}

for (const version of ['02', '08', '13'] as CamtVersion[]) {
  test(`camt.053.001.${version} brings the payer, the references and the balances`, async () => {
    const details = transfer(version, {
      payer: 'Asha Rao',
      text: 'Bill of July',
      reference: '10000000014',
    });
    const file = camt053(version, [
      { opening: '100.00', closing: '138.50', entries: [{ amount: '38.5', details }] },
    ]);
    const { lines, statements } = await all(readCamt(pieces(file), usual));
    assert.deepEqual(lines, [
      {
        fileLine: 3,
        account: 'XX11BANK01',
        date: '2026-08-17',
        amount: 3850,
        isReversal: false,
        payer: 'Asha Rao',
        payerAccount: 'XX99PAYER1',
        text: 'Bill of July',
        reference: '10000000014',
        bankId: null,
      },
    ]);
    const balances = { opening: '10000', closing: '13850' };
    const about = { statementId: 'S1', account: 'XX11BANK01', lines: 1 };
    assert.deepEqual(statements, [{ ...about, ...balances }]);
  });
}

test('a batch entry becomes a line for each transaction; without amounts it stays one', async () => {
  const both = ['12.00', '8.00'].map((amount) =>
    transfer('08', { payer: `P${amount}`, reference: 'R', amount }),
  );
  const silent = ['A', 'B'].map((payer) => transfer('08', { payer }));
  const file = camt053('08', [
    {
      opening: '0',
      closing: '50.00',
      entries: [
        { amount: '20.00', details: both.join(''), extra: '<AcctSvcrRef>B7</AcctSvcrRef>' },
        { amount: '30.00', details: silent.join('') },
      ],
    },
  ]);
  const { lines } = await all(readCamt(pieces(file), usual));
  assert.deepEqual(
    lines.map(({ amount, payer, bankId }) => [amount, payer, bankId]),
    [
      [1200, 'P12.00', 'B7/1'],
      [800, 'P8.00', 'B7/2'],
      [3000, 'B', null],
    ],
  );
});

test('the transactions of a batch must add up to its entry', async () => {
  const details = ['12.00', '7.00']
    .map((amount) => transfer('08', { payer: 'P', amount }))
    .join('');
  const entries = [{ amount: '20.00', details }];
  const file = camt053('08', [{ opening: '0', closing: '20.00', entries }]);
  assert.equal(
    await refusal(readCamt(pieces(file), usual)),
    'INVALID_FORMAT Line 3: the transactions of the entry do not add up to its amount',
  );
});

test('debits, reversals and several statements keep their signs; pending entries are left out', async () => {
  const extra = '<RvslInd>true</RvslInd>';
  const pending = ['4.00', '5.00'].map((amount) => transfer('08', { payer: 'P', amount })).join('');
  const statements: SampleStatement[] = [
    { opening: '-5.00', closing: '3.00', entries: [{ amount: '8.00' }] },
    {
      iban: 'XX22BANK02',
      opening: '10.00',
      closing: '4.00',
      entries: [
        { amount: '5.00', side: 'DBIT' },
        { amount: '3.00', side: 'DBIT', extra },
        { amount: '2.00', side: 'CRDT', extra },
        { amount: '99.00', status: 'PDNG' },
        { amount: '9.00', status: 'PDNG', details: pending },
      ],
    },
  ];
  const { lines } = await all(readCamt(pieces(camt053('08', statements)), usual));
  assert.deepEqual(
    lines.map(({ account, amount, isReversal }) => [account, amount, isReversal]),
    [
      ['XX11BANK01', 800, false],
      ['XX22BANK02', -500, false],
      ['XX22BANK02', -300, true],
      ['XX22BANK02', 200, true],
    ],
  );
});

test('a statement that does not add up is refused with its id and the difference', async () => {
  const entries = [{ amount: '8.00' }];
  const file = camt053('08', [{ id: 'S-77', opening: '1.00', closing: '9.10', entries }]);
  assert.match(
    await refusal(readCamt(pieces(file), usual)),
    /^STATEMENT_NOT_PROVEN Statement S-77: .* the difference is 0\.10\./,
  );
  const open = camt053('08', [{ id: 'S-78', opening: '1.00', entries }]);
  assert.equal(
    await refusal(readCamt(pieces(open), usual)),
    'INVALID_FORMAT Line 3: statement S-78 lacks a closing balance',
  );
});

test('camt.054 has no balances and is read without them', async () => {
  const { lines, statements } = await all(
    readCamt(pieces(camt054('02', [{ amount: '7.00' }])), usual),
  );
  assert.equal(lines[0]?.amount, 700);
  assert.deepEqual([statements[0]?.opening, statements[0]?.closing], [null, null]);
});

test('another currency, another message and another version are refused', async () => {
  const entries = [{ amount: '7.00' }];
  const dollars = camt053('08', [{ currency: 'USD', opening: '0', closing: '7.00', entries }]);
  assert.equal(
    await refusal(readCamt(pieces(dollars), usual)),
    'CURRENCY_MISMATCH Line 3: the amount is in USD; the workspace keeps EUR only',
  );
  for (const [message, version] of [
    ['052', '08'],
    ['053', '03'],
  ] as const) {
    const file = camtFile(message, version, '<A/>');
    const expected = new RegExp(`camt\\.${message}\\.001\\.${version} is not known; send camt`);
    assert.match(await refusal(readCamt(pieces(file), usual)), expected);
  }
});

test('XML that is truncated, malformed, too deep or has entities is refused with its place', async () => {
  const whole = camt053('08', [{ opening: '0', closing: '7.00', entries: [{ amount: '7.00' }] }]);
  const cases: [string, RegExp][] = [
    [whole.slice(0, -60), /^INVALID_FORMAT Line \d+, column \d+: the XML is not well formed/],
    [whole.replace('</Amt>', '</Amount>'), /Line 3, column \d+: the XML is not well formed/],
    ['', /Line 1, column 0: the XML is not well formed/],
    [
      `<!DOCTYPE a [<!ENTITY b "${'x'.repeat(99)}">]>${whole.slice(39)}`,
      /Line 1, column \d+: the file has a document type, which is not accepted/,
    ],
    [whole.replace('7.00', '&bomb;'), /Line 3, column \d+: the XML is not well formed/],
    [whole.replace('<Ntry>', `<Ntry>${'<a>'.repeat(80)}`), /nested more than 64 deep/],
    [whole.replace('<Ntry>', `<Ntry><x>${'<a/>'.repeat(10_001)}</x>`), /too many others/],
    [whole.replace('<Ntry>', `<Ntry><x>${'x'.repeat(70_000)}</x>`), /the text of x is too long/],
    [whole.replace('<Ntry>', `<Ntry><x a="${'x'.repeat(1_200_000)}`), /does not end/],
  ];
  for (const [file, expected] of cases) {
    assert.match(await refusal(readCamt(pieces(file, 60_000), usual)), expected);
  }
});

test('the encoding that XML declares is used; bytes that are not of it are refused', async () => {
  const details = transfer('08', { payer: 'José Gómez' });
  const entries = [{ amount: '7.00', details }];
  const file = camt053('08', [{ opening: '0', closing: '7.00', entries }]);
  const latin = Buffer.from(file.replace('UTF-8', 'ISO-8859-1'), 'latin1');
  const { lines } = await all(readCamt(pieces(latin), usual));
  assert.equal(lines[0]?.payer, 'José Gómez');
  const wide = Buffer.concat([
    Buffer.from([0xff, 0xfe]),
    Buffer.from(file.replace('UTF-8', 'UTF-16'), 'utf16le'),
  ]);
  assert.equal((await all(readCamt(pieces(wide, 999), usual))).lines[0]?.payer, 'José Gómez');
  const wrong = Buffer.from(file, 'latin1');
  assert.match(await refusal(readCamt(pieces(wrong), usual)), /neither UTF-8 nor UTF-16/);
  const other = file.replace('UTF-8', 'EBCDIC-INT');
  assert.match(
    await refusal(readCamt(pieces(other), usual)),
    /The encoding ebcdic-int is not known/,
  );
});

test('MT940 brings lines of each kind with their signs, and proves the balances', async () => {
  const file = mt940(
    [
      ':61:2608160817CR1234,5NTRFCUST-1//BANK-1',
      'more text',
      ':86:166?00TRANSFER?20EREF+10000000014?21SVWZ+Bill of?22 July?31XX99PAYER1?32Asha',
      '?33 Rao',
      ':61:260817D10,NCHGNONREF',
      ':86:Account fee',
      ':61:2608170817RC20,00NRTINONREF//BANK-3',
      ':86:/EREF/E2E-9/NAME/Ben Odhiambo/IBAN/XX77/REMI/USTD//taken back/',
      ':61:2601011231RDR5,NTRFNONREF',
    ],
    { opening: '100,', closing: '1309,50' },
  );
  const { lines, statements } = await all(readMt940(pieces(file), usual));
  assert.deepEqual(
    lines.map((one) => [one.amount, one.isReversal, one.date, one.bankId, one.reference]),
    [
      [123_450, false, '2026-08-17', 'BANK-1', '10000000014'],
      [-1000, false, '2026-08-17', null, null],
      [-2000, true, '2026-08-17', 'BANK-3', 'E2E-9'],
      [500, true, '2025-12-31', null, null],
    ],
  );
  const [first, fee, back] = lines;
  assert.deepEqual(
    [first?.payer, first?.payerAccount, first?.text],
    ['Asha Rao', 'XX99PAYER1', 'Bill of July more text'],
  );
  assert.deepEqual(
    [fee?.text, back?.payer, back?.text],
    ['Account fee', 'Ben Odhiambo', 'taken back/'],
  );
  assert.deepEqual(statements, [
    {
      statementId: '12030000/1234567 00123/001',
      account: '12030000/1234567',
      lines: 4,
      opening: '10000',
      closing: '130950',
    },
  ]);
});

test('MT940 that does not add up, is cut off or is another text is refused with its place', async () => {
  const line = ':61:260817C10,NTRFNONREF';
  const cases: [string, RegExp][] = [
    [mt940([line]), /STATEMENT_NOT_PROVEN Statement 12030000\/1234567 00123\/001: .* -10\.00\./],
    [mt940([line]).split(':62F:')[0] ?? '', /Line 2: the statement has no closing balance/],
    [mt940([':61:260817X10,NTRF']), /Line 6: '260817X10,NTRF' is not a line of a statement/],
    [mt940([':61:261317C10,NTRFNONREF']), /INVALID_DATE Line 6: '261317' is not a date/],
    [mt940([line]).replace('EUR', 'USD'), /CURRENCY_MISMATCH Line 5/],
    ['hello\n', /The file has no statement of the format MT940/],
    [`:20:x\n:86:${'x'.repeat(20_000)}`, /Line \d: the (line is too long|field does not end)/],
  ];
  for (const [file, expected] of cases) {
    assert.match(await refusal(readMt940(pieces(file, 4_000), usual)), expected);
  }
});

const columns: MappingColumns = {
  date: 'Booked',
  amount: 'Amount',
  payer: 'Name',
  text: 'Purpose',
  reference: 'Ref',
  bankID: 'Id',
  dateFormat: 'DD.MM.YYYY',
  decimal: ',',
  delimiter: ';',
  skipRows: 2,
};

test('CSV is read by its mapping: headings, decimal comma, rows above the headings', async () => {
  const file =
    'Account "X\r\nfrom 1 to 2\r\nBooked;Id;Name;Purpose;Ref;Amount\r\n' +
    '17.08.2026;B-1;Asha Rao;"July; paid";10000000014;1.234,50\r\n' +
    '18.08.2026;;Bank;Fee;;-3,00\r\n';
  const { lines } = await all(readBankCsv(pieces(file), { ...usual, columns }));
  assert.deepEqual(lines[0], {
    fileLine: 4,
    account: null,
    date: '2026-08-17',
    amount: 123_450,
    isReversal: false,
    payer: 'Asha Rao',
    payerAccount: null,
    text: 'July; paid',
    reference: '10000000014',
    bankId: 'B-1',
  });
  assert.deepEqual([lines[1]?.amount, lines[1]?.bankId, lines[1]?.fileLine], [-300, null, 5]);
});

test('CSV with debit and credit by column numbers needs no headings', async () => {
  const numbered: MappingColumns = {
    ...{ date: '1', debit: '2', credit: '3', dateFormat: 'D-MMM-YY', decimal: '.' },
  };
  const file = '1-Aug-26,,"1,000.00"\n12-Aug-26,20.00,\n';
  const { lines } = await all(readBankCsv(pieces(file), { ...usual, columns: numbered }));
  assert.deepEqual(
    lines.map(({ date, amount }) => [date, amount]),
    [
      ['2026-08-01', 100_000],
      ['2026-08-12', -2000],
    ],
  );
});

test('CSV errors name the line, the column and the value', async () => {
  const first = 'a\nb\nBooked;Id;Name;Purpose;Ref;Amount\n';
  const cases: [string, RegExp][] = [
    [`${first}31.02.2026;;;;;1,00`, /INVALID_DATE Line 4: '31\.02\.2026' is not a date/],
    [`${first}17.08.2026;;;;;1.00`, /Line 4: Amount: '1\.00' is not an amount in EUR/],
    [`${first}17.08.2026;;;;;1,001`, /Line 4: Amount: '1,001' is not an amount in EUR/],
    [
      'a\nb\nBooked;Id;Name\n',
      /Line 3: there is no column 'Amount'; the headings are 'Booked', 'Id'/,
    ],
    ['a\nb\n', /The file has no rows/],
    [`${first}"17.08.2026;;;;;1,00`, /Line 4: a row does not end; is a quote missing\?/],
  ];
  for (const [file, expected] of cases) {
    assert.match(await refusal(readBankCsv(pieces(file), { ...usual, columns })), expected);
  }
});

test('amounts of banks are read in their forms and in no others', () => {
  const cases: [string, '.' | ',', number | undefined][] = [
    ['1,234.56', '.', 123_456],
    ["1'234.56", '.', 123_456],
    ['1 234,56-', ',', -123_456],
    ['(12.00)', '.', -1200],
    ['12.00 DR', '.', -1200],
    ['12.00CR', '.', 1200],
    ['+5', '.', 500],
    ['', '.', 0],
    ['1,23.45', '.', undefined],
    ['1.234,5', '.', undefined],
    ['12,34', '.', undefined],
    ['--5', '.', undefined],
    ['five', '.', undefined],
    ['1.2.3', '.', undefined],
  ];
  for (const [text, decimal, expected] of cases) {
    assert.equal(amountOf(text, decimal, 2), expected, text);
  }
});

test('a large camt file is read with flat memory', async () => {
  const part = camt053('08', [{ opening: '0', closing: '7.00', entries: [{ amount: '7.00' }] }]);
  const [before = '', after = ''] = part.split(/<Ntry>.*<\/Ntry>/s);
  const [entry = ''] = /<Ntry>.*<\/Ntry>/s.exec(part) ?? [];
  const repeats = 40_000;
  async function* file(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(before.replace('7.00', `${7 * repeats}.00`));
    const many = Buffer.from(entry.repeat(100));
    for (let at = 0; at < repeats; at += 100) yield many;
    yield Buffer.from(after);
  }
  let most = 0;
  let lines = 0;
  for await (const piece of readCamt(file(), usual)) {
    lines += piece.lines.length;
    most = Math.max(most, piece.lines.length);
  }
  assert.equal(lines, repeats);
  assert.ok(most <= 200, `${most} lines at once`);
});
