import { parseArgs } from 'node:util';
import { type Database, plainOpening, tenantTransact, transact } from '../base/db/pool.ts';
import type { Config } from '../config.ts';
import { type Context, openOwnerDatabase, prepareDatabase } from '../context.ts';
import {
  createWorkspace,
  type PreparedWorkspace,
  prepareWorkspace,
} from '../domain/access/workspaces.ts';
import { listEnded } from '../domain/tenants/ended-store.ts';
import {
  findSettings,
  findStatus,
  listWorkspaces,
  setStatus,
  type WorkspaceRow,
} from '../domain/tenants/store.ts';
import { findRunningPort } from './server-address.ts';
import { openForCommand } from './shutdown.ts';
import { refuseMore, UsageError, workspaceUsage } from './usage.ts';
import { endWorkspace, undoEnd } from './workspace-end.ts';
import {
  exportWorkspace,
  type ImportRequest,
  importWorkspace,
  readExport,
} from './workspace-move.ts';

/** How many words each action has, with its own. */
const wordsOf = new Map([
  ['create', 2],
  ['list', 1],
  ['suspend', 2],
  ['resume', 2],
  ['export', 3],
  ['import', 2],
  ['delete', 3],
  ['restore', 2],
]);

const daysMax = 365;

const emailForm = /^[^@\s]+@[^@\s]+$/;

/** Also works while a server runs: it joins the same database. */
export async function workspaceCommand(config: Config, args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args);
  const [action, name, file = ''] = positionals;
  const words = wordsOf.get(action ?? '');
  if (words === undefined || positionals.length < words) throw new UsageError(workspaceUsage);
  refuseMore(positionals, words, workspaceUsage);
  const days = daysOf(values);
  // Checked before anything is opened: a wrong word must not wait for a database.
  const prepared =
    action === 'create' ? await prepareWorkspace(createRequest(name ?? '', values)) : undefined;
  const incoming = action === 'import' ? importRequest(name ?? '', values) : undefined;
  const exported = incoming && (await readExport(incoming));
  const context = await openForCommand(config);
  try {
    await prepareDatabase(context);
    const database = openOwnerDatabase(context);
    try {
      if (prepared) await create(context, database, prepared);
      else if (exported && incoming) await importWorkspace(context, database, exported, incoming);
      else if (action === 'list') await list(database);
      else {
        const found = await findWorkspace(database, name ?? '');
        if (action === 'suspend') await change(context, database, found, 'Suspended');
        else if (action === 'resume') await change(context, database, found, 'Active');
        else if (action === 'export') await exportWorkspace(context, database, found, file);
        else if (action === 'delete')
          await endWorkspace(context, database, found, { path: file, days });
        else await undoEnd(context, database, found);
      }
    } finally {
      await database.close();
    }
  } finally {
    await context.close();
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        admin: { type: 'string' },
        password: { type: 'string' },
        name: { type: 'string' },
        timezone: { type: 'string', default: 'UTC' },
        currency: { type: 'string', default: 'USD' },
        country: { type: 'string', default: 'US' },
        locale: { type: 'string', default: 'en' },
        sandbox: { type: 'boolean', default: false },
        days: { type: 'string', default: '30' },
        'without-second-factors': { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${workspaceUsage}`);
  }
}

function daysOf(values: ReturnType<typeof parse>['values']): number {
  const days = Number(values.days);
  if (Number.isInteger(days) && days >= 0 && days <= daysMax) return days;
  throw new UsageError(`--days must be a number from 0 to ${daysMax}.\n\n${workspaceUsage}`);
}

function importRequest(path: string, values: ReturnType<typeof parse>['values']): ImportRequest {
  const withoutSecondFactors = values['without-second-factors'];
  return { path, withoutSecondFactors, ...(values.name && { name: values.name }) };
}

function createRequest(workspace: string, values: ReturnType<typeof parse>['values']) {
  const { admin, password } = values;
  if (!admin || !password)
    throw new UsageError(`--admin and --password are needed\n\n${workspaceUsage}`);
  if (!emailForm.test(admin))
    throw new UsageError(`--admin must be an e-mail address, not '${admin}'`);
  return {
    workspace: workspace.toLowerCase(),
    name: values.name ?? workspace,
    timezone: values.timezone,
    currency: values.currency.toUpperCase(),
    country: values.country,
    locale: values.locale,
    sandbox: values.sandbox,
    adminEmail: admin,
    adminPassword: password,
  };
}

async function create(
  context: Context,
  database: Database,
  prepared: PreparedWorkspace,
): Promise<void> {
  await transact(database, { opening: plainOpening }, (tx) =>
    createWorkspace(tx, prepared, context.clock.now()),
  );
  const { config } = context;
  const { workspace, admin } = prepared;
  const running = await findRunningPort(config);
  const address = `http://${workspace}.${config.domain}:${running ?? config.port}`;
  const where =
    running === undefined
      ? `. No server runs on ${config.dataFolder}: once one listens on port ${config.port}, ` +
        `the workspace is at ${address}`
      : ` at ${address}`;
  process.stdout.write(`Workspace ${workspace} is ready${where}; log in as ${admin.email}.\n`);
}

async function list(database: Database): Promise<void> {
  const options = { opening: plainOpening, readOnly: true };
  const workspaces = await transact(database, options, (tx) => listWorkspaces(tx));
  const ended = new Map(
    (await transact(database, options, listEnded)).map((one) => [one.tenant_id, one]),
  );
  for (const { tenant_id: tenantId, workspace } of workspaces) {
    const end = ended.get(tenantId);
    if (end?.is_due) {
      process.stdout.write(`${workspace}\tbeing deleted\n`);
      continue;
    }
    const line = await tenantTransact(database, tenantId, async (tx) => {
      const settings = await findSettings(tx, tenantId);
      const status = await findStatus(tx, tenantId);
      const sandbox = settings.sandbox ? ' (sandbox)' : '';
      return [workspace, status, settings.timezone, settings.currency, settings.name + sandbox];
    });
    const day = end?.delete_after.toZonedDateTimeISO('UTC').toPlainDate();
    const until = day ? `, to be deleted after ${day}` : '';
    process.stdout.write(`${line.join('\t')}${until}\n`);
  }
  if (workspaces.length === 0) process.stdout.write('There are no workspaces yet.\n');
}

async function findWorkspace(database: Database, name: string): Promise<WorkspaceRow> {
  const options = { opening: plainOpening, readOnly: true };
  const workspaces = await transact(database, options, (tx) => listWorkspaces(tx));
  const found = workspaces.find((one) => one.workspace === name.toLowerCase());
  if (!found) throw new Error(`There is no workspace named '${name}'.`);
  return found;
}

async function change(
  context: Context,
  database: Database,
  found: WorkspaceRow,
  status: 'Active' | 'Suspended',
): Promise<void> {
  const ended = await transact(database, { opening: plainOpening, readOnly: true }, listEnded);
  if (ended.some((one) => one.tenant_id === found.tenant_id)) {
    const undo = `To undo that: billwright workspace restore ${found.workspace}`;
    throw new Error(`Workspace ${found.workspace} is to be deleted. ${undo}`);
  }
  const stamp = { at: context.clock.now(), by: 'command line' };
  await tenantTransact(database, found.tenant_id, (tx) =>
    setStatus(tx, found.tenant_id, status, stamp),
  );
  process.stdout.write(`Workspace ${found.workspace} is now ${status}.\n`);
}
