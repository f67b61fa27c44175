import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './source.ts';

export const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The commands of README.md between two marks. */
export function readmeCommands(mark: string): string {
  const block = new RegExp(
    `<!-- ${mark}:begin -->\\s*\`\`\`sh\\n([\\s\\S]*?)\`\`\`\\s*<!-- ${mark}:end -->`,
  );
  const found = block.exec(readme)?.[1];
  assert.ok(found, `README.md has no commands between the marks ${mark}`);
  return found;
}
