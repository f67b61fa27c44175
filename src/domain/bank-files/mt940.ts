// MT940: statements of fields, each beginning with its tag. Banks put the payer and the references
// into field 86 in several ways; see mt940-details.ts.
import { decode, type Encoding } from '../../base/csv/decode.ts';
import { AppError } from '../../base/errors.ts';
import { informationOf } from './mt940-details.ts';
import {
  amountAt,
  assertCurrency,
  assertProven,
  dateAt,
  invalid,
  kept,
  type Money,
  type Piece,
  type StatementLine,
  statementsMax,
} from './statement.ts';

type Field = { tag: string; text: string; fileLine: number };

type OpenStatement = {
  id: string | null;
  account: string | null;
  opening: bigint | null;
  lines: number;
  sum: bigint;
  /** Held for the field 86 that may follow. */
  line?: StatementLine | undefined;
};

/** A field longer than this does not end. */
const fieldMax = 16_384;
const lineMax = 16_384;

export async function* readMt940(
  bytes: AsyncIterable<Uint8Array>,
  { encoding, money }: { encoding: Encoding | null; money: Money },
): AsyncGenerator<Piece> {
  const state: State = { money, statements: 0, piece: { lines: [], statements: [] } };
  for await (const fields of fieldsOf(decode(bytes, encoding))) {
    for (const field of fields) take(state, field);
    yield state.piece;
    state.piece = { lines: [], statements: [] };
  }
  if (state.open)
    throw invalid(state.openedAt ?? 1, 'the statement has no closing balance (:62F:)');
  if (state.statements > 0) return;
  const message = 'The file has no statement of the format MT940';
  throw new AppError('INVALID_FORMAT', { message, field: 'content' });
}

type State = {
  money: Money;
  piece: Piece;
  statements: number;
  open?: OpenStatement | undefined;
  openedAt?: number;
};

const tagForm = /^:(\d{2}[A-Z]?):(.*)$/s;

/** The fields, those of one piece of the file together; a field may go on over several lines. */
async function* fieldsOf(texts: AsyncIterable<string>): AsyncGenerator<Field[]> {
  let rest = '';
  let fileLine = 0;
  let field: Field | undefined;
  const takeLine = (line: string): Field | undefined => {
    fileLine += 1;
    const [, tag, text = ''] = tagForm.exec(line.replace(/^\{4:\s*/, '')) ?? [];
    const ended = tag !== undefined || /^-\}?\s*$/.test(line) || line.startsWith('{');
    const done = ended ? field : undefined;
    if (tag !== undefined) field = { tag, text, fileLine };
    else if (ended) field = undefined;
    else if (field) field.text += `\n${line}`;
    if (field && field.text.length > fieldMax) throw invalid(fileLine, 'the field does not end');
    return done;
  };
  for await (const text of texts) {
    const lines = (rest + text).split(/\r\n|\n/);
    rest = lines.pop() ?? '';
    if (rest.length > lineMax) throw invalid(fileLine + 1, 'the line is too long');
    yield lines.flatMap((line) => takeLine(line) ?? []);
  }
  const last = takeLine(rest);
  yield [last, field].flatMap((one) => (one && one !== undefined ? [one] : []));
}

function take(state: State, field: Field): void {
  const { tag, text, fileLine } = field;
  const { open } = state;
  if (tag === '20') begin(state, fileLine);
  else if (!open) return;
  else if (tag === '25') open.account = kept(text, 64);
  else if (tag === '28C' || tag === '28') open.id = kept(text, 64);
  else if (tag === '60F' || tag === '60M') open.opening ??= balanceOf(field, state.money);
  else if (tag === '61') {
    flush(state, open);
    open.line = lineOf(field, open, state.money);
  } else if (tag === '86' && open.line) addInformation(open.line, text);
  else if (tag === '62F' || tag === '62M') finish(state, open, field);
}

function begin(state: State, fileLine: number): void {
  if (state.open) throw invalid(fileLine, 'the statement before has no closing balance (:62F:)');
  state.statements += 1;
  state.openedAt = fileLine;
  if (state.statements > statementsMax) {
    throw invalid(fileLine, `the file has more than ${statementsMax} statements; split it`);
  }
  state.open = { id: null, account: null, opening: null, lines: 0, sum: 0n };
}

