// camt.053 (statements with balances) and camt.054 (notifications without), in the versions 02, 08
// and 13, read element by element. A batch entry becomes a line for each of its transactions.
import type { Encoding } from '../../base/csv/decode.ts';
import { AppError } from '../../base/errors.ts';
import { readXml, textAt, treeAt, type XmlEvent, type XmlTree } from '../../base/xml/read.ts';
import { camtDate, detailsOf } from './camt-details.ts';
import {
  amountAt,
  assertCurrency,
  assertProven,
  invalid,
  kept,
  type Money,
  type Piece,
  statementsMax,
} from './statement.ts';

const statementNames: readonly string[] = ['Stmt', 'Ntfctn'];
const messages: readonly string[] = ['053', '054'];
const versions: readonly string[] = ['02', '08', '13'];

export async function* readCamt(
  bytes: AsyncIterable<Uint8Array>,
  { encoding, money }: { encoding: Encoding | null; money: Money },
): AsyncGenerator<Piece> {
  const reading: Reading = { money, piece: emptyPiece(), statements: 0 };
  for await (const events of readXml(bytes, { encoding, isTree })) {
    for (const event of events) take(reading, event);
    yield reading.piece;
    reading.piece = emptyPiece();
  }
  if (reading.statements > 0) return;
  const message = 'The file has no statement of the kinds camt.053 and camt.054';
  throw new AppError('INVALID_FORMAT', { message, field: 'content' });
}

/** Parts of a statement and of an entry are small trees; a batch's transactions come singly. */
function isTree(path: readonly string[]): boolean {
  const [, , statement, part, inEntry, inDetails] = path;
  if (statement === undefined) return false;
  if (!statementNames.includes(statement)) return true;
  if (part === undefined) return false;
  if (part !== 'Ntry') return true;
  if (inEntry === undefined) return false;
  return inEntry !== 'NtryDtls' || inDetails !== undefined;
}

type Reading = { money: Money; piece: Piece; statements: number; open?: OpenStatement | undefined };

type OpenStatement = {
  isNotification: boolean;
  id: string | null;
  account: string | null;
  opening: bigint | null;
  closing: bigint | null;
  lines: number;
  sum: bigint;
  entry?: Entry | undefined;
};

type Entry = {
  fileLine: number;
  parts: Map<string, XmlTree>;
  /** Transactions so far, and what those that were added come to. */
  details: number;
  added: number;
  detailed: bigint;
  /** The last one, which may be the only one. */
  held: XmlTree | undefined;
};

function emptyPiece(): Piece {
  return { lines: [], statements: [] };
}

function take(reading: Reading, event: XmlEvent): void {
  const { path, line, kind } = event;
  const last = path.at(-1) ?? '';
  if (kind === 'open' && path.length === 1) assertKnown(event.attributes, line);
  if (path.length === 3 && statementNames.includes(last)) {
    if (kind === 'open') begin(reading, last, line);
    if (kind === 'close') finish(reading, line);
    return;
  }
  const statement = reading.open;
  if (!statement) return;
  if (path.length === 4 && last === 'Ntry') {
    if (kind === 'open') statement.entry = newEntry(line);
    if (kind === 'close' && statement.entry) endEntry(reading, statement, statement.entry);
  } else if (kind === 'tree' && path[3] !== 'Ntry') takePart(reading, statement, event.tree, line);
  else if (kind === 'tree' && statement.entry) takeOfEntry(reading, statement, event);
}

/** By the namespace, such as urn:iso:std:iso:20022:tech:xsd:camt.053.001.08. */
function assertKnown(attributes: XmlTree['attributes'], line: number): void {
  const names = Object.entries(attributes).filter(([name]) => name.split(':')[0] === 'xmlns');
  const found = names.flatMap(([, value]) => /camt\.(\d{3})\.001\.(\d{2})$/.exec(value) ?? []);
  const [whole, message = '', version = ''] = found;
  if (messages.includes(message) && versions.includes(version)) return;
  const known = `camt.053 and camt.054 in the versions ${versions.join(', ')}`;
  throw invalid(line, `${whole ?? 'the file'} is not known; send ${known}`);
}

function begin(reading: Reading, name: string, line: number): void {
  reading.statements += 1;
  if (reading.statements > statementsMax) {
    throw invalid(line, `the file has more than ${statementsMax} statements; split it`);
  }
  const empty = { id: null, account: null, opening: null, closing: null, lines: 0, sum: 0n };
  reading.open = { isNotification: name === 'Ntfctn', ...empty };
}

function finish({ piece, open, money }: Reading, line: number): void {
  if (!open) return;
  const { id, account, opening, closing, lines, sum, isNotification } = open;
  const statementId = id ?? `at line ${line}`;
  if (!isNotification) {
    if (opening === null || closing === null) {
      const which = opening === null ? 'an opening' : 'a closing';
      throw invalid(line, `statement ${statementId} lacks ${which} balance`);
    }
    assertProven({ statementId, opening, closing }, sum, money);
  }
  piece.statements.push({
    ...{ statementId, account, lines },
    opening: opening === null ? null : String(opening),
    closing: closing === null ? null : String(closing),
  });
}

