// The guides of docs: their commands run as they are printed, and print what the guides show.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runGuide } from './support/guide.ts';
import { startProgram } from './support/running-program.ts';
import { root } from './support/source.ts';

// The guides bill October 2026, early in November.
const from = Temporal.Instant.from('2026-11-02T09:00:00+05:00');
process.env.DEMO_SUBSCRIPTIONS = '0';
const program = await startProgram({ from });
after(() => program.stop());

const guides = readdirSync(join(root, 'docs'))
  .filter((name) => name.startsWith('first-month-'))
  .map((name) => name.replace(/\.md$/, ''));

for (const guide of guides) {
  test(`the commands of docs/${guide}.md take an empty workspace to the end of a month`, async () => {
    await runGuide(program, guide);
  });
}
