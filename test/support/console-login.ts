// A person at a screen of the console, logged in.
import { type Visit, visit } from './browser.ts';
import { adminPassword, type Scene } from './scene.ts';

/** Opens a screen of a workspace in a browser of its own; as its administrator unless named. */
export async function openScreen(
  scene: Scene,
  workspace: string,
  path: string,
  username = `admin@${workspace}.example`,
): Promise<Visit> {
  const visited = await visit(scene, workspace);
  const { page, address } = visited;
  await page.goto(`${address}${path}`);
  await page.getByLabel('User name or e-mail').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(adminPassword);
  await page.getByRole('button', { name: 'Log in' }).click();
  return visited;
}
