// How long files, functions and lines may be.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longTestFiles, longTestFunctions } from './support/long-tests.ts';
import { functionsOf, readSources, type Source, sourceOf } from './support/source.ts';

const generated = new Set(['sdk/routes.ts']);
const fileLinesMax = 400;
const functionLinesMax = 70;
const lineLengthMax = 100;

function none(faults: string[], rule: string): void {
  assert.deepEqual(faults, [], `${rule}:\n  ${faults.join('\n  ')}\n`);
}

test('files, functions and lines are short', () => {
  const written = [...readSources('src'), ...readSources('sdk')].filter(
    ({ path }) => !generated.has(path),
  );
  const faults = written.flatMap((source) => {
    const { path, lines } = source;
    const long = lines.flatMap((line, index) =>
      [...line].length > lineLengthMax
        ? [`${path}:${index + 1} has ${[...line].length} characters`]
        : [],
    );
    return [...long, ...lengthFaults(source, fileLinesMax, functionLinesMax)];
  });
  const rule = `files ${fileLinesMax}, functions ${functionLinesMax}, lines ${lineLengthMax}`;
  none(faults, rule);
});

function lengthFaults(source: Source, fileMax: number, functionMax: number): string[] {
  const { path, lines } = source;
  const functions = functionsOf(source)
    // A suite is a list of tests, each of which is measured.
    .filter((block) => block.lines > functionMax && block.name !== 'describe')
    .map((block) => `${path}:${block.line} ${block.name} has ${block.lines} lines`);
  const isLong = lines.length - 1 > fileMax;
  return [...functions, ...(isLong ? [`${path} has ${lines.length - 1} lines`] : [])];
}

test('files and functions of tests are short, but for a list that only shrinks', () => {
  const tests = readSources('test');
  const faults = tests.flatMap((source) => {
    const { [source.path]: fileMax = fileLinesMax } = longTestFiles;
    const { [source.path]: functionMax = functionLinesMax } = longTestFunctions;
    return lengthFaults(source, fileMax, functionMax);
  });
  none(faults, `files ${fileLinesMax}, functions ${functionLinesMax}`);
  const long = new Set(
    tests
      .filter((source) => lengthFaults(source, fileLinesMax, functionLinesMax).length > 0)
      .map(({ path }) => path),
  );
  const listed = [...Object.keys(longTestFiles), ...Object.keys(longTestFunctions)];
  none(
    listed.filter((path) => !long.has(path)),
    'is short by now, and leaves the list of test/support/long-tests.ts',
  );
});

test('the measure of functions sees plain, async, arrow and method bodies', () => {
  const body = '  x();\n'.repeat(80);
  const shapes = {
    plain: `function plain(a: number) {\n${body}}\n`,
    typed: `export async function typed(\n  a: { b: 1 },\n): Promise<{ c: 1 }> {\n${body}}\n`,
    arrow: `const arrow = (a: number) => {\n${body}};\n`,
    method: `const x = {\n  method(a: number) {\n${body.replaceAll('  x', '    x')}  },\n};\n`,
  };
  for (const [name, text] of Object.entries(shapes)) {
    const lengths = functionsOf(sourceOf('src/x.ts', text)).map((block) => block.lines);
    assert.ok(
      lengths.some((lines) => lines > functionLinesMax),
      `${name}: ${lengths}`,
    );
  }
  assert.deepEqual(functionsOf(sourceOf('src/x.ts', `if (a) {\n${body}}\n`)), []);
});
