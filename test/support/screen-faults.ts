// What no screen may show: words of programs, texts without a translation, a page that is too wide.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { eventTypes } from '../../src/domain/events/events-store.ts';
import { operations } from '../../src/operations/catalogue.ts';
import { root } from './source.ts';

export const phone = { width: 360, height: 740 };
export const desk = { width: 1440, height: 900 };

/** Words that the API sends for states and kinds, such as PartiallyPaid. */
const apiWords = new Set(
  operations.flatMap(([, { request, response }]) => [...wordsIn(request), ...wordsIn(response)]),
);
/** Names that are the same in every language; a receiver of events is written for those of types. */
const names = new Set<string>(['WhatsApp', 'CSV', 'PDF', 'URL', ...eventTypes]);
const compound = /^[A-Za-z]*[a-z][A-Z]\w*$/;

function wordsIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(wordsIn);
  if (typeof schema !== 'object' || schema === null) return [];
  const values = 'enum' in schema && Array.isArray(schema.enum) ? schema.enum : [];
  return [
    ...values.filter((value) => typeof value === 'string'),
    ...Object.values(schema).flatMap(wordsIn),
  ];
}

/** `area.name` of every text of the console. */
const keys = new Set(
  globSync('console/language/en/*.json', { cwd: root }).flatMap((name) =>
    keysIn(JSON.parse(readFileSync(join(root, name), 'utf8'))),
  ),
);

function keysIn(texts: object, path = ''): string[] {
  return Object.entries(texts).flatMap(([name, text]) =>
    typeof text === 'string' ? [`${path}${name}`] : keysIn(text, `${path}${name}.`),
  );
}

const areas = new Set([...keys].filter((key) => key.includes('.')).map((key) => key.split('.')[0]));
const brokenWords = /\bundefined\b|\bNaN\b|\bInvalid Date\b|\[object|\{\{|\}\}/;

/**
 * The faults of the texts in view. In another language than English every word of the API is one,
 * in English only those that are no English, such as PartiallyPaid.
 */
export async function textFaults(page: Page, language: 'en' | 'ur'): Promise<string[]> {
  const texts = (await page.evaluate(shownTexts)) as string[];
  return texts.flatMap((text) => {
    const faults: string[] = [];
    if (brokenWords.test(text)) faults.push(`broken: ${text}`);
    for (const word of text.split(/[\s,·()–:;]+/)) {
      const [area = ''] = word.split('.');
      const isKey = /^[a-z]\w*(\.\w+)+$/.test(word) && areas.has(area) && !isFormula(word);
      if (isKey) faults.push(`untranslated: ${word} in ${text}`);
      const isWord = compound.test(word) && apiWords.has(word) && !names.has(word);
      if (isWord) faults.push(`word of the API: ${text}`);
    }
    const isWhole = text
      .split(/ [·–] |, /)
      .some((part) => apiWords.has(part.trim()) && !names.has(part.trim()));
    if (language !== 'en' && isWhole && /[A-Za-z]{2}/.test(text)) {
      faults.push(`not translated: ${text}`);
    }
    return faults;
  });
}

/** Names in formulas, which people type: term.days, usage.energy. */
function isFormula(word: string): boolean {
  return /^(term|usage|plan|history|connection|party|account|bill)\./.test(word) && !keys.has(word);
}

/** Pixels by which the page is wider than its window. */
export async function excessWidth(page: Page): Promise<number> {
  const wide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  return Number(await page.evaluate(wide));
}

/** What the function below uses of the page, in which it runs. */
type PageNode = {
  nodeValue: string | null;
  parentElement: { closest(selector: string): unknown; tagName: string } | null;
};
declare const document: {
  body: unknown;
  createTreeWalker(root: unknown, what: number): { nextNode(): PageNode | null };
};

/** Every text but those that people or programs wrote: formulas, code, values of the audit trail. */
function shownTexts(): string[] {
  const written = 'script, style, noscript, pre, code, textarea, .cm-editor, [translate=no]';
  const walker = document.createTreeWalker(document.body, 4);
  const texts: string[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.nodeValue ?? '').trim();
    if (text !== '' && !node.parentElement?.closest(written)) texts.push(text);
  }
  return [...new Set(texts)];
}
