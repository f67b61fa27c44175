// A call, from the wire to the operation and back: workspace, path, token, body. The only place
// besides the worker's loop where errors are caught.
import { AppError } from '../base/errors.ts';
import { FairTurns } from '../base/fair-turns.ts';
import type { Span } from '../base/tracing.ts';
import { type Validated, validate, validateInSlices } from '../base/validation/validate.ts';
import type { Operation } from '../operations/operation.ts';
import { type Arrived, assertAdmitted } from './admission.ts';
import { assertTokenForm } from './authenticate.ts';
import {
  assertJsonContentType,
  bodyBytesMax,
  parseBody,
  parseLargeBody,
  tooLarge,
} from './body.ts';
import { type Headers, ignoredFieldsHeader } from './envelope.ts';
import { type Outgoing, refused, toAppError } from './outcome.ts';
import type { DispatchParts, Incoming, Prepared } from './prepared.ts';
import { answerPrivate } from './private-call.ts';
import { answerPublic } from './public-call.ts';
import { type Selection, selectOperation } from './routes.ts';
import { limitWrongTokens } from './wrong-tokens.ts';

export async function dispatch(
  parts: DispatchParts,
  incoming: Incoming,
  span?: Span,
): Promise<Outgoing> {
  const headers: Headers = {};
  let arrived: Arrived | undefined;
  try {
    const asked = parts.workspaces.find(incoming.host, incoming.headers['x-workspace']);
    const { workspace, tenantId } = asked instanceof Promise ? await asked : asked;
    const operations = operationsAt(parts, incoming);
    const operation = operations.length === 1 ? operations[0] : undefined;
    const realNow = parts.clock.now();
    const call = { parts, incoming, workspace, tenantId, operations, operation, headers, realNow };
    arrived = call;
    return await answer(call);
  } catch (error) {
    const refusal = toAppError(error, parts.log, incoming);
    const { code, statusCode } = refusal;
    span?.note({ 'error.type': code, 'http.response.status_code': statusCode });
    // As for every server, a call that is refused for what it asks has not failed.
    if (statusCode >= 500) span?.fail(code);
    return refused(arrived?.operation, refusal, incoming.requestId, headers);
  } finally {
    if (span) describeCall(span, incoming, arrived);
  }
}

function describeCall(span: Span, incoming: Incoming, arrived: Arrived | undefined): void {
  const { requestId, verb } = incoming;
  const { operation, workspace } = arrived ?? {};
  // A path that no operation has may be anything; as a name it would be one more each time.
  const route = operation?.path;
  span.rename(route ? `${verb} ${route}` : verb);
  span.note({
    'http.request.method': verb,
    'http.route': route,
    'billwright.action': operation?.action,
    'billwright.workspace': workspace,
    'billwright.request_id': requestId,
  });
}

function operationsAt(parts: DispatchParts, incoming: Incoming): readonly Operation[] {
  const operations = parts.routes.get(incoming.path);
  if (!operations) {
    throw new AppError('UNKNOWN_PATH', { message: `No operation has the path ${incoming.path}` });
  }
  if (incoming.verb !== 'POST') throw new AppError('METHOD_NOT_ALLOWED');
  assertJsonContentType(incoming.headers['content-type'] as string | undefined);
  return operations;
}

/** Of a caller whose token is not known yet, little is read and nothing is checked. */
function answer(arrived: Arrived): Promise<Outgoing> {
  const { parts, incoming, operations } = arrived;
  const isPublic = operations.every(({ access }) => access === 'public');
  if (isPublic) return answerStranger(arrived);
  return limitWrongTokens(parts, incoming, () => answerHolder(arrived));
}

async function answerStranger(arrived: Arrived): Promise<Outgoing> {
  const bytes = await arrived.incoming.reader.upTo(bodyBytesMax.stranger);
  if (!bytes) throw tooLarge(bodyBytesMax.stranger);
  const selection = selectOperation(arrived.operations, parseBody(bytes));
  return answerPublic(prepare(arrived, bytes, selection));
}

