// Every screen has a story, bad input and an empty state that a test proves, and the table of
// test/browser/README.md says which.
import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { proofTable, reasons, screenProofs, sweeps } from '../support/screen-proofs.ts';
import { screens } from '../support/screens.ts';
import { root } from '../support/source.ts';

const page = join(root, 'test/browser/README.md');
const begins = '<!-- made by test/console/proofs.test.ts -->\n';
const files = globSync('test/{browser,console}/*.test.ts', { cwd: root })
  .sort()
  .map((name) => ({ name, text: readFileSync(join(root, name), 'utf8') }));

/** The file that has the test; undefined if none has it. */
function fileOf(name: string): string | undefined {
  return files.find(
    ({ text }) => text.includes(`test('${name}'`) || text.includes(`test(\`${name}\``),
  )?.name;
}

test('every screen is proven by tests that exist', () => {
  const routes = screens.map(({ route }) => route);
  assert.deepEqual(Object.keys(screenProofs).sort(), routes.toSorted());
  const named = Object.values(screenProofs).flatMap((one) => Object.values(one));
  const wanted = [...named.filter((name) => !reasons.includes(name)), ...Object.values(sweeps)];
  assert.deepEqual(
    wanted.filter((name) => fileOf(name) === undefined),
    [],
  );
});

test('the page about the tests in a browser has the table of today', () => {
  const text = readFileSync(page, 'utf8');
  const [before = ''] = text.split(begins);
  const expected = `${before}${begins}\n${proofTable((name) => fileOf(name) ?? '')}\n`;
  if (process.env.WRITE_PROOFS === '1') writeFileSync(page, expected);
  else assert.equal(text, expected, 'run it with WRITE_PROOFS=1');
});
