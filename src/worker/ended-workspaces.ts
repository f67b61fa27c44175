// Deletes workspaces whose time has come, a few thousand rows at a time.
import { type Database, plainOpening, tenantTransact, transact } from '../base/db/pool.ts';
import type { Log } from '../base/log.ts';
import {
  deleteEndedRows,
  type EndedRow,
  listEnded,
  listTablesToDelete,
} from '../domain/tenants/ended-store.ts';
import { repeatEvery } from './repeat.ts';

type EndingTools = { database: Database; log: Log; isStopping(): boolean };

const everyMs = 60_000;
/** Of one transaction: other workspaces wait for none of its locks. */
const rowsAtOnce = 2_000;
/** More than a table of a workspace has. */
const chunksMax = 1_000_000;

/** It looks each minute; what is due when a worker starts is begun at once. */
export function startEnding(options: {
  database: Database;
  log: Log;
  /** A worker for one workspace ends no other. */
  tenantId?: number;
}): { stop(): Promise<void> } {
  let isStopping = false;
  const tools = { ...options, isStopping: () => isStopping };
  const failure = 'ended workspaces were not found';
  const look = async () => {
    if (options.tenantId === undefined) await deleteEndedWorkspaces(tools);
  };
  const repeated = repeatEvery(everyMs, look, { log: options.log, failure });
  return {
    stop() {
      isStopping = true;
      return repeated.stop();
    },
  };
}

async function deleteEndedWorkspaces(tools: EndingTools): Promise<void> {
  const { database, log } = tools;
  const ended = await transact(database, { opening: plainOpening, readOnly: true }, listEnded);
  const due = ended.filter((one) => one.is_due);
  for (const workspace of due) {
    if (tools.isStopping()) break;
    try {
      await deleteWorkspace(tools, workspace);
    } catch (error) {
      log.error({ err: error, workspace: workspace.workspace }, 'a workspace was not deleted');
    }
  }
}

/** After a crash, a stop or a failure the next look goes on with what is left. */
async function deleteWorkspace(tools: EndingTools, ended: EndedRow): Promise<void> {
  const { database, log } = tools;
  const { tenant_id: tenantId, workspace } = ended;
  const tables = await transact(database, { opening: plainOpening }, listTablesToDelete);
  let rows = 0;
  for (const table of tables) {
    for (let chunk = 0; chunk < chunksMax; chunk += 1) {
      if (tools.isStopping()) return;
      const deleted = await tenantTransact(database, tenantId, (tx) =>
        deleteEndedRows(tx, table, rowsAtOnce),
      );
      rows += deleted;
      if (deleted < rowsAtOnce) break;
    }
  }
  log.info({ tenantId, workspace, rows }, 'an ended workspace was deleted');
}
