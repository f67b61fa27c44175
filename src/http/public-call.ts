// A call without a token: login and refresh.
import { openingFor, transact } from '../base/db/pool.ts';
import { nameKey } from '../domain/access/names.ts';
import type { Actor, AuditEntry } from '../domain/audit/store.ts';
import type { PublicCall } from '../operations/operation.ts';
import { type EnteredRow, enterCall } from './authenticate.ts';
import { type Outgoing, succeeded } from './outcome.ts';
import { assertWellFormed, callBase, type Prepared, storeAudit, tenantOf } from './prepared.ts';
import { isFromOwnPage, readSessionCookie } from './session-cookie.ts';

const nameLengthMax = 254;

export async function answerPublic(call: Prepared): Promise<Outgoing> {
  const { parts, tenantId, realNow } = call;
  limitAttempts(call);
  const opening = enterCall(tenantId, null);
  const row = await transact(parts.database, { opening, readOnly: true }, (_, opened) => opened);
  const tenant = tenantOf(call, row as EnteredRow | undefined);
  assertWellFormed(call);
  const publicCall: PublicCall = {
    ...callBase(call, tenant),
    realNow,
    cookieToken: readSessionCookie(call.incoming.headers),
    isFromOwnPage: isFromOwnPage(call.incoming),
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
  const { handle } = call.operation;
  const answer = await handle(publicCall as never, call.validated.body as never, undefined);
  const { accessToken } = ('data' in answer ? answer.data : {}) as { accessToken?: string };
  if (accessToken !== undefined) parts.knownTokens.expect(accessToken);
  return succeeded(call, answer);
}

/** Of a person, of a machine, or both, whichever is tried in the end. */
function triedNames({ sent }: Prepared): string[] {
  const names = [sent.username, sent.clientID].filter((name) => typeof name === 'string');
  return names.map((name) => nameKey(name.slice(0, nameLengthMax)));
}

/** By address and by name, before anything is looked up or hashed. */
function limitAttempts(call: Prepared): void {
  const { limiters } = call.parts;
  const nowMs = call.realNow.epochMilliseconds;
  limiters.loginAddress.take(call.incoming.address, nowMs, call.headers);
  for (const name of triedNames(call)) {
    limiters.loginName.take(`${call.tenantId}/${name}`, nowMs, call.headers);
  }
}
