// A call, from the wire to the operation and back: workspace, path, body, then with or without a
// token. The only place besides the worker's loop where errors are caught.
import { AppError } from '../base/errors.ts';
import { validate } from '../base/validation/validate.ts';
import { assertJsonContentType, parseBody } from './body.ts';
import { type Headers, ignoredFieldsHeader } from './envelope.ts';
import { type Outgoing, refused, toAppError } from './outcome.ts';
import type { DispatchParts, Incoming } from './prepared.ts';
import { answerPrivate } from './private-call.ts';
import { answerPublic } from './public-call.ts';
import { type Selection, selectOperation } from './routes.ts';
import { limitWrongTokens } from './wrong-tokens.ts';

export async function dispatch(parts: DispatchParts, incoming: Incoming): Promise<Outgoing> {
  let selection: Selection | undefined;
  const headers: Headers = {};
  try {
    const asked = parts.workspaces.find(incoming.host, incoming.headers['x-workspace']);
    const { workspace, tenantId } = asked instanceof Promise ? await asked : asked;
    selection = select(parts, incoming);
    const { operation, mismatch, body: sent } = selection;
    const validated = validate(operation.request, sent);
    if (!mismatch && validated.ignored.length > 0) {
      Object.assign(headers, ignoredFieldsHeader(validated.ignored));
    }
    const realNow = parts.clock.now();
    const call = {
      parts,
      incoming,
      operation,
      mismatch,
      sent,
      validated,
      workspace,
      tenantId,
      realNow,
      headers,
    };
    if (operation.access === 'public') return await answerPublic(call);
    return await limitWrongTokens(parts, incoming, () => answerPrivate(call));
  } catch (error) {
    const refusal = toAppError(error, parts.log, incoming);
    return refused(selection?.operation, refusal, incoming.requestId, headers);
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
