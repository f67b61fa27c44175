import { parseArgs } from 'node:util';
import { counted } from '../base/counted.ts';
import {
  type Database,
  openingFor,
  plainOpening,
  tenantTransact,
  transact,
} from '../base/db/pool.ts';
import type { Config } from '../config.ts';
import { type Context, openOwnerDatabase, prepareDatabase } from '../context.ts';
import {
  type CheckReader,
  type CheckResult,
  checkWorkspace,
} from '../domain/bills/verify/checks.ts';
import { findSettings, listWorkspaces, type WorkspaceRow } from '../domain/tenants/store.ts';
import { tenantFrom } from '../domain/tenants/tenant.ts';
import { openForCommand } from './shutdown.ts';
import { UsageError, verifyUsage } from './usage.ts';

/** Also works while a server runs, and changes nothing. */
export async function verifyCommand(config: Config, args: readonly string[]): Promise<void> {
  const wanted = parse(args);
  const context = await openForCommand(config);
  try {
    await prepareDatabase(context);
    const database = openOwnerDatabase(context);
    try {
      if (!(await verify(context, database, { wanted }))) process.exitCode = 1;
    } finally {
      await database.close();
    }
  } finally {
    await context.close();
  }
}

function parse(args: readonly string[]): string | undefined {
  try {
    const { values } = parseArgs({ args: [...args], options: { workspace: { type: 'string' } } });
    return values.workspace?.toLowerCase();
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${verifyUsage}`);
  }
}

/** Prints each check; false if one failed. */
export async function verify(
  context: Context,
  database: Database,
  { wanted, withoutWorkers = false }: { wanted?: string | undefined; withoutWorkers?: boolean },
): Promise<boolean> {
  const all = await transact(database, { opening: plainOpening }, (tx) => listWorkspaces(tx));
  const workspaces = wanted ? all.filter((one) => one.workspace === wanted) : all;
  if (wanted && workspaces.length === 0) {
    throw new Error(`There is no workspace named '${wanted}'.`);
  }
  let isSound = true;
  for (const workspace of workspaces) {
    say(`Workspace ${workspace.workspace}`);
    const reader = await readerOf(context, database, workspace);
    for await (const result of checkWorkspace(reader)) {
      // Of a restored database no worker runs yet: a job that was running goes on later.
      if (withoutWorkers && result.check === 'L11') continue;
      say(lineOf(result));
      if (result.wrong > 0) isSound = false;
    }
  }
  say(isSound ? 'All checks passed.' : 'At least one check failed.');
  return isSound;
}

async function readerOf(
  context: Context,
  database: Database,
  { tenant_id: tenantId }: WorkspaceRow,
): Promise<CheckReader> {
  const settings = await tenantTransact(database, tenantId, (tx) => findSettings(tx, tenantId));
  const tenant = tenantFrom(tenantId, settings);
  return {
    tenant,
    now: context.clock.now().add({ milliseconds: tenant.clockOffsetMs }),
    read: (work) => transact(database, { opening: openingFor(tenantId), readOnly: true }, work),
  };
}

function lineOf({ check, says, checked, wrong, examples, note }: CheckResult): string {
  const outcome =
    wrong === 0 ? 'passed' : `FAILED, ${counted(wrong, 'case')}: ${examples.join(', ')}`;
  const line = `${check.padEnd(4)} ${says.padEnd(46)} ${String(checked).padStart(9)} checked`;
  return `  ${line}  ${outcome}${note === undefined ? '' : `; ${note}`}`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
