// A call with a token: its principal, its transaction, its audit entries, its stored answer.
import { isRetryable } from '../base/db/faults.ts';
import { type OpeningRow, openingFor, type Tx, transact } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { FairTurns } from '../base/fair-turns.ts';
import { touchSession } from '../domain/access/sessions-store.ts';
import type { AuditEntry } from '../domain/audit/store.ts';
import { hasBroken } from '../jobs/jobs-store.ts';
import {
  type Call,
  isRetrieve,
  type Preparing,
  type Principal,
  type Settling,
} from '../operations/operation.ts';
import {
  authorize,
  type EnteredRow,
  enterCall,
  enterTenant,
  principalOf,
  readToken,
  type Token,
} from './authenticate.ts';
import { ignoredFieldsHeader, jobHeader, mayTryAgain } from './envelope.ts';
import {
  claimKey,
  forgetAnswer,
  type Key,
  markBeforeWork,
  readKey,
  type StoredAnswer,
  storeAnswer,
  undoWork,
} from './idempotency-store.ts';
import { type Outgoing, refused, succeeded } from './outcome.ts';
import { assertWellFormed, callBase, type Prepared, storeAudit, tenantOf } from './prepared.ts';

/** A deadlock or serialization failure is run again this often before the caller gets the error. */
const attemptsMax = 4;
const sessionTouchSeconds = 30;

export async function answerPrivate(call: Prepared): Promise<Outgoing> {
  const { parts, incoming, realNow, operation } = call;
  const token = readToken(incoming.headers.authorization as string | undefined);
  parts.limiters.token.take(token.hash, realNow.epochMilliseconds, call.headers);
  const isSlow = operation.turns !== undefined || operation.prepare !== undefined;
  const first = await (isSlow ? runSlow(call, token) : runInTransaction(call, token));
  if (first.read) await keepRead(call, first.read);
  return operation.settle ? settled(call, first) : first;
}

/** A read runs in a transaction that writes nothing: what it leaves behind has one of its own. */
function keepRead(call: Prepared, { by, entries }: NonNullable<Outgoing['read']>): Promise<void> {
  return transact(call.parts.database, { opening: openingFor(call.tenantId) }, (tx) =>
    storeAudit(tx, call, by, entries),
  );
}

/** Whatever takes long without a transaction, waiting included, is done before one is opened. */
async function runSlow(call: Prepared, token: Token): Promise<Outgoing> {
  const { operation, tenantId } = call;
  const preparing = await admitEarly(call, token);
  const run = async () => {
    if (call.incoming.isGone()) throw new AppError('UNAVAILABLE', { message: 'The caller left' });
    const ready = await operation.prepare?.(preparing, call.validated.body as never);
    return runInTransaction(call, token, ready);
  };
  return operation.turns ? operation.turns.run(tenantId, run) : run();
}

async function admitEarly(call: Prepared, token: Token): Promise<Preparing> {
  const opening = enterCall(token.tenantId, token);
  const read = { opening, readOnly: true };
  const row = await transact(call.parts.database, read, (_, opened) => opened);
  const { tenant, principal } = admit(call, token, row as EnteredRow | undefined);
  return {
    ...callBase(call, tenant),
    principal,
    realNow: call.realNow,
    write: (work) => transact(call.parts.database, { opening: openingFor(call.tenantId) }, work),
  };
}

async function runInTransaction(call: Prepared, token: Token, ready?: unknown): Promise<Outgoing> {
  const { parts, operation } = call;
  const readOnly = isRetrieve(operation);
  let known = parts.knownTokens.get(token);
  for (let attempt = 1; ; attempt += 1) {
    const opening = known ? enterTenant(token.tenantId) : enterCall(token.tenantId, token);
    const { tenantId } = token;
    const isByKey = operation.byKey?.(call.validated.body as never) ?? false;
    const company = known && isByKey ? { tenantId, kind: operation } : undefined;
    try {
      const row = known;
      return await transact(parts.database, { opening, readOnly, company }, (tx, opened) =>
        row
          ? runKnown({ call, token, tx, ready }, row, opened)
          : runUnknown({ call, token, tx, ready }, opened as Promise<EnteredRow | undefined>),
      );
    } catch (error) {
      if (error === tokenChanged) known = undefined;
      else if (!isRetryable(error) || attempt === attemptsMax) throw error;
    }
  }
}