function flush({ piece }: State, open: OpenStatement): void {
  if (!open.line) return;
  piece.lines.push(open.line);
  open.lines += 1;
  open.sum += BigInt(open.line.amount);
  open.line = undefined;
}

function finish(state: State, open: OpenStatement, field: Field): void {
  flush(state, open);
  const closing = balanceOf(field, state.money);
  const { account, opening, lines, sum, id } = open;
  const statementId = [account, id].filter(Boolean).join(' ') || `at line ${field.fileLine}`;
  if (opening === null) {
    throw invalid(field.fileLine, `statement ${statementId} lacks an opening balance (:60F:)`);
  }
  assertProven({ statementId, opening, closing }, sum, state.money);
  const balances = { opening: String(opening), closing: String(closing) };
  state.piece.statements.push({ statementId, account, lines, ...balances });
  state.open = undefined;
}

const balanceForm = /^([CD])(\d{6})([A-Z]{3})([\d,]+)\s*$/;

function balanceOf({ text, fileLine }: Field, money: Money): bigint {
  const [, side, , currency, amount] = balanceForm.exec(text) ?? [];
  if (side === undefined) throw invalid(fileLine, `'${text.slice(0, 40)}' is not a balance`);
  assertCurrency(currency, money, fileLine);
  const minor = BigInt(amountAt(pointed(amount), money, fileLine));
  return side === 'D' ? -minor : minor;
}

/** `12,` and `12,5` are complete amounts. */
function pointed(amount = ''): string {
  return amount.replace(',', '.').replace(/\.$/, '');
}

// Value date, entry date, side, letter of the currency, amount, kind, references, further text.
const lineForm = new RegExp(
  String.raw`^(\d{6})(\d{4})?(RC|RD|C|D)([A-Z])?([\d,]+)([A-Z][A-Z0-9]{3})` +
    String.raw`([^\n]*?)(?://([^\n]*))?(?:\n(.*))?$`,
  's',
);
const noReference = /^(?:NONREF|NOTPROVIDED)?$/i;

function lineOf(field: Field, { account }: OpenStatement, money: Money): StatementLine {
  const { text, fileLine } = field;
  const found = lineForm.exec(text);
  if (!found) throw invalid(fileLine, `'${text.slice(0, 40)}' is not a line of a statement`);
  const [, value = '', entry, side = '', , sent, , own = '', bank = '', more] = found;
  const amount = amountAt(pointed(sent), money, fileLine);
  const reference = own.trim();
  const bankId = bank.trim();
  return {
    ...{ fileLine, account, date: bookedOn(value, entry, fileLine) },
    // RC takes a credit back, RD a debit.
    amount: side === 'C' || side === 'RD' ? amount : -amount,
    isReversal: side.startsWith('R'),
    payer: null,
    payerAccount: null,
    text: kept(more),
    reference: noReference.test(reference) ? null : kept(reference, 140),
    bankId: noReference.test(bankId) ? null : kept(bankId, 64),
  };
}

/** The entry date, which has no year, is the one next to the value date. */
function bookedOn(value: string, entry: string | undefined, fileLine: number): string {
  const year = 2000 + Number(value.slice(0, 2));
  const valueDay = dayIn(year, value.slice(2), value, fileLine);
  if (entry === undefined) return valueDay;
  const months = Number(entry.slice(0, 2)) - Number(value.slice(2, 4));
  const shift = Number(months < -6) - Number(months > 6);
  return dayIn(year + shift, entry, entry, fileLine);
}

function dayIn(year: number, monthDay: string, shown: string, fileLine: number): string {
  const parts = { year, month: Number(monthDay.slice(0, 2)), day: Number(monthDay.slice(2)) };
  return dateAt(parts, shown, fileLine);
}

function addInformation(line: StatementLine, text: string): void {
  const found = informationOf(text);
  line.payer = found.payer;
  line.payerAccount = found.payerAccount;
  line.text = kept([found.text, line.text].filter(Boolean).join(' '));
  line.reference = found.reference ?? line.reference;
}
