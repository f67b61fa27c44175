// The commands of a guide in docs, and what it says that they print.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { quickProgram } from './quick-node.ts';
import type { RunningProgram } from './running-program.ts';
import { root } from './source.ts';

type Block = { script: string; shown: string[] };

/** Each block of commands with the lines that the next block of text promises. */
function blocksOf(guide: string): Block[] {
  const text = readFileSync(join(root, 'docs', `${guide}.md`), 'utf8');
  const blocks: Block[] = [];
  for (const [, kind, content = ''] of text.matchAll(/```(sh|text)\n([\s\S]*?)```/g)) {
    if (kind === 'sh') blocks.push({ script: content, shown: [] });
    else blocks.at(-1)?.shown.push(...content.split('\n').filter((line) => line !== ''));
  }
  assert.ok(blocks.length > 0, `docs/${guide}.md has no commands`);
  return blocks;
}

const mark = '@@@ block ';
/** What is installed already need not be looked through for each command. */
const printedCommand = 'npm run --silent billwright --';
const quickCommand = [process.execPath, ...quickProgram, 'src/main.ts'].join(' ');

/** Runs all commands of a guide in one shell, and asserts that they print what it shows. */
export async function runGuide(program: RunningProgram, guide: string): Promise<string> {
  const blocks = blocksOf(guide);
  const script = blocks.map((block, index) => `echo '${mark}${index}'\n${block.script}`).join('\n');
  const output = await program.run(script.replaceAll(printedCommand, quickCommand));
  const printed = output.split(new RegExp(`^${mark}\\d+\n`, 'm')).slice(1);
  for (const [index, { shown }] of blocks.entries()) {
    for (const line of shown) {
      assert.ok(printed[index]?.includes(line), `docs/${guide}.md shows: ${line}\n${output}`);
    }
  }
  return output;
}
