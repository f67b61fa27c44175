// The rules of the console's folders, read from its sources.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { screens } from '../support/screens.ts';

const root = fileURLToPath(new URL('../../console', import.meta.url));
const files = globSync('**/*.{ts,tsx}', { cwd: root, exclude: ['dist/**'] }).map((name) => ({
  name,
  text: readFileSync(join(root, name), 'utf8'),
}));

/** The map of the console; the routes in entry.tsx are the parents of the others. */
const map = [/^routes\/entry/, /^routes\/(?!entry)/, /^routes\.tsx/]
  .flatMap((place) => files.filter(({ name }) => place.test(name)))
  .map(({ text }) => text)
  .join('\n');

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((match) => match[1] ?? '');
}

test('the console uses the public client and nothing of the server', () => {
  assert.ok(files.length > 20);
  for (const { name, text } of files) {
    const foreign = importsOf(text).filter((path) => /(^|\/)src\//.test(path));
    assert.deepEqual(foreign, [], name);
  }
});

test('screens do not use each other, and parts use no screen', () => {
  for (const { name, text } of files) {
    const [folder, screen] = name.split('/');
    if (folder !== 'screens' && folder !== 'parts') continue;
    const others = importsOf(text).filter((path) => {
      const target = /\/screens\/([^/]+)\//.exec(path)?.[1];
      return target !== undefined && target !== screen;
    });
    assert.deepEqual(others, [], name);
  }
});

test('every visible text is in language/, in both languages', () => {
  for (const { name, text } of files.filter((file) => file.name.endsWith('.tsx'))) {
    const shown = [...text.matchAll(/>\s*([A-Za-z][A-Za-z ,.']+)\s*<\//g)].map((match) => match[1]);
    assert.deepEqual(
      shown.filter((words) => words?.trim() !== 'Billwright'),
      [],
      name,
    );
    assert.doesNotMatch(text, /(?:label|title|placeholder|aria-label)="[A-Za-z]/, name);
  }
  assert.deepEqual(keysOf('ur'), keysOf('en'));
});

test('no two files of texts have the same area, or one would hide the other', () => {
  const areas = globSync('language/en/*.json', { cwd: root }).flatMap((name) =>
    Object.keys(JSON.parse(readFileSync(join(root, name), 'utf8'))),
  );
  const twice = areas.filter((area, index) => areas.indexOf(area) !== index);
  assert.deepEqual(twice, []);
});

function keysOf(language: string): string[] {
  const keys = (part: object, path: string): string[] =>
    Object.entries(part).flatMap(([key, value]) =>
      typeof value === 'string' ? `${path}${key}` : keys(value, `${path}${key}.`),
    );
  return globSync(`language/${language}/*.json`, { cwd: root })
    .sort()
    .flatMap((name) =>
      keys(JSON.parse(readFileSync(join(root, name), 'utf8')), `${basename(name)} `),
    );
}

test('every text that a screen names exists', () => {
  const known = new Set(
    keysOf('en').map((key) => key.replace(/^\S+ /, '').replace(/_(one|other)$/, '')),
  );
  for (const { name, text } of files) {
    const named = [...text.matchAll(/\bt\('([^']+)'/g)].map((match) => match[1] ?? '');
    assert.deepEqual(
      named.filter((key) => !known.has(key)),
      [],
      name,
    );
  }
});

test('every screen declares its permission', () => {
  const screens = [...map.matchAll(/screens\/([\w-]+)\//g)].filter((match) => match[1] !== 'login');
  assert.equal([...map.matchAll(/\.\.\.needs\(/g)].length, screens.length);
});

test('the sweeps over all screens know every route and its permission', () => {
  const paths = new Map([
    ['root', ''],
    ['inside', ''],
  ]);
  const parts = [...map.matchAll(/const (\w+) = createRoute\(\{([\s\S]*?)\n\}\);/g)];
  const routes = parts.flatMap(([, name = '', text = '']) => {
    const parent = /getParentRoute: \(\) => (\w+)/.exec(text)?.[1] ?? '';
    const path = /path: '([^']+)'/.exec(text)?.[1];
    if (path === undefined) return [];
    const full = `${paths.get(parent)}${path}`.replace(/(.)\/$/, '$1');
    paths.set(name, full);
    const isFrame = map.includes(`getParentRoute: () => ${name},`);
    return isFrame ? [] : [`${full} ${/needs\('([^']+)'\)/.exec(text)?.[1] ?? null}`];
  });
  assert.ok(routes.length > 30);
  assert.deepEqual(
    screens.map(({ route, permission }) => `${route} ${permission}`).toSorted(),
    routes.toSorted(),
  );
});
