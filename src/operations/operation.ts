// The one way an operation is declared. Its definition gives routing, validation, types, access,
// the OpenAPI description, the reference page and the typed client.
import type { Static, TObject, TSchema } from 'typebox';
import type { Tx } from '../base/db/pool.ts';
import type { AppError, ErrorCode, ErrorDetail } from '../base/errors.ts';
import type { FairTurns } from '../base/fair-turns.ts';
import type { Log } from '../base/log.ts';
import type { Permission } from '../domain/access/roles.ts';
import type { Actor, AuditEntry } from '../domain/audit/store.ts';
import type { Tenant } from '../domain/tenants/tenant.ts';

/**
 * The callers of an operation: anyone (login), any valid token (logout), or a login with the
 * permission. With `own`, a login with that lesser permission may call too, for its own party only.
 */
/** `login`: a person with a token, whatever the roles, and no API client. */
export type Access =
  | 'public'
  | 'authenticated'
  | 'login'
  | { permission: Permission; own?: Permission };

export type Principal = {
  kind: 'Login' | 'Client';
  id: number;
  name: string;
  roles: readonly string[];
  permissions: ReadonlySet<Permission>;
  partyId: number | null;
  sessionId: string;
};

type CallBase = {
  tenant: Tenant;
  requestId: string;
  /** The caller's network address. */
  address: string;
  /** The workspace's time, which a sandbox may have moved ahead. */
  now: Temporal.Instant;
  log: Log;
  /** True if the caller no longer waits for the answer. */
  isGone(): boolean;
};

/** A call inside its transaction: all it changes is stored together, or nothing is. */
export type Call = CallBase & {
  tx: Tx;
  principal: Principal;
  /** The only party the caller may see; null when it may see all. */
  ownPartyId: number | null;
  /** Every change is recorded here and stored with it. */
  audit(entry: AuditEntry): void;
  /** Names fields that have no effect together with the others, or that the schema does not see. */
  ignore(names: readonly string[]): void;
  /** A further read-only transaction of the same workspace: lists are streamed through these. */
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
};

/**
 * A call before its transaction, holding no connection: the caller is known and permitted, the body
 * is well formed. Both are checked again inside the transaction.
 */
export type Preparing = CallBase & {
  principal: Principal;
  /** The machine's time, by which tokens and locks expire. */
  realNow: Temporal.Instant;
  /** A transaction of its own: what it stores stays, whatever becomes of the call. */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
};

/**
 * A call without a token. It opens its transactions itself: hashing must not hold a connection. The
 * operation finds out which login is calling, and passes it to the audit trail.
 */
export type PublicCall = CallBase & {
  /** The machine's time, by which tokens and locks expire, whatever a sandbox's clock says. */
  realNow: Temporal.Instant;
  /** The refresh token of the browser's session, where a browser sent one. */
  cookieToken: string | null;
  /** True if a page of this server's own address asks: a cookie counts for no other. */
  isFromOwnPage: boolean;
  write<T>(work: (tx: Tx, audit: (by: Actor, entry: AuditEntry) => void) => Promise<T>): Promise<T>;
};

/**
 * A call after its transaction, holding no connection: it may wait for what it set going. What it
 * finds is not stored under an Idempotency-Key: a repeated call settles again and finds the same,
 * unless the job failed with a code of 500 or more; then the call runs anew.
 */
export type Settling = {
  tenant: Pick<Tenant, 'tenantId'>;
  /** Milliseconds it may take at most. */
  waitMs: number;
  /** True once the server is closing: calls no longer wait then. */
  isClosing(): boolean;
  log: Log;
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
};

/** Ids of created objects, sent in headers because `data` stays empty. */
export type AnswerIds = {
  resourceIds?: readonly (number | string)[];
  partyNumbers?: readonly number[];
  termIds?: readonly number[];
  jobId?: number;
  connectionNumbers?: readonly string[];
};

export type Answer<Data> = {
  message: string;
  data: Data;
  ids?: AnswerIds;
  /** For a page of a list: how many there are in all. */
  total?: number;
  /** The refresh token that a browser keeps from now on as a cookie; null ends its session. */
  cookie?: { token: string; seconds: number } | null;
};

/** A whole list, handed on in chunks as fast as the caller reads and no faster. */
export type StreamedAnswer<Data> = {
  message: string;
  total: number;
  /** Puts the array into its place in `data`, and those that follow into theirs. */
  wrap(rows: never[], ...also: never[][]): Data;
  chunks: AsyncIterable<readonly unknown[]>;
  /** Further arrays, in the order of `data`. */
  also?: readonly AsyncIterable<readonly unknown[]>[];
};

export type OperationDefinition<
  Request extends TObject = TObject,
  Response extends TSchema = TSchema,
  Who extends Access = Access,
  Ready = unknown,
> = {
  /** The wire path; its file under operations/ has the same one. */
  path: `/billing/${string}`;
  method: string;
  action: string;
  /** Called without method, action and apiVersion; a call that has them is accepted too. */
  isWordless?: true;
  access: Who;
  /** One sentence for the reference page. */
  summary: string;
  /** Whether it reads a few rows by key: such calls of one moment are answered together. */
  byKey?(body: NoInfer<Static<Request>>): boolean;
  /** It takes rows or a file, so its body may be larger than others. */
  takesRows?: true;
  request: Request;
  response: Response;
  /** The codes it may answer, besides those that any call can get. */
  errors: readonly ErrorCode[];
  /** Sums up what is wrong with a request, where its parts are refused with one code. */
  refusal?(problems: ErrorDetail[]): AppError;
  example: NoInfer<Static<Request>>;
  /**
   * For calls that keep processors, threads or connections busy: a call of a workspace starts when
   * its turn comes, and waits for it without a connection.
   */
  turns?: FairTurns;
  /**
   * Slow work that needs no transaction, such as hashing. It is done before the transaction opens;
   * `handle` receives what it returns. It may be done in vain, so it changes nothing that a caller
   * would notice.
   */
  prepare?(call: Preparing, body: Static<Request>): Promise<Ready>;
  handle(
    call: Who extends 'public' ? PublicCall : Call,
    body: Static<Request>,
    ready: NoInfer<Ready>,
  ): Promise<Answer<Static<Response>> | StreamedAnswer<Static<Response>>>;
  /**
   * For an operation whose answer names a job: waits for the job's end after the commit. Returns
   * the outcome, throws the job's error, or returns undefined: then the first answer is kept.
   */
  settle?(call: Settling, jobId: number): Promise<Answer<Static<Response>> | undefined>;
};

export type Operation = OperationDefinition<TObject, TSchema, Access>;

export function operation<
  Request extends TObject,
  Response extends TSchema,
  const Who extends Access,
  Ready = undefined,
>(
  definition: OperationDefinition<Request, Response, Who, Ready>,
): OperationDefinition<Request, Response, Who, Ready> {
  return definition;
}

/**
 * Reads change nothing: they run read-only and take no Idempotency-Key. What they leave in the
 * audit trail is stored after them.
 */
export function isRetrieve(operation: { method: string }): boolean {
  return operation.method === 'Retrieve';
}
