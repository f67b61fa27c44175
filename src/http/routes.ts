// Path -> operations; method and action -> one of them.
import * as Type from 'typebox';
import { AppError } from '../base/errors.ts';
import type { Operation } from '../operations/operation.ts';

export type Routes = ReadonlyMap<string, readonly Operation[]>;

export type Selection = {
  operation: Operation;
  body: Record<string, unknown>;
  /** Thrown only after the token of the caller proved valid. */
  mismatch: AppError | undefined;
};

const apiVersion = 'v2';

/** Every operation's schema gets the three fields that all requests share. */
export function routesOf(operations: readonly Operation[]): Routes {
  const routes = new Map<string, Operation[]>();
  for (const operation of operations) {
    const { method, action } = operation;
    const request = Type.Object({
      method: Type.Optional(Type.Unsafe<unknown>({})),
      action: Type.Optional(Type.Unsafe<unknown>({})),
      apiVersion: Type.Optional(Type.Unsafe<unknown>({})),
      ...operation.request.properties,
    });
    const list = routes.get(operation.path) ?? [];
    if (list.some((other) => other.method === method && other.action === action)) {
      throw new Error(`${operation.path} has two operations ${method} / ${action}`);
    }
    list.push({ ...operation, request: request as typeof operation.request });
    routes.set(operation.path, list);
  }
  return routes;
}

export function selectOperation(
  operations: readonly Operation[],
  body: Record<string, unknown>,
): Selection {
  const [only] = operations;
  if (only?.isWordless) return { operation: only, body, mismatch: undefined };
  const { method, action } = body;
  const named = operations.find((one) => one.method === method && one.action === action);
  const operation = named ?? operations[0];
  if (!operation) throw new Error('a path without operations');
  return { operation, body, mismatch: mismatchOf(operations, named, body) };
}

function mismatchOf(
  operations: readonly Operation[],
  named: Operation | undefined,
  body: Record<string, unknown>,
): AppError | undefined {
  if (!named) {
    const allowed = operations.map(({ method, action }) => ({ method, action }));
    const pairs = allowed.map(({ method, action }) => `${method} / ${action}`).join(', or ');
    return new AppError('OPERATION_MISMATCH', {
      message: `This path takes method / action ${pairs}`,
      field: operations.some((one) => one.method === body.method) ? 'action' : 'method',
      allowed,
    });
  }
  if (body.apiVersion !== apiVersion) {
    return new AppError('UNSUPPORTED_API_VERSION', { field: 'apiVersion', allowed: [apiVersion] });
  }
  return undefined;
}