const openingCodes: readonly string[] = ['OPBD', 'PRCD', 'ITBD'];
const closingCodes: readonly string[] = ['CLBD', 'ITBD'];

function takePart(reading: Reading, statement: OpenStatement, tree: XmlTree, line: number): void {
  if (tree.name === 'Id') statement.id = kept(tree.text, 64);
  if (tree.name === 'Acct') {
    const account = textAt(tree, 'Id', 'IBAN') ?? textAt(tree, 'Id', 'Othr', 'Id');
    statement.account = kept(account, 64);
    assertCurrency(textAt(tree, 'Ccy'), reading.money, line);
  }
  if (tree.name !== 'Bal') return;
  const code = textAt(tree, 'Tp', 'CdOrPrtry', 'Cd') ?? '';
  const amount = BigInt(signedAmount(tree, treeAt(tree, 'CdtDbtInd'), reading.money, line));
  // Of a statement in several parts, the first interim balance opens and the last one closes.
  if (openingCodes.includes(code) && statement.opening === null) statement.opening = amount;
  else if (closingCodes.includes(code)) statement.closing = amount;
}

function newEntry(fileLine: number): Entry {
  return { fileLine, parts: new Map(), details: 0, added: 0, detailed: 0n, held: undefined };
}

function takeOfEntry(
  reading: Reading,
  statement: OpenStatement,
  { path, tree }: Extract<XmlEvent, { kind: 'tree' }>,
): void {
  const { entry } = statement;
  if (!entry) return;
  if (path.length === 5) entry.parts.set(tree.name, tree);
  if (path.length !== 6 || tree.name !== 'TxDtls' || !isBooked(entry)) return;
  if (entry.held) addTransaction(reading, statement, entry, entry.held);
  entry.details += 1;
  entry.held = tree;
}

/** What is pending or for information is not. The status comes before the transactions. */
function isBooked({ parts }: Entry): boolean {
  const status = parts.get('Sts');
  return (textAt(status, 'Cd') || status?.text || 'BOOK') === 'BOOK';
}

function endEntry(reading: Reading, statement: OpenStatement, entry: Entry): void {
  const { parts, fileLine, held } = entry;
  statement.entry = undefined;
  if (!isBooked(entry)) return;
  const direction = parts.get('CdtDbtInd');
  const total = signedAmount(entry, direction, reading.money, fileLine);
  if (entry.details > 1 && held) addTransaction(reading, statement, entry, held);
  if (entry.added === 0) addLine(reading, statement, entry, { amount: total, details: held });
  else if (entry.detailed !== BigInt(total)) {
    throw invalid(fileLine, 'the transactions of the entry do not add up to its amount');
  }
  statement.sum += BigInt(total);
}

/** One of several transactions of an entry. Without an amount of its own it becomes no line. */
function addTransaction(
  reading: Reading,
  statement: OpenStatement,
  entry: Entry,
  details: XmlTree,
): void {
  const sent = treeAt(details, 'Amt') ?? treeAt(details, 'AmtDtls', 'TxAmt', 'Amt');
  if (!sent) return;
  const direction = treeAt(details, 'CdtDbtInd') ?? entry.parts.get('CdtDbtInd');
  const holder = { parts: new Map([['Amt', sent]]) };
  const amount = signedAmount(holder, direction, reading.money, entry.fileLine);
  entry.detailed += BigInt(amount);
  entry.added += 1;
  addLine(reading, statement, entry, { amount, details, number: entry.added });
}

function addLine(
  { piece }: Reading,
  statement: OpenStatement,
  { parts, fileLine }: Entry,
  one: { amount: number; details: XmlTree | undefined; number?: number },
): void {
  const { amount, details, number } = one;
  statement.lines += 1;
  const day = parts.get('BookgDt') ?? parts.get('ValDt');
  const entryId = textAt(parts.get('AcctSvcrRef'));
  const numbered = entryId && number ? `${entryId}/${number}` : entryId;
  const found = detailsOf(details, { isCredit: amount >= 0 });
  piece.lines.push({
    ...{ fileLine, account: statement.account, amount },
    date: camtDate(day, fileLine),
    isReversal: ['true', '1'].includes(textAt(parts.get('RvslInd')) ?? ''),
    payer: found.payer,
    payerAccount: found.payerAccount,
    text: found.text ?? kept(textAt(parts.get('AddtlNtryInf'))),
    reference: found.reference ?? kept(textAt(parts.get('NtryRef')), 140),
    bankId: kept(found.bankId ?? numbered, 64),
  });
}

function signedAmount(
  holder: XmlTree | { parts: ReadonlyMap<string, XmlTree> },
  direction: XmlTree | undefined,
  money: Money,
  fileLine: number,
): number {
  const sent = 'parts' in holder ? holder.parts.get('Amt') : treeAt(holder, 'Amt');
  if (!sent) throw invalid(fileLine, 'an amount is missing');
  assertCurrency(sent.attributes.Ccy, money, fileLine);
  const amount = amountAt(sent.text, money, fileLine);
  if (direction?.text === 'CRDT') return amount;
  if (direction?.text === 'DBIT') return -amount;
  throw invalid(fileLine, 'an amount lacks its CdtDbtInd, CRDT or DBIT');
}
