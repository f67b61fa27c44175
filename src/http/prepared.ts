// Everything that the server knows of a call before it opens the call's transaction.
import type { Clock } from '../base/clock.ts';
import type { Database, Tx } from '../base/db/pool.ts';
import { AppError, errorFromDetails } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Validated } from '../base/validation/validate.ts';
import { type Actor, type AuditEntry, insertAuditEntries } from '../domain/audit/store.ts';
import { type Tenant, tenantFrom } from '../domain/tenants/tenant.ts';
import type { Operation } from '../operations/operation.ts';
import type { EnteredRow, KnownTokens } from './authenticate.ts';
import type { BodyReader } from './body.ts';
import type { Headers } from './envelope.ts';
import type { RateLimiter } from './rate-limit.ts';
import type { Routes } from './routes.ts';
import type { Workspaces } from './workspace.ts';

/** What every call needs of the server. */
export type DispatchParts = {
  database: Database;
  routes: Routes;
  workspaces: Workspaces;
  knownTokens: KnownTokens;
  clock: Clock;
  log: Log;
  /** How long a call waits for the end of the job it asked for. */
  scheduleWaitMs: number;
  /** Set when the server begins to close. */
  closing: { isClosing: boolean };
  limiters: {
    token: RateLimiter;
    tenant: RateLimiter;
    loginName: RateLimiter;
    loginAddress: RateLimiter;
    wrongToken: RateLimiter;
  };
};

/** What the HTTP server knows of a request. */
export type Incoming = {
  requestId: string;
  verb: string;
  path: string;
  host: string | undefined;
  address: string;
  /** True if the caller, or the proxy before us, speaks https. */
  isSecure: boolean;
  headers: Record<string, string | string[] | undefined>;
  reader: BodyReader;
  /** True once the connection is closed. */
  isGone(): boolean;
};

export type Prepared = {
  parts: DispatchParts;
  incoming: Incoming;
  operation: Operation;
  /** Thrown only after the token of the caller proved valid. */
  mismatch: AppError | undefined;
  sent: Record<string, unknown>;
  /** The body as it came. */
  bytes: Buffer;
  /** Computed on first use, so the body of a caller without a valid token is never checked. */
  readonly validated: Validated;
  workspace: string;
  tenantId: number;
  realNow: Temporal.Instant;
  /** Headers of the answer, as far as they are known. */
  headers: Headers;
};

export function assertWellFormed(call: Prepared): void {
  if (call.mismatch) throw call.mismatch;
  const { problems } = call.validated;
  if (problems.length > 0) throw (call.operation.refusal ?? errorFromDetails)(problems);
}

export function tenantOf(
  call: Pick<Prepared, 'tenantId' | 'workspace'>,
  row: EnteredRow | undefined,
): Tenant {
  if (!row) throw new AppError('WORKSPACE_NOT_FOUND');
  if (row.tenant_status !== 'Active') throw new AppError('WORKSPACE_SUSPENDED');
  return { ...tenantFrom(call.tenantId, row), workspace: call.workspace };
}

/** The part of a call that operations with and without a token share. */
export function callBase(call: Prepared, tenant: Tenant) {
  const { incoming, parts, realNow } = call;
  const ahead = tenant.clockOffsetMs;
  return {
    tenant,
    requestId: incoming.requestId,
    address: incoming.address,
    now: ahead === 0 ? realNow : realNow.add({ milliseconds: ahead }),
    log: parts.log,
    isGone: incoming.isGone,
  };
}

export async function storeAudit(
  tx: Tx,
  call: Prepared,
  actor: Actor,
  entries: readonly AuditEntry[],
): Promise<void> {
  const context = {
    requestId: call.incoming.requestId,
    at: call.realNow,
    actor: actor.name,
    actorKind: actor.kind,
    address: call.incoming.address,
    operation: `${call.operation.path} ${call.operation.action}`,
  };
  await insertAuditEntries(tx, call.tenantId, context, entries);
}
