// What a line says about whose money it is: numbers of bills, subscriptions and parties in its
// reference and its text, and the words of the payer's name. Pure.
import { billIdOf } from '../bills/reference.ts';

export type LineKeys = {
  /** From bill references, whose check digit is right. */
  billIds: number[];
  /** What may be the number of a bill or of a subscription. */
  words: string[];
  /** A possible party number in the reference, and whether the reference has nothing else. */
  numbers: { value: number; isWholeReference: boolean }[];
};

/** More words of one line say nothing. */
const wordsMax = 24;
const wordLengthMax = 64;

export function keysIn(line: { reference: string | null; text: string | null }): LineKeys {
  const reference = line.reference?.trim() ?? '';
  const sources = [reference, line.text ?? ''].filter((source) => source !== '');
  const tokens = sources.flatMap((source) => source.split(/[\s,;:()"'+]+/));
  const plain = tokens.map((token) => token.replace(/^[^\p{L}\d]+|[^\p{L}\d]+$/gu, ''));
  const words = [reference, ...plain].filter(isNumberLike).slice(0, wordsMax);
  const bodies = [...plain.map(withoutCreditorPrefix), ...sources.flatMap(digitRuns)];
  const billIds = bodies.flatMap((body) => billIdOf(body) ?? []);
  const numbers = plain
    .filter((token) => /^\d{1,15}$/.test(token))
    .slice(0, wordsMax)
    .map((token) => ({ value: Number(token), isWholeReference: token === reference }));
  return {
    billIds: [...new Set(billIds)],
    // Banks print in capitals what customers typed in small letters.
    words: [...new Set(words.flatMap((word) => [word, word.toUpperCase()]))],
    numbers,
  };
}

function isNumberLike(word: string): boolean {
  return word.length <= wordLengthMax && /\d/.test(word);
}

/** `RF18` and what follows is a creditor reference: its body is the reference. */
function withoutCreditorPrefix(token: string): string {
  return token.replace(/^RF\d{2}/i, '');
}

/** Digits that a bank printed in groups. */
function digitRuns(source: string): string[] {
  const runs = source.match(/\d[\d ./-]*\d/g) ?? [];
  return runs.map((run) => run.replace(/\D/g, ''));
}

/** A number that hardly appears in a text by chance. */
export function isTelling(word: string): boolean {
  return word.length >= 6 || (/\p{L}/u.test(word) && word.length >= 4);
}

const titles = new Set(['mr', 'mrs', 'ms', 'dr', 'the', 'and', 'ltd', 'llc', 'gmbh', 'pvt', 'inc']);

/** Letters of one case, without signs and titles. */
function nameWords(name: string | null): string[] {
  const plain = (name ?? '').normalize('NFKC').toLowerCase();
  const words = plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1);
  return [...new Set(words.filter((word) => !titles.has(word)))];
}

/** Whether all words of the shorter name are in the longer one, whatever their order. */
export function areSimilar(a: string | null, b: string | null): boolean {
  const [shorter = [], longer = []] = [nameWords(a), nameWords(b)].sort(
    (x, y) => x.length - y.length,
  );
  const letters = shorter.join('').length;
  return letters >= 4 && shorter.every((word) => longer.includes(word));
}

/** The two longest words, by which a name is looked for; undefined if it says too little. */
export function searchedWords(name: string | null): [string, string] | undefined {
  const words = nameWords(name)
    .filter((word) => word.length >= 3)
    .sort((a, b) => b.length - a.length);
  const [first, second = first] = words;
  return first === undefined || second === undefined ? undefined : [first, second];
}

/** By which a clerk's decision about a payer is remembered. */
export function learntKeys(line: {
  payer: string | null;
  payer_account: string | null;
}): { kind: 'Account' | 'Name'; key: string }[] {
  const account = line.payer_account?.toUpperCase().replace(/[^A-Z0-9]/g, '') ?? '';
  const name = nameWords(line.payer).toSorted().join(' ');
  return [
    ...(account === '' ? [] : [{ kind: 'Account' as const, key: account }]),
    ...(name.length < 4 ? [] : [{ kind: 'Name' as const, key: name }]),
  ];
}
