// The program's own source as text, for the tests that hold its rules.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A tagged or plain template, with every `${...}` of it kept as it was written. */
export type Template = { tag: string; text: string; line: number };

export type Source = {
  /** From the root, with forward slashes: `src/base/errors.ts` */
  path: string;
  lines: string[];
  /** The text with comments and the insides of strings blanked, line by line as long as before. */
  code: string;
  templates: Template[];
  /** The insides of quoted strings. */
  strings: { text: string; line: number }[];
  /** Files of our own that it imports, by path. */
  imports: string[];
  /** Packages that it imports. */
  packages: string[];
  /** Names that it imports from files of our own, as `path name`; `path *` for all of a file. */
  taken: string[];
};

export function readSources(folder: string, ending = /\.m?[jt]s$/): Source[] {
  return filesIn(folder)
    .filter((path) => ending.test(path))
    .sort()
    .map(readSource);
}

/** Without hidden folders: other tests write there, and remove it meanwhile. */
export function filesIn(folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.name.startsWith('.')) return [];
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

function readSource(path: string): Source {
  return sourceOf(path, readFileSync(join(root, path), 'utf8'));
}

export function sourceOf(path: string, text: string): Source {
  const scanned = scan(text);
  const named = [...text.matchAll(/^(?:import|export)\b[^'"`;]*?from\s+'([^']+)'/gm)];
  const bare = [...text.matchAll(/^import\s+'([^']+)'/gm)];
  const dynamic = [...scanned.code.matchAll(/\bimport\(/g)].map((match) =>
    /^\s*'([^']+)'/.exec(text.slice(match.index + 'import('.length)),
  );
  const targets = [...named, ...bare, ...dynamic].flatMap((match) => match?.[1] ?? []);
  const isOwn = (target: string) => target.startsWith('.');
  const pathOf = (target: string) => join(dirname(path), target).split(sep).join('/');
  const taken = named.flatMap(([statement, target = '']) =>
    namesTaken(statement).map((name) => `${pathOf(target)} ${name}`),
  );
  const whole = dynamic.flatMap((match) => (match?.[1] ? [`${pathOf(match[1])} *`] : []));
  return {
    path,
    lines: text.split('\n'),
    ...scanned,
    imports: targets.filter(isOwn).map(pathOf),
    packages: targets.filter((target) => !isOwn(target)),
    taken: [...taken, ...whole],
  };
}

function namesTaken(statement: string): string[] {
  const list = /\{([^}]*)\}/.exec(statement)?.[1];
  if (list === undefined) return ['*'];
  return list.split(',').flatMap((item) => /^\s*(?:type\s+)?(\w+)/.exec(item)?.[1] ?? []);
}

type Scanned = Pick<Source, 'code' | 'templates' | 'strings'>;

// A scanner, not a parser: it knows comments, strings, templates and regular expressions, which is
// all that is needed not to take a word in a sentence for a word of the program.
function scan(text: string): Scanned {
  const templates: Template[] = [];
  const strings: Scanned['strings'] = [];
  const code = [...text];
  const blank = (from: number, to: number) => {
    for (let i = from; i < to; i += 1) if (code[i] !== '\n') code[i] = ' ';
  };
  const lineAt = (index: number) => text.slice(0, index).split('\n').length;
  let index = 0;
  /** Walks code until the closing brace of a template's expression, or the end of the file. */
  function walk(isExpression: boolean): void {
    let depth = 0;
    while (index < text.length) {
      const char = text[index];
      const pair = text.slice(index, index + 2);
      if (pair === '//' || pair === '/*') skipComment(pair);
      else if (char === "'" || char === '"') skipString(char);
      else if (char === '`') skipTemplate();
      else if (char === '/' && isRegularExpression(text, index))
        skipTo(endOfRegularExpression(text, index));
      else {
        if (char === '{') depth += 1;
        if (char === '}') {
          if (isExpression && depth === 0) return;
          depth -= 1;
        }
        index += 1;
      }
    }
  }
  function skipTo(end: number): void {
    blank(index, end);
    index = end;
  }
  function skipComment(pair: string): void {
    const end = pair === '//' ? text.indexOf('\n', index) : text.indexOf('*/', index) + 2;
    skipTo(end < index ? text.length : end);
  }
  function skipString(quote: string): void {
    const from = index + 1;
    index = from;
    while (text[index] !== quote && index < text.length) index += text[index] === '\\' ? 2 : 1;
    strings.push({ text: text.slice(from, index), line: lineAt(from) });
    blank(from, index);
    index += 1;
  }
  function skipTemplate(): void {
    const from = index + 1;
    const tag = /([\w.]+)(?:<(?:[^`<>]|<[^`<>]*>)*>)?$/.exec(
      text.slice(Math.max(0, from - 300), from - 1),
    )?.[1];
    index = from;
    let plainFrom = from;
    while (text[index] !== '`' && index < text.length) {
      if (text[index] === '\\') index += 2;
      else if (text.startsWith('${', index)) {
        blank(plainFrom, index);
        index += 2;
        walk(true);
        plainFrom = index;
        index += 1;
      } else index += 1;
    }
    blank(plainFrom, index);
    templates.push({ tag: tag ?? '', text: text.slice(from, index), line: lineAt(from) });
    index += 1;
  }
  walk(false);
  return { code: code.join(''), templates, strings };
}

function endOfRegularExpression(text: string, from: number): number {
  let inClass = false;
  let index = from + 1;
  while (index < text.length && (inClass || text[index] !== '/')) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === '[') inClass = true;
    else if (text[index] === ']') inClass = false;
    index += 1;
  }
  return index + 1;
}