/** Where the call set a job going, its answer is that of the job, if that ends soon enough. */
async function settled(call: Prepared, first: Outgoing): Promise<Outgoing> {
  const { parts, operation, tenantId } = call;
  const jobId = first.headers[jobHeader];
  if (!operation.settle || jobId === undefined || first.statusCode !== 200) return first;
  const { headers } = first;
  try {
    const settling: Settling = {
      tenant: { tenantId },
      waitMs: parts.scheduleWaitMs,
      isClosing: () => parts.closing.isClosing,
      log: parts.log,
      read: (work) =>
        transact(parts.database, { opening: openingFor(tenantId), readOnly: true }, work),
    };
    const answer = await operation.settle(settling, Number(jobId));
    if (!answer) return first;
    const { body } = succeeded(call, answer);
    return { ...first, body };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return refused(operation, error, call.incoming.requestId, headers);
  }
}

/** What was known of the token no longer holds: the call begins again and finds out anew. */
const tokenChanged = new Error('the token changed since it was last used');

/** A call and the transaction it runs in. `ready` is what its `prepare` returned. */
type Running = { call: Prepared; token: Token; tx: Tx; ready: unknown };

async function runUnknown(
  running: Running,
  opened: Promise<EnteredRow | undefined>,
): Promise<Outgoing> {
  const entered = await opened;
  if (entered) running.call.parts.knownTokens.keep(running.token, entered);
  return runCall(running, entered);
}

/**
 * A read may begin before the database has said whether what is known of the token still holds: if
 * it does not, the outcome is thrown away, whatever it was. A change waits for the answer.
 */
async function runKnown(
  running: Running,
  known: EnteredRow,
  opened: Promise<OpeningRow>,
): Promise<Outgoing> {
  const isRead = isRetrieve(running.call.operation);
  const begunEarly = isRead ? runCall(running, known) : undefined;
  // Its failure is of interest only where the token still holds.
  begunEarly?.catch(ignore);
  const opening = await opened;
  if (opening?.access_epoch === known.access_epoch) {
    return begunEarly ?? runCall(running, known);
  }
  begunEarly?.then(discard, ignore);
  throw tokenChanged;
}

function discard(outgoing: Outgoing): void {
  if (typeof outgoing.body !== 'string') outgoing.body.destroy();
}

function ignore(): void {}

/** Whether the caller may make this call, and whether the call is well formed. */
function admit(call: Prepared, token: Token, entered: EnteredRow | undefined) {
  const { parts, incoming, operation, realNow } = call;
  const principal = principalOf(entered, { address: incoming.address, realNow });
  if (token.tenantId !== call.tenantId) throw new AppError('TOKEN_WORKSPACE_MISMATCH');
  const tenant = tenantOf(call, entered);
  parts.limiters.tenant.take(String(call.tenantId), realNow.epochMilliseconds);
  // Before the permission is checked: it would be that of an operation that was not meant.
  if (call.mismatch) throw call.mismatch;
  const { ownPartyId } = authorize(operation.access, principal);
  assertWellFormed(call);
  return { principal, tenant, ownPartyId };
}

/** Inside the transaction that was opened for the token's tenant. */
async function runCall(
  { call, token, tx, ready }: Running,
  entered: EnteredRow | undefined,
): Promise<Outgoing> {
  const { operation } = call;
  const { principal, tenant, ownPartyId } = admit(call, token, entered);
  keepAlive(call, principal, entered);
  const entries: AuditEntry[] = [];
  const fullCall: Call = {
    ...callBase(call, tenant),
    tx,
    principal,
    ownPartyId,
    audit: (entry) => entries.push(entry),
    ignore: (names) => {
      const all = [...call.validated.ignored, ...names];
      Object.assign(call.headers, ignoredFieldsHeader(all));
    },
    read: (work) => readChunk(call, work),
  };
  const run = async () => {
    const answer = await operation.handle(fullCall as never, call.validated.body as never, ready);
    if (entries.length === 0) return succeeded(call, answer);
    if (isRetrieve(operation))
      return { ...succeeded(call, answer), read: { by: principal, entries } };
    await storeAudit(tx, call, principal, entries);
    return succeeded(call, answer);
  };
  const key = isRetrieve(operation) ? undefined : idempotencyKey(call, principal);
  return key === undefined ? run() : runOnce(call, tx, key, run);
}

