// The catalogue as an OpenAPI 3.1 document.
import { type ErrorCode, errorCodes } from '../base/errors.ts';
import { demoLogin } from '../domain/access/demo-login.ts';
import { isRetrieve, type Operation } from '../operations/operation.ts';
import { groupOf, groupsOf, inOrderOfWork } from './api-groups.ts';
import { describeFields } from './describe-fields.ts';

type Json = { [name: string]: unknown };

/** Codes that any call can get, whatever the operation. */
export const commonErrors: readonly ErrorCode[] = [
  'UNKNOWN_PATH',
  'METHOD_NOT_ALLOWED',
  'UNSUPPORTED_MEDIA_TYPE',
  'REQUEST_TOO_LARGE',
  'MALFORMED_JSON',
  'TOO_DEEP',
  'WORKSPACE_NOT_FOUND',
  'WORKSPACE_SUSPENDED',
  'TOKEN_MISSING',
  'BEARER_PREFIX_NOT_USED',
  'TOKEN_INVALID',
  'TOKEN_EXPIRED',
  'TOKEN_REVOKED',
  'TOKEN_WORKSPACE_MISMATCH',
  'PERMISSION_DENIED',
  'RATE_LIMITED',
  'OPERATION_MISMATCH',
  'UNSUPPORTED_API_VERSION',
  'REQUIRED_FIELD',
  'FIELD_NOT_NULLABLE',
  'INVALID_TYPE',
  'INVALID_CHARACTER',
  'INVALID_DATE',
  'INVALID_DATETIME',
  'INVALID_ENUM',
  'INVALID_NUMBER',
  'INVALID_EMAIL',
  'INVALID_COUNTRY',
  'INVALID_FORMAT',
  'FIELD_TOO_LONG',
  'UNKNOWN_FIELD',
  'TOO_MANY_ITEMS',
  'INVALID_PAGE',
  'INVALID_FILTER_VALUE',
  'IDEMPOTENCY_KEY_IN_USE',
  'IDEMPOTENCY_KEY_REUSED',
  'UNAVAILABLE',
  'INTERNAL_ERROR',
];

const introduction = `## Log in first

Open this page at the address of your workspace. For the workspace ${demoLogin.workspace} on this
machine that is the host name \`${demoLogin.workspace}.localhost\`.

1. Open \`/billing/auth/login\` below and press **Execute**. The example is the login of the demo
   workspace: user name \`${demoLogin.username}\`, password \`${demoLogin.password}\`. In a
   workspace of your own, put in your own.
2. Copy the value of \`accessToken\` from the answer.
3. Press **Authorize**, paste the token alone, without "Bearer", and confirm.

Now every operation can be tried here. When a call answers \`TOKEN_EXPIRED\`, log in again.

## Every call

Every operation is an HTTP POST with a JSON body. \`method\` and \`action\` name the operation, and
\`apiVersion\` is \`v2\`. The answer is HTTP 200 with the envelope \`success\`, \`statusCode\`,
\`message\`, \`error\` and \`data\`; \`statusCode\` is the outcome.`;

export function describeApi(operations: readonly (readonly [string, Operation])[]): Json {
  const ordered = inOrderOfWork(operations);
  const byPath = Map.groupBy(ordered, ([, operation]) => operation.path);
  const schemas: Json = { Error: errorSchema(), Failure: failureSchema() };
  for (const [name, operation] of operations) {
    schemas[`${name}Request`] = requestSchema(operation);
    schemas[`${name}Response`] = envelopeSchema(operation);
  }
  for (const [name, schema] of Object.entries(schemas)) {
    describeFields(schema as object, name.replace(/(Request|Response)$/, ''));
  }
  const paths = [...byPath].map(([path, list]) => [path, { post: describePath(list) }]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Billwright',
      version: '1.0.0',
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ accessToken: [] }],
    tags: groupsOf(operations).map(({ name, description }) => ({ name, description })),
    paths: Object.fromEntries(paths),
    components: {
      schemas,
      securitySchemes: {
        accessToken: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'The token alone, without "Bearer"',
        },
      },
    },
  };
}

type Named = readonly [string, Operation];

function describePath(list: readonly Named[]): Json {
  const [first] = list;
  if (!first) throw new Error('a path without operations');
  const operations = list.map(([, operation]) => operation);
  const isPublic = operations.every((operation) => operation.access === 'public');
  const codes = [...new Set(operations.flatMap((operation) => operation.errors))].sort();
  return {
    operationId: list.map(([name]) => name).join('_'),
    tags: [tagOf(first[1])],
    summary: operations.map((operation) => operation.action).join(' | '),
    description: [...operations.map(describeOne), errorList(codes)].join('\n\n'),
    ...(isPublic ? { security: [] } : {}),
    ...(isPublic || operations.every(isRetrieve) ? {} : { parameters: [idempotencyParameter] }),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: oneOrAny(list.map(([name]) => `${name}Request`)),
          examples: Object.fromEntries(
            list.map(([name, operation]) => [name, exampleOf(operation)]),
          ),
        },
      },
    },
    responses: {
      '200': {
        description: 'The envelope, for success and failure alike',
        headers: responseHeaders,
        content: {
          'application/json': {
            schema: oneOrAny([...list.map(([name]) => `${name}Response`), 'Failure']),
          },
        },
      },
    },
  };
}

