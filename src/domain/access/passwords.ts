// Passwords that are too easy to guess. Length alone is not enough: the rest of a password counts,
// without runs, repetitions and common words.
import { AppError } from '../../base/errors.ts';
import { normalSecret } from '../../base/secrets.ts';
import { commonWords } from './common-words.ts';
import { demoLogin } from './demo-login.ts';

export const passwordLengthMin = 12;
/** Longer ones would only make the server work harder; no person types them. */
export const passwordLengthMax = 256;

const distinctMin = 5;
/** Characters that must be left of a password without its common parts. */
const ownMin = 5;
/** A shorter name is part of too many words. */
const nameLengthMin = 4;
const runLengthMin = 3;

/** Neighbours in the alphabet, among digits and on keyboards, read in both directions. */
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiop[]',
  'asdfghjkl;',
  'zxcvbnm,./',
  'qwertzuiop',
  'yxcvbnm',
  'azertyuiop',
  'qsdfghjklm',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/',
  '1q2w3e4r5t6y7u8i9o0p',
  'qazwsxedcrfvtgbyhnujmikolp',
  '!@#$%^&*()_+',
];
const runs = rows.flatMap((row) => [row, [...row].reverse().join('')]);

/** What is wrong with a password, in words for the person who chose it. */
export function passwordFault(password: string, names: readonly string[]): string | undefined {
  const text = normalSecret(password);
  if ([...text].length < passwordLengthMin) {
    return `The password needs at least ${passwordLengthMin} characters.`;
  }
  const plain = text.normalize('NFKC').toLowerCase();
  const seen = plain.replace(/[\s\p{Default_Ignorable_Code_Point}\p{C}]/gu, '');
  if (new Set(seen).size < distinctMin) {
    return `The password needs at least ${distinctMin} different characters besides blanks.`;
  }
  if (text === demoLogin.password) return 'This is the password of the demo. Choose another one.';
  const known = namesIn(names).find((name) => plain.includes(name));
  if (known !== undefined) {
    return `The password contains the name '${known}'. Choose one that does not.`;
  }
  if (isRepeated(plain)) return 'The password repeats a shorter text. Choose one that does not.';
  if (ownPart(plain).length < ownMin) {
    return (
      'The password is made of common words, years or neighbouring keys. ' +
      'Use several words that do not belong together.'
    );
  }
  return undefined;
}

export function assertStrong(password: string, names: readonly string[], field: string): void {
  const message = passwordFault(password, names);
  if (message !== undefined) throw new AppError('PASSWORD_TOO_WEAK', { message, field });
}

/** User name, e-mail address and workspace, and what comes before the @ of an address. */
function namesIn(names: readonly string[]): string[] {
  const all = names.flatMap((name) => [name, name.split('@')[0] ?? '']);
  const plain = all.map((name) => name.trim().normalize('NFKC').toLowerCase());
  return plain.filter((name) => [...name].length >= nameLengthMin);
}

/** A text of up to half the length, again and again, the last time perhaps cut off. */
function isRepeated(text: string): boolean {
  for (let length = 1; length <= text.length / 2; length += 1) {
    if (text.slice(length) === text.slice(0, -length)) return true;
  }
  return false;
}

/** Letters that people put figures and signs for. */
const disguises: Record<string, string> = {
  ...{ '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', $: 's', '!': 'i' },
};

/** The password without common words, also disguised ones, years, runs and what is between them. */
function ownPart(text: string): string {
  let left = text;
  let shown = undisguised(text);
  for (const word of commonWords) {
    for (let at = shown.indexOf(word); at !== -1; at = shown.indexOf(word)) {
      // A gap stays, so that nothing new is put together from the two sides.
      left = `${left.slice(0, at)} ${left.slice(at + word.length)}`;
      shown = `${shown.slice(0, at)} ${shown.slice(at + word.length)}`;
    }
  }
  return withoutRuns(left.replace(/(?:19|20)\d\d/g, ' ')).replace(/[^\p{L}\p{N}]|(.)(?=\1)/gu, '');
}

function undisguised(text: string): string {
  return text.replace(/[013457@$!]/g, (char) => disguises[char] ?? char);
}

function withoutRuns(text: string): string {
  let left = '';
  for (let at = 0; at < text.length; ) {
    const length = runAt(text, at);
    if (length < runLengthMin) left += text[at];
    at += length < runLengthMin ? 1 : length;
  }
  return left;
}

/** Length of the longest run that begins here. */
function runAt(text: string, at: number): number {
  let length = 1;
  while (at + length < text.length) {
    const longer = text.slice(at, at + length + 1);
    if (!runs.some((run) => run.includes(longer))) break;
    length += 1;
  }
  return length;
}
