// Messages, comments, docs and test names are plain English of the billing trade. This test holds a
// short list of words that name no subject or need decoding; docs/glossary.md has those to use.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { filesIn, readSources, root, type Source, sourceOf } from './support/source.ts';

const banned = /\b(?:hangs|stands|is told|nobody|somebody|whom|crimes?)\b/i;
/** A sentence must name its subject: the customer, the operator, the caller. */
const withoutSubject = /(?:^|[.:;!?]["')]?\s+|\*\*|\|\s*)Whom?\b/;
/** This file has the words as examples. */
const own = 'test/plain-words.test.ts';

const code = ['src', 'sdk', 'bench', 'test'];
const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'];

type Prose = { path: string; line: number; text: string };

/** Comments as whole paragraphs, so that a phrase is found across the end of a line. */
function commentsOf({ path, lines }: Source): Prose[] {
  const found: Prose[] = [];
  let open: Prose | undefined;
  for (const [index, line] of lines.entries()) {
    const text = /^\s*(?:\/\*\*|\/\/|\*\/|\*|--) ?(.*)$/.exec(line)?.[1];
    const last = /\S\s+\/\/ (.*)$/.exec(line)?.[1];
    if (text === undefined || text.trim() === '') open = undefined;
    if (text !== undefined && open === undefined) {
      open = { path, line: index + 1, text: '' };
      found.push(open);
    }
    if (text !== undefined && open) open.text += ` ${text.replace(/\*\/\s*$/, '')}`;
    else if (last !== undefined) found.push({ path, line: index + 1, text: last });
  }
  return found;
}

/** Strings of several words: messages, descriptions, test names. SQL and single words are not prose. */
function sentencesOf({ path, strings, templates }: Source): Prose[] {
  const plain = templates.filter(({ tag }) => !/sql$/i.test(tag));
  return [...strings, ...plain]
    .map(({ text, line }) => ({ path, line, text: text.replace(/\$\{[^}]*\}/g, '…') }))
    .filter(({ text }) => text.trim().includes(' '));
}

function paragraphsOf(path: string, page: string): Prose[] {
  const prose = page.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, ''));
  return prose.split('\n').map((text, index) => ({ path, line: index + 1, text }));
}

function faultsOf(prose: readonly Prose[]): string[] {
  return prose.flatMap(({ path, line, text }) => {
    const plain = text.replace(/`[^`]*`/g, '`').trim();
    const isString = /^who(?:m|ever)?\b/.test(plain);
    const found = banned.exec(plain)?.[0] ?? withoutSubject.exec(plain)?.[0];
    const word = found ?? (isString ? 'who' : undefined);
    return word === undefined
      ? []
      : [`${path}:${line} has "${word.trim()}": ${plain.slice(0, 90)}`];
  });
}

test('messages, comments and test names have no word that readers have to decode', () => {
  const sources = code.flatMap((folder) => readSources(folder)).filter(({ path }) => path !== own);
  const prose = sources.flatMap((source) => [...commentsOf(source), ...sentencesOf(source)]);
  assert.deepEqual(faultsOf(prose), []);
});

test('docs have no word that readers have to decode', () => {
  const all = [...pages, ...filesIn('docs'), ...filesIn('src').filter((it) => it.endsWith('.md'))];
  const texts = all.filter((path) => path.endsWith('.md'));
  const read = (path: string) => paragraphsOf(path, readFileSync(join(root, path), 'utf8'));
  assert.deepEqual(faultsOf(texts.flatMap(read)), []);
});

test('a planted sentence is found in a comment, a message, a test name and a page', () => {
  const planted = [
    '/** Whom the bill\n * is for. */\n',
    '// The price of a plan that is\n// told once.\n',
    "throw new AppError('DUPLICATE', { message: 'The input stands twice' });\n",
    "test('who leaves is billed', () => {});\n",
    'const message = `Meter 7 hangs elsewhere`;\n',
    'pay(); // Nobody pays it.\n',
  ];
  for (const text of planted) {
    const source = sourceOf('src/x.ts', text);
    assert.equal(faultsOf([...commentsOf(source), ...sentencesOf(source)]).length, 1, text);
  }
  assert.equal(faultsOf(paragraphsOf('docs/x.md', 'Read it. Who may post it?\n')).length, 1);
  const fine = sourceOf('src/x.ts', "/** Calls `nobody`. */\nconst somebody = 'nobody';\n");
  assert.deepEqual(faultsOf([...commentsOf(fine), ...sentencesOf(fine)]), []);
});
