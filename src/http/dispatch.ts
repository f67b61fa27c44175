// A call, from the wire to the operation and back: workspace, token, limits, validation,
// transaction, audit, envelope. The only place besides the worker's loop where errors are caught.
import type { Readable } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import { isRetryable, isUnavailable } from '../base/db/faults.ts';
import { type Database, openingFor, type Tx, transact } from '../base/db/pool.ts';
import { AppError, errorFromDetails } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { touchSession } from '../domain/access/sessions-store.ts';
import { type Actor, type AuditEntry, insertAuditEntries } from '../domain/audit/store.ts';
import type { Tenant } from '../domain/tenants/tenant.ts';
import {
  type Answer,
  type Call,
  isRetrieve,
  type Operation,
  type Principal,
  type PublicCall,
  type StreamedAnswer,
} from '../operations/operation.ts';
import {
  authorize,
  type EnteredRow,
  enterCall,
  enterTenant,
  type KnownTokens,
  principalOf,
  readToken,
  type Token,
} from './authenticate.ts';
import { assertJsonContentType, parseBody } from './body.ts';
import { findEntered } from './entered-store.ts';
import {
  errorEnvelope,
  type Headers,
  idHeaders,
  ignoredFieldsHeader,
  streamedEnvelope,
  successEnvelope,
} from './envelope.ts';
import {
  claimKey,
  type Key,
  markBeforeWork,
  readKey,
  storeAnswer,
  undoWork,
} from './idempotency-store.ts';
import type { RateLimiter } from './rate-limit.ts';
import { type Routes, type Selection, selectOperation } from './routes.ts';
import { listStream } from './stream.ts';
import { type Validated, validate } from './validate.ts';
import type { Workspaces } from './workspace.ts';

/** A deadlock or serialization failure is run again this often before the caller hears of it. */
const attemptsMax = 4;
const sessionTouchSeconds = 30;

export type DispatchParts = {
  database: Database;
  routes: Routes;
  workspaces: Workspaces;
  knownTokens: KnownTokens;
  clock: Clock;
  log: Log;
  limiters: {
    token: RateLimiter;
    tenant: RateLimiter;
    loginName: RateLimiter;
    loginAddress: RateLimiter;
  };
};

/** What the HTTP server knows of a request. */
export type Incoming = {
  requestId: string;
  verb: string;
  path: string;
  host: string | undefined;
  address: string;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
};

export type Outgoing = {
  statusCode: number;
  headers: Headers;
  body: string | Readable;
  operation: Operation | undefined;
};

/** One call on its way: everything known before its transaction is opened. */
type Prepared = {
  parts: DispatchParts;
  incoming: Incoming;
  operation: Operation;
  validated: Validated;
  workspace: string;
  tenantId: number;
  realNow: Temporal.Instant;
  headers: Headers;
};

export async function dispatch(parts: DispatchParts, incoming: Incoming): Promise<Outgoing> {
  let selection: Selection | undefined;
  const headers: Headers = {};
  try {
    const found = await parts.workspaces.find(incoming.host, incoming.headers['x-workspace']);
    selection = select(parts, incoming);
    const realNow = parts.clock.now();
    const validated = validate(selection.operation.request, selection.body);
    if (!selection.mismatch) Object.assign(headers, ignoredFieldsHeader(validated.ignored));
    const { operation } = selection;
    const call = { parts, incoming, operation, validated, ...found, realNow, headers };
    return operation.access === 'public'
      ? await answerPublic(call, selection)
      : await answerPrivate(call, selection);
  } catch (error) {
    return refused(incoming, selection?.operation, toAppError(error, parts, incoming), headers);
  }
}

function select(parts: DispatchParts, incoming: Incoming): Selection {
  const operations = parts.routes.get(incoming.path);
  if (!operations) {
    throw new AppError('UNKNOWN_PATH', { message: `No operation has the path ${incoming.path}` });
  }
  if (incoming.verb !== 'POST') throw new AppError('METHOD_NOT_ALLOWED');
  assertJsonContentType(incoming.headers['content-type'] as string | undefined);
  return selectOperation(operations, parseBody(incoming.body));
}