function describeOne(operation: Operation): string {
  const { access } = operation;
  const need =
    typeof access === 'string'
      ? access === 'public'
        ? 'No token needed.'
        : 'Any valid token.'
      : `Needs \`${access.permission}\`${access.own ? ` or \`${access.own}\`` : ''}.`;
  return `**${operation.method} / ${operation.action}**: ${operation.summary} ${need}`;
}

function errorList(codes: readonly ErrorCode[]): string {
  if (codes.length === 0) return '';
  const rows = codes.map(
    (code) => `- \`${code}\` (${errorCodes[code].statusCode}): ${errorCodes[code].summary}`,
  );
  return `Besides the codes any call can get:\n${rows.join('\n')}`;
}

function exampleOf(operation: Operation): Json {
  const { method, action, isWordless } = operation;
  const words = isWordless ? {} : { method, action, apiVersion: 'v2' };
  return { summary: action, value: { ...words, ...(operation.example as Json) } };
}

function requestSchema(operation: Operation): Json {
  const request = operation.request as unknown as {
    properties: Json;
    required?: string[];
  };
  return {
    type: 'object',
    properties: {
      method: { const: operation.method },
      action: { const: operation.action },
      apiVersion: { const: 'v2' },
      ...(plain(request.properties) as Json),
    },
    required: [
      ...(operation.isWordless ? [] : ['method', 'action', 'apiVersion']),
      ...(request.required ?? []),
    ],
  };
}

function envelopeSchema(operation: Operation): Json {
  return {
    type: 'object',
    properties: {
      success: { const: true },
      statusCode: { const: 200 },
      message: { type: 'string' },
      error: { type: 'null' },
      data: plain(operation.response),
    },
    required: ['success', 'statusCode', 'message', 'error', 'data'],
  };
}

function failureSchema(): Json {
  return {
    type: 'object',
    properties: {
      success: { const: false },
      statusCode: { type: 'integer', minimum: 400 },
      message: { type: 'string' },
      error: { $ref: '#/components/schemas/Error' },
      data: { type: 'object' },
    },
    required: ['success', 'statusCode', 'message', 'error', 'data'],
  };
}

function errorSchema(): Json {
  const kinds = [...new Set(Object.values(errorCodes).map((entry) => entry.type))];
  const detail = {
    type: 'object',
    properties: {
      field: { type: ['string', 'null'] },
      code: { type: 'string' },
      message: { type: 'string' },
      rejectedValue: {},
      allowed: { type: 'array', items: {} },
      position: { type: 'integer', description: 'character offset inside a formula' },
    },
    required: ['field', 'code', 'message'],
  };
  return {
    type: 'object',
    properties: {
      code: { enum: Object.keys(errorCodes) },
      type: { enum: kinds },
      field: { type: ['string', 'null'] },
      message: { type: 'string' },
      allowed: { type: 'array', items: {} },
      current: {},
      retryable: { type: 'boolean' },
      retryAfter: { type: ['number', 'null'], description: 'seconds' },
      requestID: { type: 'string' },
      details: { type: 'array', items: detail },
    },
    required: [
      'code',
      'type',
      'field',
      'message',
      'retryable',
      'retryAfter',
      'requestID',
      'details',
    ],
  };
}

const idempotencyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'The same key and body within 24 hours give the stored answer instead of a second effect',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const responseHeaders = Object.fromEntries(
  [
    ['X-Request-Id', 'Names this call in the log and the audit trail'],
    ['X-Status-Code', 'statusCode of the envelope, for proxies and dashboards'],
    ['X-Resource-Id', 'Ids that were created, in the order of the request, at most 100'],
    ['X-Resource-Count', 'How many were created'],
    ['X-Party-Number', 'Numbers of the created parties, in the same order'],
    [
      'X-Connection-Number',
      'Numbers of the created subscriptions, in the same order; special characters as %XX',
    ],
    ['X-Term-Id', 'The id of the created term'],
    ['X-Job-Id', 'The job that the call started'],
    ['X-Total-Count', 'How many rows a list has in all'],
    ['X-Ignored-Fields', 'Fields that were sent and not used, at most 20'],
    ['X-RateLimit-Limit', 'Calls that the token may make at once'],
    ['X-RateLimit-Remaining', 'Calls that are left'],
    ['X-RateLimit-Reset', 'Seconds until all calls are available again'],
    ['Retry-After', 'Seconds after which the same call may succeed'],
    ['Idempotency-Replayed', 'true if this is the stored answer of an earlier call'],
  ].map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
);

function oneOrAny(names: readonly string[]): Json {
  const refs = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
  return refs.length === 1 && refs[0] ? refs[0] : { anyOf: refs };
}

function tagOf(operation: Operation): string {
  return groupOf(operation)?.name ?? 'Other';
}

/** A schema as plain JSON: TypeBox keeps marks of its own on it that belong in no document. */
function plain(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema));
}