async function answerHolder(arrived: Arrived): Promise<Outgoing> {
  const { incoming, operations } = arrived;
  assertTokenForm(incoming.headers.authorization as string | undefined);
  const bytes = await incoming.reader.upTo(bodyBytesMax.stranger);
  if (!bytes) return answerLarge(arrived);
  let sent: Record<string, unknown>;
  try {
    sent = parseBody(bytes);
  } catch (error) {
    await assertAdmitted(arrived);
    throw error;
  }
  return answerPrivate(prepare(arrived, bytes, selectOperation(operations, sent)));
}

/** Large bodies on their way. A caller that sends slowly keeps others of its workspace waiting. */
const arrivals = new FairTurns({
  places: 32,
  share: 4,
  waitingMax: 32,
  waitMs: 30_000,
  what: 'large requests',
});

/** Large bodies in hand: each may take ten times its size in memory. */
const largeCalls = new FairTurns({
  places: 4,
  share: 2,
  waitingMax: 32,
  waitMs: 60_000,
  what: 'large requests',
});

/** The token is looked at before the body is read, and other calls are served meanwhile. */
async function answerLarge(arrived: Arrived): Promise<Outgoing> {
  const { incoming, operations, tenantId } = arrived;
  await assertAdmitted(arrived);
  const bytesMax = operations.some((one) => one.takesRows) ? bodyBytesMax.rows : bodyBytesMax.plain;
  if (incoming.reader.told > bytesMax) throw tooLarge(bytesMax);
  return arrivals.run(tenantId, async () => {
    const bytes = await incoming.reader.upTo(bytesMax);
    if (!bytes) throw tooLarge(bytesMax);
    return largeCalls.run(tenantId, () => answerWhole(arrived, bytes));
  });
}

async function answerWhole(arrived: Arrived, bytes: Buffer): Promise<Outgoing> {
  const selection = selectOperation(arrived.operations, await parseLargeBody(bytes));
  const { operation, mismatch, body } = selection;
  if (mismatch) return answerPrivate(prepare(arrived, bytes, selection));
  const validated = await validateInSlices(operation.request, body);
  // The copy is enough: what was sent may be several times as large as its text.
  return answerPrivate(prepare(arrived, bytes, { ...selection, body: {} }, validated));
}

function prepare(
  arrived: Arrived,
  bytes: Buffer,
  selection: Selection,
  validated?: Validated,
): Prepared {
  arrived.operation = selection.operation;
  return new ReadCall(arrived, bytes, selection, validated);
}

/** A call whose body was read. Every call has the same fields in the same order, for speed. */
class ReadCall implements Prepared {
  readonly parts: DispatchParts;
  readonly incoming: Incoming;
  readonly operation: Operation;
  readonly mismatch: AppError | undefined;
  readonly sent: Record<string, unknown>;
  readonly bytes: Buffer;
  readonly workspace: string;
  readonly tenantId: number;
  readonly realNow: Temporal.Instant;
  readonly headers: Headers;
  #validated: Validated | undefined;

  constructor(arrived: Arrived, bytes: Buffer, selection: Selection, validated?: Validated) {
    this.parts = arrived.parts;
    this.incoming = arrived.incoming;
    this.operation = selection.operation;
    this.mismatch = selection.mismatch;
    this.sent = selection.body;
    this.bytes = bytes;
    this.workspace = arrived.workspace;
    this.tenantId = arrived.tenantId;
    this.realNow = arrived.realNow;
    this.headers = arrived.headers;
    this.#validated = validated && this.#named(validated);
  }

  get validated(): Validated {
    this.#validated ??= this.#named(validate(this.operation.request, this.sent));
    return this.#validated;
  }

  #named(validated: Validated): Validated {
    const { ignored } = validated;
    if (ignored.length > 0) Object.assign(this.headers, ignoredFieldsHeader(ignored));
    return validated;
  }
}
