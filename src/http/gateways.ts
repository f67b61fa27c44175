// The door for notices of payment gateways. They cannot send a token: the signature of the bytes
// proves who sent them. What is not configured answers like any path that does not exist.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { openingFor, type Tx, transact } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { tryUnseal } from '../base/secret-key.ts';
import { insertAuditEntries } from '../domain/audit/store.ts';
import { findGateway, liveSecrets } from '../domain/bank-files/gateways-store.ts';
import { type Adapter, adapterOf, type Notice } from '../domain/bank-files/notice.ts';
import { type Taken, takeNotice } from '../domain/bank-files/take-notice.ts';
import { findSettings, findStatus } from '../domain/tenants/store.ts';
import { tenantFrom } from '../domain/tenants/tenant.ts';
import { BodyReader, bodyBytesMax } from './body.ts';
import type { DispatchParts } from './prepared.ts';
import { RateLimiter } from './rate-limit.ts';

type Found = { tenantId: number; workspace: string; adapter: string; read: Adapter };
type Answer = { status: number; outcome: string };

const notFound: Answer = { status: 404, outcome: 'not found' };
/** The gateway comes again, when the operator has brought the key. */
const unreadable: Answer = {
  status: 503,
  outcome: 'The secret was encrypted with another key than that of this server',
};
/** Notices of one address, and of one workspace. */
const rates = {
  address: { perSecond: 20, burst: 100 },
  workspace: { perSecond: 50, burst: 200 },
};

export function registerGateways(server: FastifyInstance, parts: DispatchParts): void {
  const limiters = {
    address: new RateLimiter(rates.address),
    workspace: new RateLimiter(rates.workspace),
  };
  const answer = async (request: FastifyRequest): Promise<Answer> => {
    const nowMs = parts.clock.now().epochMilliseconds;
    limiters.address.take(request.ip, nowMs);
    const found = await findDoor(parts, request);
    if (!found) return notFound;
    limiters.workspace.take(String(found.tenantId), nowMs);
    const reader = new BodyReader(request.raw);
    const bytes = await reader.upTo(bodyBytesMax.stranger);
    reader.discardRest();
    if (!bytes) return { status: 413, outcome: 'The notice is larger than 64 KiB' };
    const body = bytes.toString('utf8');
    return transact(parts.database, { opening: openingFor(found.tenantId) }, (tx) =>
      answerNotice(tx, parts, found, { request, body }),
    );
  };
  server.post('/gateways/:workspace/:adapter', async (request, reply) => {
    const { status, outcome } = await answer(request).catch((error) => refusalOf(error, reply));
    parts.log.info({ requestId: request.id, status, outcome, address: request.ip }, 'notice');
    const path = request.url.slice(0, 200);
    const shown = status === 404 ? { status: outcome, path } : { status: outcome };
    return reply.code(status).send(shown);
  });
}

/** A caller that is refused for its speed is asked to come again; any other fault is ours. */
function refusalOf(error: unknown, reply: FastifyReply): Answer {
  if (!(error instanceof AppError)) throw error;
  if (error.statusCode === 429) reply.header('Retry-After', '1');
  return { status: error.statusCode, outcome: error.message };
}

async function findDoor(parts: DispatchParts, request: FastifyRequest): Promise<Found | undefined> {
  const { workspace, adapter } = request.params as { workspace: string; adapter: string };
  const read = adapterOf(adapter);
  if (!read) return undefined;
  try {
    const { tenantId } = await parts.workspaces.findNamed(workspace);
    return { tenantId, workspace, adapter, read };
  } catch (error) {
    if (error instanceof AppError && error.code === 'WORKSPACE_NOT_FOUND') return undefined;
    throw error;
  }
}

type Sent = { request: FastifyRequest; body: string };

async function answerNotice(
  tx: Tx,
  parts: DispatchParts,
  { tenantId, workspace, adapter, read }: Found,
  { request, body }: Sent,
): Promise<Answer> {
  const gateway = await findGateway(tx, tenantId, adapter);
  const isOpen = gateway?.status === 'Active' && (await findStatus(tx, tenantId)) === 'Active';
  if (!gateway || !isOpen) return notFound;
  const realNow = parts.clock.now();
  const secrets = liveSecrets(gateway, realNow).flatMap((sealed) => tryUnseal(sealed) ?? []);
  if (secrets.length === 0) return unreadable;
  const notice = read({ body, headers: request.headers, secrets });
  if (notice === 'Forged') return { status: 401, outcome: 'The signature is not valid' };
  if (notice === 'Malformed') return { status: 400, outcome: 'The notice cannot be read' };
  if (notice === 'Other') return { status: 200, outcome: 'ignored' };
  const tenant = { ...tenantFrom(tenantId, await findSettings(tx, tenantId)), workspace };
  const at = realNow.add({ milliseconds: tenant.clockOffsetMs });
  const own = { adapter, bankAccountId: gateway.bank_account_id };
  const taken = await takeNotice(tx, tenant, own, notice, { at, by: `gateway ${adapter}` });
  if ('bankLineId' in taken && taken.bankLineId !== null) {
    const context = {
      requestId: request.id,
      at: realNow,
      actor: `gateway ${adapter}`,
      actorKind: 'System',
      address: request.ip,
      operation: '/gateways',
    } as const;
    const after = { noticeID: notice.id, kind: notice.kind, amount: notice.amount };
    const entry = { subject: 'bank line', subjectId: taken.bankLineId, before: null, after };
    await insertAuditEntries(tx, tenantId, context, [entry]);
  }
  return shown(taken, notice);
}

function shown(taken: Taken, { currency }: Notice): Answer {
  switch (taken.outcome) {
    case 'Posted':
      return { status: 200, outcome: 'accepted' };
    case 'Repeated':
      return { status: 200, outcome: 'known' };
    case 'WrongCurrency':
      return { status: 422, outcome: `The workspace does not take payments in ${currency}` };
    default:
      return { status: 422, outcome: 'The amount must be above zero, in the unit of the currency' };
  }
}