async function answerPublic(call: Prepared, selection: Selection): Promise<Outgoing> {
  const { parts, incoming, tenantId, realNow } = call;
  const nowMs = realNow.epochMilliseconds;
  parts.limiters.loginAddress.take(incoming.address, nowMs, call.headers);
  const name = selection.body.username ?? selection.body.clientID;
  if (typeof name === 'string') {
    const key = `${tenantId}/${name.slice(0, 254).toLowerCase()}`;
    parts.limiters.loginName.take(key, nowMs, call.headers);
  }
  const opening = enterCall(tenantId, null);
  const rows = await transact(
    parts.database,
    { opening, readOnly: true },
    async (_, opened) => opened,
  );
  const tenant = tenantOf(call, rows[0] as EnteredRow | undefined);
  assertWellFormed(call, selection);
  const publicCall: PublicCall = {
    ...callBase(call, tenant),
    realNow,
    write: (work) =>
      transact(parts.database, { opening: openingFor(tenantId) }, async (tx) => {
        const trail: { by?: Actor; entries: AuditEntry[] } = { entries: [] };
        const result = await work(tx, (by, entry) => {
          trail.by = by;
          trail.entries.push(entry);
        });
        if (trail.by) await storeAudit(tx, call, trail.by, trail.entries);
        return result;
      }),
  };
  const answer = await call.operation.handle(publicCall as never, call.validated.body as never);
  return succeeded(call, answer);
}

async function answerPrivate(call: Prepared, selection: Selection): Promise<Outgoing> {
  const { parts, incoming, realNow, operation } = call;
  const token = readToken(incoming.headers.authorization as string | undefined);
  const nowMs = realNow.epochMilliseconds;
  parts.limiters.token.take(token.hash.toString('latin1'), nowMs, call.headers);
  const readOnly = isRetrieve(operation);
  for (let attempt = 1; ; attempt += 1) {
    const known = parts.knownTokens.get(token);
    const opening = known ? enterTenant(token.tenantId) : enterCall(token.tenantId, token.hash);
    try {
      return await transact(parts.database, { opening, readOnly }, async (tx, rows) => {
        const opened = rows[0] as EnteredRow | undefined;
        const isCurrent = known && opened?.access_epoch === known.access_epoch;
        const entered = isCurrent ? known : known ? await findEntered(tx, token) : opened;
        if (entered && !isCurrent) parts.knownTokens.keep(token, entered);
        return runCall(call, selection, token, entered, tx);
      });
    } catch (error) {
      if (!isRetryable(error) || attempt === attemptsMax) throw error;
    }
  }
}

/** Inside the transaction that was opened for the token's tenant. */
async function runCall(
  call: Prepared,
  selection: Selection,
  token: Token,
  entered: EnteredRow | undefined,
  tx: Tx,
): Promise<Outgoing> {
  const { parts, incoming, operation, realNow } = call;
  const principal = principalOf(entered, { address: incoming.address, realNow });
  if (token.tenantId !== call.tenantId) throw new AppError('TOKEN_WORKSPACE_MISMATCH');
  const tenant = tenantOf(call, entered);
  parts.limiters.tenant.take(String(call.tenantId), realNow.epochMilliseconds);
  // Before the permission: the operation that would be asked for it is not the one that was meant.
  if (selection.mismatch) throw selection.mismatch;
  const { ownPartyId } = authorize(operation.access, principal);
  assertWellFormed(call, selection);
  keepAlive(call, principal, entered);
  const entries: AuditEntry[] = [];
  const fullCall: Call = {
    ...callBase(call, tenant),
    tx,
    principal,
    ownPartyId,
    audit: (entry) => entries.push(entry),
    read: (work) =>
      transact(parts.database, { opening: openingFor(call.tenantId), readOnly: true }, work),
  };
  const key = isRetrieve(operation) ? undefined : idempotencyKey(call, principal);
  const run = async () => {
    const answer = await operation.handle(fullCall as never, call.validated.body as never);
    await storeAudit(tx, call, principal, entries);
    return succeeded(call, answer);
  };
  return key === undefined ? run() : runOnce(call, tx, key, run);
}

/** The answer that is stored under the key, or the work, with its answer stored beside its effect. */
async function runOnce(
  call: Prepared,
  tx: Tx,
  key: Key,
  run: () => Promise<Outgoing>,
): Promise<Outgoing> {
  const stored = await claimKey(tx, call.tenantId, key, call.realNow);
  if (stored) {
    const headers = { ...stored.headers, ...call.headers, 'Idempotency-Replayed': 'true' };
    const statusCode = Number(stored.headers['X-Status-Code'] ?? 200);
    return { statusCode, headers, body: stored.body, operation: call.operation };
  }
  await markBeforeWork(tx);
  const outgoing = await run().catch(async (error) => {
    if (!(error instanceof AppError) || error.statusCode >= 500) throw error;
    await undoWork(tx);
    return refused(call.incoming, call.operation, error, call.headers);
  });
  if (typeof outgoing.body !== 'string') throw new Error('a streamed answer cannot be stored');
  const { 'X-Request-Id': _, ...headers } = outgoing.headers;
  const kept = { ...headers, 'X-Status-Code': String(outgoing.statusCode) };
  await storeAnswer(tx, call.tenantId, key, { headers: kept, body: outgoing.body }, call.realNow);
  return outgoing;
}

