// Recursive descent over the language of docs/tariffs.md, one function a rule. Chains of operators
// are loops, so only brackets, calls and signs nest, and their depth is limited.
import { parseDecimal } from '../numbers/decimal-text.ts';
import { divide, fraction } from '../numbers/exact.ts';
import {
  type BinaryOperator,
  type FormulaNode,
  type FormulaProblem,
  FormulaSyntaxError,
  formulaDepthMax,
  formulaLengthMax,
  unknownType,
} from './syntax.ts';
import { type Token, tokensOf } from './tokens.ts';

type Parsed = { readonly node: FormulaNode | null; readonly problems: FormulaProblem[] };
type Reader = { readonly tokens: readonly Token[]; at: number; depth: number };

const comparisons = new Set(['=', '<>', '<', '<=', '>', '>=']);
const hundred = fraction(100, 1);

/** The tree of a formula, or the problem that prevented one. Never throws. */
export function parseFormula(text: string): Parsed {
  try {
    return { node: parse(text), problems: [] };
  } catch (error) {
    if (error instanceof FormulaSyntaxError) return { node: null, problems: [error.problem] };
    throw error;
  }
}

function parse(text: string): FormulaNode {
  if (text.length > formulaLengthMax) {
    const message = `a formula has at most ${formulaLengthMax} characters, this one ${text.length}`;
    throw new FormulaSyntaxError('FORMULA_TOO_LONG', formulaLengthMax, message);
  }
  const reader: Reader = { tokens: tokensOf(text), at: 0, depth: 0 };
  if (peek(reader).text === '=' && peek(reader).kind === 'symbol') reader.at += 1;
  const node = expression(reader);
  const rest = peek(reader);
  if (rest.kind !== 'end') throw unexpected(rest, 'the formula should end here');
  return node;
}

function expression(reader: Reader): FormulaNode {
  const left = sum(reader);
  const token = peek(reader);
  if (token.kind !== 'symbol' || !comparisons.has(token.text)) return left;
  reader.at += 1;
  const right = sum(reader);
  const next = peek(reader);
  if (next.kind === 'symbol' && comparisons.has(next.text)) {
    const message = `comparisons do not chain: write AND(a ${token.text} b, b ${next.text} c)`;
    throw new FormulaSyntaxError('FORMULA_SYNTAX', next.from, message);
  }
  return binary(token.text, left, right);
}

function sum(reader: Reader): FormulaNode {
  let left = product(reader);
  for (let token = peek(reader); isSymbol(token, '+', '-'); token = peek(reader)) {
    reader.at += 1;
    left = binary(token.text, left, product(reader));
  }
  return left;
}

function product(reader: Reader): FormulaNode {
  let left = signed(reader);
  for (let token = peek(reader); isSymbol(token, '*', '/'); token = peek(reader)) {
    reader.at += 1;
    left = binary(token.text, left, signed(reader));
  }
  return left;
}

function signed(reader: Reader): FormulaNode {
  const token = peek(reader);
  if (!isSymbol(token, '-', '+')) return primary(reader);
  reader.at += 1;
  const operand = nested(reader, token, signed);
  if (token.text === '+') {
    // Kept as 0 + x, so that a sign before a text is a type error like any other sum.
    const nought: FormulaNode = {
      kind: 'number',
      value: fraction(0, 1),
      from: token.from,
      to: token.from,
      type: unknownType,
    };
    return { ...binary('+', nought, operand), from: token.from };
  }
  return { kind: 'negate', operand, from: token.from, to: operand.to, type: unknownType };
}

function primary(reader: Reader): FormulaNode {
  const token = peek(reader);
  reader.at += 1;
  if (token.kind === 'number') return numberNode(reader, token);
  if (token.kind === 'text') {
    return { kind: 'text', value: token.text, from: token.from, to: token.to, type: unknownType };
  }
  if (token.kind === 'word') return wordNode(reader, token);
  if (isSymbol(token, '(', '(')) {
    const inner = nested(reader, token, expression);
    const close = expect(reader, ')', 'a closing bracket is missing');
    return { ...inner, from: token.from, to: close.to };
  }
  throw unexpected(token, 'a number, a name or a function is missing here');
}

function numberNode(reader: Reader, token: Token): FormulaNode {
  const value = parseDecimal(token.text);
  if (value === undefined) {
    throw new FormulaSyntaxError('FORMULA_SYNTAX', token.from, 'this number has too many digits');
  }
  const next = peek(reader);
  if (!isSymbol(next, '%', '%')) {
    return { kind: 'number', value, from: token.from, to: token.to, type: unknownType };
  }
  reader.at += 1;
  const percent = divide(value, hundred);
  return { kind: 'number', value: percent, from: token.from, to: next.to, type: unknownType };
}

function wordNode(reader: Reader, token: Token): FormulaNode {
  const next = peek(reader);
  if (isSymbol(next, '(', '(')) return callNode(reader, token, next);
  if (isSymbol(next, '.', '.')) {
    reader.at += 1;
    const id = peek(reader);
    if (id.kind !== 'word') throw unexpected(id, `a name is missing after \`${token.text}.\``);
    reader.at += 1;
    return {
      kind: 'name',
      space: token.text,
      id: id.text,
      from: token.from,
      to: id.to,
      type: unknownType,
    };
  }
  const upper = token.text.toUpperCase();
  const place = { from: token.from, to: token.to, type: unknownType };
  if (upper === 'TRUE' || upper === 'FALSE') {
    return { kind: 'boolean', value: upper === 'TRUE', ...place };
  }
  return { kind: 'name', space: null, id: token.text, ...place };
}

function callNode(reader: Reader, name: Token, open: Token): FormulaNode {
  reader.at += 1;
  const args: FormulaNode[] = [];
  if (!isSymbol(peek(reader), ')', ')')) {
    args.push(nested(reader, open, expression));
    while (isSymbol(peek(reader), ',', ',')) {
      reader.at += 1;
      args.push(nested(reader, open, expression));
    }
  }
  const close = expect(reader, ')', `the bracket of ${name.text.toUpperCase()} is not closed`);
  return {
    kind: 'call',
    name: name.text.toUpperCase(),
    args,
    from: name.from,
    to: close.to,
    type: unknownType,
  };
}

function nested(reader: Reader, at: Token, rule: (reader: Reader) => FormulaNode): FormulaNode {
  reader.depth += 1;
  if (reader.depth > formulaDepthMax) {
    const message = `a formula nests at most ${formulaDepthMax} levels deep`;
    throw new FormulaSyntaxError('FORMULA_TOO_DEEP', at.from, message);
  }
  const node = rule(reader);
  reader.depth -= 1;
  return node;
}

function binary(operator: string, left: FormulaNode, right: FormulaNode): FormulaNode {
  return {
    kind: 'binary',
    operator: operator as BinaryOperator,
    left,
    right,
    from: left.from,
    to: right.to,
    type: unknownType,
  };
}

function peek(reader: Reader): Token {
  return reader.tokens[reader.at] as Token;
}

function expect(reader: Reader, symbol: string, message: string): Token {
  const token = peek(reader);
  if (!isSymbol(token, symbol, symbol)) throw unexpected(token, message);
  reader.at += 1;
  return token;
}

function isSymbol(token: Token, first: string, second: string): boolean {
  return token.kind === 'symbol' && (token.text === first || token.text === second);
}

function unexpected(token: Token, message: string): FormulaSyntaxError {
  const found = token.kind === 'end' ? 'the formula ends' : `found \`${token.text}\``;
  return new FormulaSyntaxError('FORMULA_SYNTAX', token.from, `${message}: ${found}`);
}
