// Host name -> workspace -> tenant.
import { type Database, plainOpening, transact } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { findTenantId } from '../domain/tenants/store.ts';

export type WorkspaceRules = {
  /** `{workspace}.{domain}` */
  domain: string;
  /** Whether the header X-Workspace may name the workspace: for development and tests. */
  headerAllowed: boolean;
};

type Found = { workspace: string; tenantId: number };

const workspaceForm = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Names are never given to another tenant, so a found one can be kept for the process's life. */
const knownMax = 10_000;

export class Workspaces {
  readonly #database: Database;
  readonly #rules: WorkspaceRules;
  readonly #known = new Map<string, number>();

  constructor(database: Database, rules: WorkspaceRules) {
    this.#database = database;
    this.#rules = rules;
  }

  /** At once where the name is known, which is nearly always. */
  find(host: string | undefined, header: string | string[] | undefined): Found | Promise<Found> {
    const workspace = this.#name(host, header);
    return this.#findKnown(workspace);
  }

  /** For paths that name the workspace themselves. */
  async findNamed(workspace: string): Promise<Found> {
    if (!workspaceForm.test(workspace)) throw notFound();
    return this.#findKnown(workspace);
  }

  #findKnown(workspace: string): Found | Promise<Found> {
    const known = this.#known.get(workspace);
    return known === undefined ? this.#lookUp(workspace) : { workspace, tenantId: known };
  }

  async #lookUp(workspace: string): Promise<Found> {
    const options = { opening: plainOpening, readOnly: true };
    const tenantId = await transact(this.#database, options, (tx) => findTenantId(tx, workspace));
    if (tenantId === undefined) throw notFound();
    if (this.#known.size < knownMax) this.#known.set(workspace, tenantId);
    return { workspace, tenantId };
  }

  #name(host: string | undefined, header: string | string[] | undefined): string {
    if (this.#rules.headerAllowed && typeof header === 'string') {
      if (workspaceForm.test(header)) return header;
      throw notFound();
    }
    // The Host header itself: what a proxy claims in X-Forwarded-Host is never asked.
    const name = (host ?? '').toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
    const suffix = `.${this.#rules.domain}`;
    const workspace = name.endsWith(suffix) ? name.slice(0, -suffix.length) : '';
    if (!workspaceForm.test(workspace)) throw notFound();
    return workspace;
  }
}

function notFound(): AppError {
  return new AppError('WORKSPACE_NOT_FOUND');
}