function idempotencyKey(call: Prepared, principal: Principal): Key | undefined {
  return readKey(call.incoming.headers['idempotency-key'], {
    principal: `${principal.kind}:${principal.id}`,
    path: call.incoming.path,
    body: call.incoming.body as Buffer,
  });
}

function assertWellFormed(call: Prepared, selection: Selection): void {
  if (selection.mismatch) throw selection.mismatch;
  if (call.validated.problems.length > 0) throw errorFromDetails(call.validated.problems);
}

function tenantOf(call: Prepared, row: EnteredRow | undefined): Tenant {
  if (!row) throw new AppError('WORKSPACE_NOT_FOUND');
  if (row.tenant_status !== 'Active') throw new AppError('WORKSPACE_SUSPENDED');
  return {
    tenantId: call.tenantId,
    workspace: call.workspace,
    timezone: row.timezone,
    currency: row.currency,
    currencyDecimals: row.currency_decimals,
    clockOffsetMs: row.clock_offset_ms,
  };
}

function callBase(call: Prepared, tenant: Tenant) {
  const { incoming, parts } = call;
  return {
    tenant,
    requestId: incoming.requestId,
    address: incoming.address,
    now: call.realNow.add({ milliseconds: tenant.clockOffsetMs }),
    log: parts.log,
  };
}

/**
 * Where sessions may lie idle only so long, their use is noted now and then, not on every call.
 * Nobody waits for it: a call that held one connection and waited for another could wait for ever.
 */
function keepAlive(call: Prepared, principal: Principal, entered: EnteredRow | undefined): void {
  if (!entered?.session_used_at || entered.idle_seconds === null) return;
  const since = entered.session_used_at.until(call.realNow).total('seconds');
  if (since < Math.min(sessionTouchSeconds, entered.idle_seconds / 4)) return;
  transact(call.parts.database, { opening: openingFor(call.tenantId) }, (tx) =>
    touchSession(tx, call.tenantId, principal.sessionId, call.realNow),
  ).catch((error) => call.parts.log.warn({ err: error }, 'the use of a session was not noted'));
}

async function storeAudit(
  tx: Tx,
  call: Prepared,
  actor: Actor,
  entries: readonly AuditEntry[],
): Promise<void> {
  if (entries.length === 0) return;
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

function succeeded(call: Prepared, answer: Answer<unknown> | StreamedAnswer<unknown>): Outgoing {
  const headers = { ...call.headers };
  if (answer.total !== undefined) headers['X-Total-Count'] = String(answer.total);
  if ('chunks' in answer) {
    const envelope = streamedEnvelope(answer.message, answer.wrap);
    const body = listStream(envelope, answer.chunks);
    // The answer is under way and can only be cut off; the log still hears why.
    body.on('error', (error) => toAppError(error, call.parts, call.incoming));
    return { statusCode: 200, headers, body, operation: call.operation };
  }
  if (answer.ids) Object.assign(headers, idHeaders(answer.ids));
  const body = successEnvelope(answer.message, answer.data);
  return { statusCode: 200, headers, body, operation: call.operation };
}

function refused(
  incoming: Incoming,
  operation: Operation | undefined,
  error: AppError,
  known: Headers,
): Outgoing {
  const headers = { ...known };
  if (error.retryAfterSeconds !== null) headers['Retry-After'] = String(error.retryAfterSeconds);
  const body = errorEnvelope(error, incoming.requestId);
  return { statusCode: error.statusCode, headers, body, operation };
}

/** What the caller may hear of an error. The log hears everything of those that are our fault. */
export function toAppError(
  error: unknown,
  parts: { log: Log },
  incoming: { requestId: string; path: string },
): AppError {
  if (error instanceof AppError) return error;
  const context = { err: error, requestId: incoming.requestId, path: incoming.path };
  if (isUnavailable(error)) {
    parts.log.warn(context, 'a call met an unavailable database');
    return new AppError('UNAVAILABLE', { retryAfterSeconds: 1 });
  }
  parts.log.error(context, 'a call failed');
  return new AppError('INTERNAL_ERROR');
}
