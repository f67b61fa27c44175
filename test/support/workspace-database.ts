// A database with one workspace, for programs that a test starts as processes.
import { after } from 'node:test';
import pg from 'pg';
import {
  type Cluster,
  cloneDatabase,
  dropDatabase,
  stopOwnCluster,
  theCluster,
} from './cluster.ts';
import { makeWorkspace, type WorkspaceOptions } from './scene.ts';

export type WorkspaceDatabase = { cluster: Cluster; databaseName: string; owner: pg.Client };

/** For a test file: removed, and checked for connections left open, after its last test. */
export async function openWorkspaceDatabase(
  workspace: string,
  options: WorkspaceOptions = {},
): Promise<WorkspaceDatabase> {
  const cluster = await theCluster();
  const databaseName = await cloneDatabase(cluster);
  await makeWorkspace(cluster, databaseName, Temporal.Now.instant(), workspace, options);
  const owner = new pg.Client({ ...cluster.owner, database: databaseName });
  await owner.connect();
  after(async () => {
    await owner.end();
    await dropDatabase(cluster, databaseName);
    await stopOwnCluster();
  });
  return { cluster, databaseName, owner };
}
