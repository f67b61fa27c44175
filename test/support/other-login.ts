// Logins beside the administrator of a workspace, and operations of logins that are a case apart.
import type { TestClient } from './client.ts';
import type { Scene } from './scene.ts';
import { logIn } from './two-workspaces.ts';

/** They do not show which logins exist: every answer is the same. */
export const alwaysAnswered = new Set<string>(['requestLink', 'requestPasswordReset']);

/** They need a code of the moment: second-factor.test.ts calls them. */
export const needCode = new Set<string>(['confirmTotp', 'resetTotp']);

/** How many were made, by workspace. */
const otherLogins = new Map<string, number>();

const auditor = { roles: ['Auditor' as const] };
/** Of the first party. */
export const customer = { roles: ['Customer' as const], partyNumber: 100001 };

/** The token of a login that did not exist before. */
export async function otherLogin(
  scene: Scene,
  client: TestClient,
  holder: typeof auditor | typeof customer = auditor,
): Promise<string> {
  const { workspace } = client;
  const others = (otherLogins.get(workspace) ?? 0) + 1;
  otherLogins.set(workspace, others);
  const username = `admin@${others}.${workspace}.example`;
  const login = { username, name: 'Other', password: 'correct horse battery' };
  await client.makeLogins({ logins: [{ ...login, ...holder }] });
  return logIn(scene, workspace, username);
}
