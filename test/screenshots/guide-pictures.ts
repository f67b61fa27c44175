// The pictures of a guide, in the workspace that its own commands made.
import { runGuide } from '../support/guide.ts';
import type { RunningProgram } from '../support/running-program.ts';
import { type Camera, clientOf } from './camera.ts';
import { drawBill, showPaper } from './paper.ts';

const guide = 'first-month-electricity';
const workspace = 'lightco';
const login = { username: 'you@lightco.example', password: 'a long pass phrase' };

export async function shootGuide(camera: Camera, program: RunningProgram): Promise<void> {
  await runGuide(program, guide);
  const { page, open, shoot, leave } = await camera.enter(workspace, login);
  await open('/plans/1');
  await shoot(`${guide}-plan`);
  await open('/bills/1');
  await page.getByRole('button', { name: 'Why Energy charges?' }).click();
  const client = await clientOf(program.port, workspace, login);
  await showPaper(page, await drawBill(client, 1));
  await shoot(`${guide}-bill`);
  await leave();
}
