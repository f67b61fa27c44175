// The typed client, every answer of which is checked against the operation's own declaration:
// the response schema, with no field beside it, and the error codes it lists. Errors are checked
// against the description that others read.
import assert from 'node:assert/strict';
import { Compile } from 'typebox/compile';
import { type Client, createClient } from '../../sdk/client.ts';
import type { ErrorCode } from '../../src/base/errors.ts';
import { commonErrors, describeApi } from '../../src/http/openapi.ts';
import { operations } from '../../src/operations/catalogue.ts';
import type { Operation } from '../../src/operations/operation.ts';
import { withPastDueDates } from './due-dates.ts';
import { send } from './http.ts';

export type TestClient = Client & { workspace: string; token: string | null };

export function checkedClient(baseUrl: string, workspace: string): TestClient {
  const client = createClient({
    baseUrl,
    headers: { 'X-Workspace': workspace },
    fetch: async (input, init) => {
      const body = String(init?.body);
      const own = init?.headers as Record<string, string>;
      const { status, headers, text } = await send(new URL(String(input)), { headers: own, body });
      const envelope = JSON.parse(text) as Envelope;
      checkAnswer(String(input), JSON.parse(body), { status, headers }, envelope);
      // All that the client looks at.
      return { status, headers, json: async () => envelope as unknown } as Response;
    },
  });
  return Object.assign(client, { workspace, token: null }, withPastDueDates(client));
}

export type Envelope = {
  success: boolean;
  statusCode: number;
  message: string;
  error: { code: ErrorCode } | null;
  data: unknown;
};

/** Throws if an answer is not one that the operation declares. */
export function checkAnswer(
  url: string,
  body: { method?: string; action?: string },
  { status, headers }: { status: number; headers: Headers },
  envelope: Envelope,
): void {
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(envelope), ['success', 'statusCode', 'message', 'error', 'data']);
  assert.equal(headers.get('x-status-code'), String(envelope.statusCode));
  assert.match(headers.get('x-request-id') ?? '', /^[0-9A-Z]{26}$/);
  const { pathname } = new URL(url);
  for (const name of headers.keys()) {
    assert.ok(!name.startsWith('x-') || knownHeaders.has(name), `${name} is not described`);
  }
  const operation = operations
    .map(([, one]) => one)
    .find(
      (one) => one.path === pathname && one.method === body.method && one.action === body.action,
    );
  if (!operation) return;
  if (envelope.success) checkData(operation, envelope);
  else {
    checkCode(operation, envelope.error?.code);
    checkError(operation, envelope.error);
  }
}

function checkCode(operation: Operation, code: ErrorCode | undefined): void {
  assert.notEqual(code, 'INTERNAL_ERROR', `${operation.path} failed`);
  const listed = code && (operation.errors.includes(code) || commonErrors.includes(code));
  assert.ok(listed, `${operation.path} answered ${code}, which it does not list`);
}

const { components, paths } = describeApi(operations) as {
  components: { schemas: { Error: object } };
  paths: Record<string, { post: { responses: { '200': { headers: object } } } }>;
};
const described = Object.values(paths)[0]?.post.responses['200'].headers ?? {};
const knownHeaders = new Set(
  ['X-Content-Type-Options', ...Object.keys(described)].map((name) => name.toLowerCase()),
);
const errorValidator = Compile(closed(components.schemas.Error) as never);

function checkError(operation: Operation, error: unknown): void {
  if (errorValidator.Check(error)) return;
  const problems = errorValidator.Errors(error).slice(0, 5);
  assert.fail(
    `${operation.path} answered an error that /openapi.json refuses: ${JSON.stringify(problems)}`,
  );
}

const validators = new Map<Operation, ReturnType<typeof Compile>>();

function checkData(operation: Operation, envelope: Envelope): void {
  let validator = validators.get(operation);
  if (!validator) {
    validator = Compile(closed(operation.response) as never);
    validators.set(operation, validator);
  }
  if (validator.Check(envelope.data)) return;
  const problems = validator.Errors(envelope.data).slice(0, 5);
  assert.fail(
    `${operation.path} answered data that its schema refuses: ${JSON.stringify(problems)}`,
  );
}

/** The schema with every object closed, so that an undeclared field fails. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, closed(value)]),
  );
  if ('properties' in copy && !('additionalProperties' in copy)) copy.additionalProperties = false;
  return copy;
}

/** Asserts that a call is refused with this code, and returns the refusal. */
export async function refuses(
  call: Promise<unknown>,
  code: ErrorCode,
  expected: { field?: string; statusCode?: number } = {},
) {
  try {
    await call;
  } catch (error) {
    const refusal = error as import('../../sdk/client.ts').BillingError;
    assert.equal(refusal.error?.code, code, refusal.message);
    if (expected.field !== undefined) assert.equal(refusal.error.field, expected.field);
    if (expected.statusCode !== undefined) assert.equal(refusal.statusCode, expected.statusCode);
    return refusal;
  }
  return assert.fail(`was not refused with ${code}`);
}
