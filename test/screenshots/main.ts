// Takes the pictures of README.md and docs: npm run screenshots. It starts the program on a folder
// of its own, with the demo and a clock that begins on 5 November 2026, so that the pictures change
// only where the console does. Needs Chromium, and pdftoppm for the picture of a bill.
import { setTimeout as sleep } from 'node:timers/promises';
import { demoLogin } from '../../src/domain/access/demo-login.ts';
import { startProgram } from '../support/running-program.ts';
import { clientOf, openCamera } from './camera.ts';
import { makeDemoMonths } from './demo-months.ts';
import { shootDemo } from './demo-pictures.ts';
import { shootGuide } from './guide-pictures.ts';

const yearMs = 600_000;

process.env.BILLWRIGHT_WORKSPACE_HEADER = '1';
const from = Temporal.Instant.from('2026-11-05T09:00:00+05:00');
const program = await startProgram({ from, logLevel: 'info' });
try {
  const camera = await openCamera(program.port);
  try {
    await shootGuide(camera, program);
    await untilYear(program.output);
    const client = await clientOf(program.port, demoLogin.workspace, demoLogin);
    await shootDemo(camera, client, await makeDemoMonths(client));
  } finally {
    await camera.close();
  }
} finally {
  await program.stop();
}

/** The year of the demo is made while the program already answers. */
async function untilYear(output: () => string): Promise<void> {
  const deadline = performance.now() + yearMs;
  while (!output().includes('the demo has a year of bills and payments')) {
    if (performance.now() > deadline) throw new Error(`The demo has no year:\n${output()}`);
    await sleep(100);
  }
}
