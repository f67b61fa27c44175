// The names people log in with. Two names that look alike are one name: what is compared is a key.

/** As a user name is kept and shown: composed, in lower case, without blanks around it. */
export function usernameOf(text: string): string {
  return text.trim().normalize('NFKC').toLowerCase().normalize('NFKC');
}

/** What two names have in common if a person would take one for the other. */
export function nameKey(text: string): string {
  // By way of upper case, which also unites the German sharp s with ss and the final sigma with σ.
  const folded = usernameOf(text).toUpperCase().toLowerCase().replaceAll('ς', 'σ');
  return folded.normalize('NFKC').replace(/[^\x20-\x7e]/gu, (char) => latinTwins.get(char) ?? char);
}

/**
 * Letters of other alphabets that look like Latin ones, so that a name of nothing but those is
 * found out too: names that mix alphabets are refused. From the confusables of Unicode (UTS 39).
 */
const latinTwins = new Map(
  [
    // Cyrillic
    ...['аa', 'еe', 'оo', 'рp', 'сc', 'уy', 'хx', 'ѕs', 'іi', 'јj', 'ԁd', 'ԛq', 'ԝw', 'һh', 'ӏl'],
    ...['кk', 'мm', 'тt', 'вb', 'нh', 'гr', 'пn', 'ѵv', 'ҽe', 'ԍg', 'ьb'],
    // Latin
    ...['ɡg', 'ɑa'],
    // Greek
    ...['αa', 'οo', 'ρp', 'νv', 'υu', 'ιi', 'κk', 'τt', 'γy', 'χx', 'ηn', 'ωw', 'εe', 'βb', 'μu'],
    // Armenian
    ...['օo', 'ո' + 'n', 'սu', 'հh', 'ցg', 'զq', 'յj', 'ք' + 'p', 'լl'],
    // Digits of Arabic and of Persian and Urdu, of which several look the same
    ...['٠0', '١1', '٢2', '٣3', '٤4', '٥5', '٦6', '٧7', '٨8', '٩9'],
    ...['۰0', '۱1', '۲2', '۳3', '۴4', '۵5', '۶6', '۷7', '۸8', '۹9'],
    // Letters that Arabic writes in one way, Persian and Urdu in another
    ...['كک', 'يی', 'ىی', 'هہ', 'ةہ'],
  ].map((pair): [string, string] => [pair.slice(0, -1), pair.slice(-1)]),
);

/** Letters, the marks on them, digits, and what an ASCII keyboard has. */
const plainChar = /^[\p{L}\p{M}\p{Nd}\x20-\x7e]$/u;
/** Also among letters: fillers of Korean, selectors of variants. */
const unseenChar = /^[\p{Default_Ignorable_Code_Point}\p{Z}\p{C}]$/u;

/** Alphabets that may be mixed in one name; any other alphabet must be the only one. */
const together = new Set(['Latin', 'Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo']);
const alphabets = [
  ...together,
  ...['Cyrillic', 'Greek', 'Armenian', 'Arabic', 'Hebrew', 'Devanagari', 'Bengali', 'Gurmukhi'],
  ...['Gujarati', 'Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Thai', 'Lao'],
  ...['Tibetan', 'Myanmar', 'Georgian', 'Ethiopic', 'Khmer', 'Mongolian', 'Thaana', 'Tifinagh'],
];
const alphabetForms = alphabets.map((name): [string, RegExp] => [
  name,
  new RegExp(`^\\p{Script=${name}}$`, 'u'),
]);

function alphabetOf(char: string): string | undefined {
  if (char <= '\x7e') return /[A-Za-z]/.test(char) ? 'Latin' : undefined;
  if (!/\p{L}/u.test(char)) return undefined;
  return alphabetForms.find(([, form]) => form.test(char))?.[0] ?? 'another alphabet';
}

/** What makes a user name one that people cannot tell from another, in words for the caller. */
export function usernameFault(text: string): string | undefined {
  let first: string | undefined;
  for (const char of text.trim().normalize('NFKC')) {
    if (char !== ' ' && unseenChar.test(char)) {
      return `The user name contains ${codeOf(char)}, which cannot be seen. Leave it out.`;
    }
    if (!plainChar.test(char)) {
      return `The user name contains '${char}'. Use letters, digits and ASCII signs.`;
    }
    const alphabet = alphabetOf(char);
    if (alphabet === undefined) continue;
    first ??= alphabet;
    if (alphabet === first || (together.has(alphabet) && together.has(first))) continue;
    return (
      `The user name has letters of ${first} and, with '${char}' (${codeOf(char)}), of ` +
      `${alphabet}, which look alike. Use one alphabet.`
    );
  }
  return undefined;
}

function codeOf(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
