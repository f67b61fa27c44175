import { parseArgs } from 'node:util';
import { type Database, plainOpening, tenantTransact, transact } from '../base/db/pool.ts';
import type { Config } from '../config.ts';
import { type Context, openOwnerDatabase, prepareDatabase } from '../context.ts';
import {
  createWorkspace,
  type PreparedWorkspace,
  prepareWorkspace,
} from '../domain/access/workspaces.ts';
import { findSettings, findStatus, listWorkspaces, setStatus } from '../domain/tenants/store.ts';
import { findRunningPort } from './server-address.ts';
import { openForCommand } from './shutdown.ts';
import { refuseMore, UsageError, workspaceUsage } from './usage.ts';

const emailForm = /^[^@\s]+@[^@\s]+$/;

/** Also works while a server runs: it joins the same database. */
export async function workspaceCommand(config: Config, args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args);
  const [action, name] = positionals;
  const isKnown = ['create', 'list', 'suspend', 'resume'].includes(action ?? '');
  if (!isKnown || (action !== 'list' && !name)) throw new UsageError(workspaceUsage);
  refuseMore(positionals, action === 'list' ? 1 : 2, workspaceUsage);
  // Checked before anything is opened: a wrong word must not wait for a database.
  const prepared =
    action === 'create' ? await prepareWorkspace(createRequest(name ?? '', values)) : undefined;
  const context = await openForCommand(config);
  try {
    await prepareDatabase(context);
    const database = openOwnerDatabase(context);
    try {
      if (prepared) await create(context, database, prepared);
      else if (action === 'list') await list(database);
      else
        await change(context, database, name ?? '', action === 'suspend' ? 'Suspended' : 'Active');
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
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${workspaceUsage}`);
  }
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
  for (const { tenant_id: tenantId, workspace } of workspaces) {
    const line = await tenantTransact(database, tenantId, async (tx) => {
      const settings = await findSettings(tx, tenantId);
      const status = await findStatus(tx, tenantId);
      const sandbox = settings.sandbox ? ' (sandbox)' : '';
      return [workspace, status, settings.timezone, settings.currency, settings.name + sandbox];
    });
    process.stdout.write(`${line.join('\t')}\n`);
  }
  if (workspaces.length === 0) process.stdout.write('There are no workspaces yet.\n');
}

async function change(
  context: Context,
  database: Database,
  name: string,
  status: 'Active' | 'Suspended',
): Promise<void> {
  const options = { opening: plainOpening, readOnly: true };
  const workspaces = await transact(database, options, (tx) => listWorkspaces(tx));
  const found = workspaces.find((one) => one.workspace === name.toLowerCase());
  if (!found) throw new Error(`There is no workspace named '${name}'.`);
  const stamp = { at: context.clock.now(), by: 'command line' };
  await tenantTransact(database, found.tenant_id, (tx) =>
    setStatus(tx, found.tenant_id, status, stamp),
  );
  process.stdout.write(`Workspace ${found.workspace} is now ${status}.\n`);
}
