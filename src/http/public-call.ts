// A call without a token: login and refresh.
import { openingFor, transact } from '../base/db/pool.ts';
import type { Actor, AuditEntry } from '../domain/audit/store.ts';
import type { PublicCall } from '../operations/operation.ts';
import { type EnteredRow, enterCall } from './authenticate.ts';
import { type Outgoing, succeeded } from './outcome.ts';
import { assertWellFormed, callBase, type Prepared, storeAudit, tenantOf } from './prepared.ts';

const nameLengthMax = 254;

export async function answerPublic(call: Prepared): Promise<Outgoing> {
  const { parts, tenantId, realNow } = call;
  const name = triedName(call);
  limitAttempts(call, name);
  const opening = enterCall(tenantId, null);
  const row = await transact(parts.database, { opening, readOnly: true }, (_, opened) => opened);
  const tenant = tenantOf(call, row as EnteredRow | undefined);
  assertWellFormed(call);
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

function triedName(call: Prepared): string | undefined {
  const name = call.sent.username ?? call.sent.clientID;
  return typeof name === 'string' ? name.slice(0, nameLengthMax) : undefined;
}

/** By address and by name, before anything is looked up or hashed. */
function limitAttempts(call: Prepared, name: string | undefined): void {
  const { limiters } = call.parts;
  const nowMs = call.realNow.epochMilliseconds;
  limiters.loginAddress.take(call.incoming.address, nowMs, call.headers);
  if (name) {
    limiters.loginName.take(`${call.tenantId}/${name.toLowerCase()}`, nowMs, call.headers);
  }
}