/** Chunks of lists. With many lists under way, a workspace reads few chunks at the same time. */
const chunkTurns = new FairTurns({
  places: 4,
  share: 1,
  waitingMax: 1_000,
  waitMs: 60_000,
  what: 'lists',
});

function readChunk<T>({ parts, tenantId }: Prepared, work: (tx: Tx) => Promise<T>): Promise<T> {
  const read = { opening: openingFor(tenantId), readOnly: true };
  return chunkTurns.run(tenantId, () => transact(parts.database, read, work));
}

function idempotencyKey(call: Prepared, principal: Principal): Key | undefined {
  return readKey(call.incoming.headers['idempotency-key'], {
    principal: `${principal.kind}:${principal.id}`,
    path: call.incoming.path,
    body: call.bytes,
  });
}

/**
 * Returns the answer stored under the key, or does the work and stores its answer with its effect.
 */
async function runOnce(
  call: Prepared,
  tx: Tx,
  key: Key,
  run: () => Promise<Outgoing>,
): Promise<Outgoing> {
  const { operation, tenantId, realNow } = call;
  const stored = await findAnswer(call, tx, key);
  if (stored) {
    // The operation may have named more ignored fields than the request shows.
    const { 'X-Ignored-Fields': told } = stored.headers;
    const ignored = told === undefined ? {} : { 'X-Ignored-Fields': told };
    const own = { ...call.headers, ...ignored, 'Idempotency-Replayed': 'true' };
    const headers = { ...stored.headers, ...own };
    const statusCode = Number(stored.headers['X-Status-Code'] ?? 200);
    return { statusCode, headers, body: stored.body, operation };
  }
  await markBeforeWork(tx);
  const outgoing = await run().catch(async (error) => {
    if (!(error instanceof AppError) || error.statusCode >= 500) throw error;
    // A caller that is asked to try again does so with the same key.
    if (mayTryAgain(error)) throw error;
    await undoWork(tx);
    return refused(operation, error, call.incoming.requestId, call.headers);
  });
  if (typeof outgoing.body !== 'string') throw new Error('a streamed answer cannot be stored');
  const headers = { ...outgoing.headers, 'X-Status-Code': String(outgoing.statusCode) };
  await storeAnswer(tx, tenantId, key, { headers, body: outgoing.body }, realNow);
  return outgoing;
}

/** An answer whose job broke is that of a call that ended in 500: the call runs anew. */
async function findAnswer(call: Prepared, tx: Tx, key: Key): Promise<StoredAnswer | undefined> {
  const { operation, tenantId, realNow } = call;
  const stored = await claimKey(tx, tenantId, key, realNow);
  const jobId = operation.settle && stored?.headers[jobHeader];
  if (jobId === undefined || !(await hasBroken(tx, tenantId, Number(jobId)))) return stored;
  await forgetAnswer(tx, tenantId, key);
  return undefined;
}

/**
 * If sessions may be idle for a limited time only, their last use is stored now and then, not on
 * every call. The call does not wait for it: a call that held one connection and waited for another
 * could wait for ever.
 */
function keepAlive(call: Prepared, principal: Principal, entered: EnteredRow | undefined): void {
  if (!entered?.session_used_at || entered.idle_seconds === null) return;
  const since = entered.session_used_at.until(call.realNow).total('seconds');
  if (since < Math.min(sessionTouchSeconds, entered.idle_seconds / 4)) return;
  transact(call.parts.database, { opening: openingFor(call.tenantId) }, (tx) =>
    touchSession(tx, call.tenantId, principal.sessionId, call.realNow),
  ).catch((error) =>
    call.parts.log.warn({ err: error }, 'the last use of a session could not be stored'),
  );
}
