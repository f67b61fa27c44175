// billwright workspace delete and restore: the end of a workspace, and how it is undone.
import { BackupError } from '../base/db/backup/format.ts';
import { type Database, tenantTransact } from '../base/db/pool.ts';
import type { Context } from '../context.ts';
import { deleteEnded, insertEnded, listEnded } from '../domain/tenants/ended-store.ts';
import { findStatus, setStatus, type WorkspaceRow } from '../domain/tenants/store.ts';
import { exportWorkspace } from './workspace-move.ts';

const by = 'command line';

/** It is suspended first, so that nothing happens after its last export. */
export async function endWorkspace(
  context: Context,
  database: Database,
  workspace: WorkspaceRow,
  { path, days }: { path: string; days: number },
): Promise<void> {
  const { tenant_id: tenantId, workspace: name } = workspace;
  const stamp = { at: context.clock.now(), by };
  const wasActive = await tenantTransact(database, tenantId, async (tx) => {
    if ((await listEnded(tx)).some((one) => one.tenant_id === tenantId)) {
      throw new BackupError(`Workspace ${name} is to be deleted already.`);
    }
    const status = await findStatus(tx, tenantId);
    await setStatus(tx, tenantId, 'Suspended', stamp);
    return status === 'Active';
  });
  try {
    await exportWorkspace(context, database, workspace, path);
  } catch (error) {
    if (wasActive) {
      await tenantTransact(database, tenantId, (tx) => setStatus(tx, tenantId, 'Active', stamp));
    }
    throw error;
  }
  const deleteAfter = await tenantTransact(database, tenantId, (tx) =>
    insertEnded(tx, tenantId, { workspace: name, wasActive, exportFile: path, days }),
  );
  const day = deleteAfter.toZonedDateTimeISO('UTC').toPlainDate();
  process.stdout.write(
    days === 0
      ? `Workspace ${name} is suspended, and workers delete it now.\n`
      : `Workspace ${name} is suspended, and is deleted after ${day}. ` +
          `Until then, workspace restore ${name} undoes it.\n`,
  );
}

export async function undoEnd(
  context: Context,
  database: Database,
  { tenant_id: tenantId, workspace: name }: WorkspaceRow,
): Promise<void> {
  const status = await tenantTransact(database, tenantId, async (tx) => {
    const all = await listEnded(tx);
    const found = all.find((one) => one.tenant_id === tenantId);
    if (!found) throw new BackupError(`Workspace ${name} is not to be deleted.`);
    const undone = await deleteEnded(tx, tenantId);
    if (!undone) {
      const day = found.delete_after.toZonedDateTimeISO('UTC').toPlainDate();
      throw new BackupError(
        `The time in which the deletion of ${name} could be undone ended on ${day}. ` +
          'Import its last export: billwright workspace import FILE.',
      );
    }
    const before = undone.was_active ? 'Active' : 'Suspended';
    await setStatus(tx, tenantId, before, { at: context.clock.now(), by });
    return before;
  });
  process.stdout.write(`Workspace ${name} is not deleted. It is ${status} again.\n`);
}
