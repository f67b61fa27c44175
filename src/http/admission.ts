// Whether a caller may make a call at all, asked before its body is read.
import { transact } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import type { Operation, Principal } from '../operations/operation.ts';
import { authorize, type EnteredRow, enterCall, principalOf, readToken } from './authenticate.ts';
import type { Headers } from './envelope.ts';
import { type DispatchParts, type Incoming, tenantOf } from './prepared.ts';

/** A call of which the path and the headers are known. */
export type Arrived = {
  parts: DispatchParts;
  incoming: Incoming;
  workspace: string;
  tenantId: number;
  /** Those of the path. */
  operations: readonly Operation[];
  /** The operation that the call names, as soon as it is known. */
  operation: Operation | undefined;
  realNow: Temporal.Instant;
  /** Headers of the answer, as far as they are known. */
  headers: Headers;
};

/** Its transaction finds out again: the token may be revoked while the body arrives. */
export async function assertAdmitted(arrived: Arrived): Promise<void> {
  const { parts, incoming, operations, realNow } = arrived;
  const token = readToken(incoming.headers.authorization as string | undefined);
  parts.limiters.token.take(token.hash, realNow.epochMilliseconds, arrived.headers);
  const opening = enterCall(token.tenantId, token);
  const options = { opening, readOnly: true };
  const row = await transact(parts.database, options, (_, opened) => opened);
  const entered = row as EnteredRow | undefined;
  const principal = principalOf(entered, { address: incoming.address, realNow });
  if (token.tenantId !== arrived.tenantId) throw new AppError('TOKEN_WORKSPACE_MISMATCH');
  tenantOf(arrived, entered);
  assertMayAny(operations, principal);
}

function assertMayAny(operations: readonly Operation[], principal: Principal): void {
  const refusals = operations.flatMap(({ access }) => {
    try {
      authorize(access, principal);
      return [];
    } catch (error) {
      return [error];
    }
  });
  if (refusals.length === operations.length) throw refusals[0];
}
