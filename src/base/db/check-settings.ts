// Looks at the database before anything is served from it: settings without which a crash loses
// answered calls, and rights with which one tenant could see another.
import pg from 'pg';
import { isCoordinator } from './citus/cluster.ts';
import { rethrowUnconnected } from './faults.ts';
import type { Connection } from './pool.ts';

export type SettingsReport = {
  refusals: string[];
  warnings: string[];
  /** Whether the database spreads workspaces over several machines. */
  isSpread: boolean;
};

const fixedVersions = new Map([
  [15, 14],
  [16, 10],
  [17, 6],
]);

export async function checkDatabase(
  connection: Connection,
  options: { role: string | undefined },
): Promise<SettingsReport> {
  const client = new pg.Client({
    ...('url' in connection ? { connectionString: connection.url } : connection),
    application_name: 'billwright check',
  });
  await client.connect().catch(rethrowUnconnected);
  try {
    await client.query('begin');
    if (options.role) await client.query("select set_config('role', $1, true)", [options.role]);
    const settings = await readSettings(client);
    const isSpread = await isCoordinator(client);
    const report: SettingsReport = { refusals: [], warnings: [], isSpread };
    checkDurability(settings, report);
    checkVersion(Number(settings.server_version_num), report);
    await checkLocale(client, report);
    await checkRole(client, report);
    if (settings.row_security !== 'on') {
      report.refusals.push('row_security is off. Set row_security = on in postgresql.conf');
    }
    await client.query('rollback');
    return report;
  } finally {
    await client.end();
  }
}

async function readSettings(client: pg.Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; setting: string }>(
    `select name, setting from pg_settings
     where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums',
       'data_sync_retry', 'server_version_num', 'row_security')`,
  );
  return Object.fromEntries(rows.map((row) => [row.name, row.setting]));
}

function checkDurability(settings: Record<string, string>, report: SettingsReport): void {
  for (const name of ['fsync', 'full_page_writes']) {
    if (settings[name] !== 'on') {
      report.refusals.push(
        `${name} is ${settings[name]}: a crash can lose or damage data. ` +
          `Set ${name} = on in postgresql.conf and reload PostgreSQL`,
      );
    }
  }
  if (['off', 'local'].includes(settings.synchronous_commit ?? '')) {
    report.warnings.push(
      `synchronous_commit is ${settings.synchronous_commit}: a crash can lose calls that were ` +
        'answered. Set synchronous_commit = on in postgresql.conf and reload PostgreSQL.',
    );
  }
  if (settings.data_checksums !== 'on') {
    report.warnings.push(
      'data_checksums is off: damage on the disk goes unnoticed. ' +
        'Stop PostgreSQL, run pg_checksums --enable on its data folder, and start it again.',
    );
  }
  if (settings.data_sync_retry === 'on') {
    report.warnings.push(
      'data_sync_retry is on: after a failed write PostgreSQL may go on without ' +
        'the data. Set data_sync_retry = off in postgresql.conf and restart PostgreSQL.',
    );
  }
}

function checkVersion(version: number, report: SettingsReport): void {
  const major = Math.floor(version / 10_000);
  const minor = version % 10_000;
  if (major < 15) {
    report.refusals.push(`PostgreSQL ${major} is too old: Billwright needs 15 or newer`);
  } else if (minor < (fixedVersions.get(major) ?? 0)) {
    report.warnings.push(
      `PostgreSQL ${major}.${minor} has known holes in row-level security. ` +
        `Install ${major}.${fixedVersions.get(major)} or newer.`,
    );
  }
}

async function checkLocale(client: pg.Client, report: SettingsReport): Promise<void> {
  const { rows } = await client.query<{ folds: boolean }>("select lower('É') = 'é' as folds");
  if (rows[0]?.folds) return;
  report.warnings.push(
    'The locale of the database knows no letters beyond A to Z: É and é are two names. Move to ' +
      'one that is created as docs/running.md says under "Your own PostgreSQL".',
  );
}

async function checkRole(client: pg.Client, report: SettingsReport): Promise<void> {
  const { rows } = await client.query<{
    name: string;
    rolsuper: boolean;
    rolbypassrls: boolean;
    owned: number;
  }>(
    `select r.rolname as name, r.rolsuper, r.rolbypassrls,
       (select count(*)::integer from pg_class c
         where pg_has_role(r.oid, c.relowner, 'member') and not r.rolsuper
           and c.relkind in ('r', 'p', 'v', 'm')) as owned
     from pg_roles r where r.rolname = current_user`,
  );
  const role = rows[0];
  if (!role) throw new Error('the current role is unknown');
  const quoted = pg.escapeIdentifier(role.name);
  if (role.rolsuper) {
    report.refusals.push(
      `role ${role.name} serves calls and must not be a superuser: ` +
        `alter role ${quoted} nosuperuser`,
    );
  }
  if (role.rolbypassrls) {
    report.refusals.push(
      `role ${role.name} serves calls and must not have BYPASSRLS: ` +
        `alter role ${quoted} nobypassrls`,
    );
  }
  if (role.owned > 0) {
    report.refusals.push(
      `role ${role.name} serves calls and must not own tables, nor be a member of ` +
        'a role that does. Name a role of its own in API_DATABASE_URL ' +
        '(docs/running.md, Your own PostgreSQL)',
    );
  }
}
