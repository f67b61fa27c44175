import { FormulaSyntaxError } from './syntax.ts';

type TokenKind = 'number' | 'text' | 'word' | 'symbol' | 'end';
export type Token = {
  readonly kind: TokenKind;
  /** The symbol or word itself; digits of a number; contents of a text. */
  readonly text: string;
  readonly from: number;
  readonly to: number;
};

const space = /\s/;
const digit = /[0-9]/;
const letter = /[A-Za-z]/;
const wordCharacter = /[A-Za-z0-9_]/;
const twoCharacterSymbols = new Set(['<>', '<=', '>=']);
const oneCharacterSymbols = new Set('=<>+-*/%(),.');

/** The tokens of a formula; the last is of kind `end`. Throws if a character begins no token. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (space.test(character)) {
      at += 1;
      continue;
    }
    const token = tokenAt(text, at, character);
    tokens.push(token);
    at = token.to;
  }
  tokens.push({ kind: 'end', text: '', from: text.length, to: text.length });
  return tokens;
}

function tokenAt(text: string, at: number, character: string): Token {
  if (digit.test(character)) return numberAt(text, at);
  if (letter.test(character)) {
    const to = skip(text, at, wordCharacter);
    return { kind: 'word', text: text.slice(at, to), from: at, to };
  }
  if (character === '"' || character === "'") return textAt(text, at, character);
  const pair = text.slice(at, at + 2);
  if (twoCharacterSymbols.has(pair)) return { kind: 'symbol', text: pair, from: at, to: at + 2 };
  if (oneCharacterSymbols.has(character)) {
    return { kind: 'symbol', text: character, from: at, to: at + 1 };
  }
  throw new FormulaSyntaxError(
    'FORMULA_SYNTAX',
    at,
    `\`${character}\` cannot be used in a formula`,
  );
}

function numberAt(text: string, at: number): Token {
  let to = skip(text, at, digit);
  if (text.charAt(to) === '.' && digit.test(text.charAt(to + 1))) to = skip(text, to + 1, digit);
  if (letter.test(text.charAt(to))) {
    const word = text.slice(at, skip(text, to, wordCharacter));
    throw new FormulaSyntaxError(
      'FORMULA_SYNTAX',
      at,
      `\`${word}\` is neither a number nor a name`,
    );
  }
  return { kind: 'number', text: text.slice(at, to), from: at, to };
}

function textAt(text: string, at: number, quote: string): Token {
  const end = text.indexOf(quote, at + 1);
  if (end < 0) {
    throw new FormulaSyntaxError('FORMULA_SYNTAX', at, `the closing quote of this text is missing`);
  }
  return { kind: 'text', text: text.slice(at + 1, end), from: at, to: end + 1 };
}

function skip(text: string, from: number, pattern: RegExp): number {
  let at = from;
  while (at < text.length && pattern.test(text.charAt(at))) at += 1;
  return at;
}
