// Files that are imported, and the problems that the answer names. Use it for tests of import-data.
import assert from 'node:assert/strict';
import type { BillingError, RequestOf } from '../../sdk/client.ts';
import type { TestClient } from './client.ts';
import type { Scene } from './scene.ts';
import { hashRows } from './two-workspaces.ts';

type Import = RequestOf<'importData'>;
type Kind = Import['kind'];

export const file = (...lines: string[]) => `${lines.join('\r\n')}\r\n`;

export function take(
  admin: TestClient,
  kind: Kind,
  content: string,
  options: Partial<Import> = {},
) {
  return admin.importData({ kind, content, ...options });
}

/** Line, column and code of each problem. */
export async function problemsOf(call: Promise<unknown>): Promise<(string | null)[][]> {
  const refusal = (await call.then(
    () => assert.fail('was not refused'),
    (error) => error,
  )) as BillingError;
  return refusal.error.details.map(({ field, code }) => [field, code]);
}

export async function storesNothing(scene: Scene, work: () => Promise<unknown>): Promise<void> {
  const before = await hashRows(scene.sql);
  await work();
  assert.deepEqual(await hashRows(scene.sql), before);
}