/** A slash begins a regular expression where a value is expected, and divides after one. */
function isRegularExpression(text: string, index: number): boolean {
  const before = text.slice(Math.max(0, index - 40), index).trimEnd();
  return /(?:^|[=(,:[!&|?{};>]|\breturn)$/.test(before);
}

export type Block = { name: string; line: number; lines: number };

/**
 * Functions, methods and arrow functions with a body. Relies on the formatter: a body ends at the
 * first line that begins with a brace at the indentation of the line where it began.
 */
export function functionsOf(source: Source): Block[] {
  const lines = source.code.split('\n');
  const found: Block[] = [];
  for (let end = 0; end < lines.length; end += 1) {
    if (!lines[end]?.trimEnd().endsWith('{')) continue;
    let start = end;
    while (/^\s*[)}\]]/.test(lines[start] ?? '')) {
      const indent = indentOf(lines[start]);
      do start -= 1;
      while (start > 0 && (indentOf(lines[start]) > indent || lines[start]?.trim() === ''));
    }
    const header = lines
      .slice(start, end + 1)
      .join(' ')
      .trim();
    if (!isFunction(header)) continue;
    const indent = indentOf(lines[start]);
    const close = lines.findIndex(
      (line, i) => i > end && indentOf(line) === indent && /^\s*\}/.test(line),
    );
    const name = /(?:function\*?\s+|const\s+)?([#\w]+)/.exec(header.replace(modifiers, ''))?.[1];
    found.push({ name: name ?? '', line: start + 1, lines: close - start + 1 });
  }
  return found;
}

const modifiers = /^(?:(?:export|default|async|static|readonly|override|get|set)\s+)*/;
const statements = /^(?:\}|if|for|while|switch|catch|else|do|try|finally|return\s*\{|type|class)\b/;

function isFunction(header: string): boolean {
  const plain = header.replace(modifiers, '');
  if (/\bfunction\b/.test(plain) || /=>\s*\{$/.test(plain)) return true;
  return (
    !statements.test(plain) &&
    !plain.startsWith('}') &&
    /^[#\w]+(?:<.*>)?\(.*\{$/.test(plain) &&
    /\)\s*(?::[^=]*)?\{$/.test(plain)
  );
}

function indentOf(line: string | undefined): number {
  return /^ */.exec(line ?? '')?.[0].length ?? 0;
}
