// How a call is sent and its answer read. Nothing here names the server's code: the npm package
// for clients has this file as it is.
/** A successful answer. */
export type Reply<Data> = { message: string; data: Data; headers: Headers };

export type CallOptions = {
  idempotencyKey?: string;
  /** Instead of the client's own; null sends none. */
  token?: string | null;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

export type ClientOptions = {
  /** With the workspace as first label, such as https://acme.example.com; paths are added to it. */
  baseUrl: string;
  token?: string;
  /** Sent with every call, such as X-Workspace on a development server. */
  headers?: Record<string, string>;
  /** Instead of the fetch of the platform. */
  fetch?: typeof globalThis.fetch;
};

export type ErrorBody = {
  code: string;
  type: string;
  field: string | null;
  message: string;
  allowed?: unknown[];
  current?: unknown;
  retryable: boolean;
  retryAfter: number | null;
  requestID: string;
  details: {
    field: string | null;
    code: string;
    message: string;
    rejectedValue?: unknown;
    allowed?: unknown[];
    position?: number;
  }[];
};

/** The server refused the call. */
export class BillingError extends Error {
  readonly statusCode: number;
  readonly error: ErrorBody;
  readonly headers: Headers;

  constructor(statusCode: number, error: ErrorBody, headers: Headers) {
    super(`${error.code}: ${error.message}`);
    this.name = 'BillingError';
    this.statusCode = statusCode;
    this.error = error;
    this.headers = headers;
  }

  get code(): string {
    return this.error.code;
  }
}

type Envelope = {
  success: boolean;
  statusCode: number;
  message: string;
  error: ErrorBody | null;
  data: unknown;
};

/** The words of an operation: its path, and what names it in the body. */
export type Route = { path: string; method: string; action: string };

/** One method for each route, and useToken. */
export function createCalls(
  routes: Readonly<Record<string, Route>>,
  options: ClientOptions,
): Record<string, unknown> {
  const state = { token: options.token ?? null };
  const client: Record<string, unknown> = {
    useToken(token: string | null) {
      state.token = token;
    },
  };
  for (const [name, route] of Object.entries(routes)) {
    client[name] = (body: object = {}, call: CallOptions = {}) =>
      post(options, route, body, {
        ...call,
        token: call.token === undefined ? state.token : call.token,
      });
  }
  return client;
}

async function post(
  options: ClientOptions,
  route: { path: string; method: string; action: string },
  body: object,
  call: CallOptions,
): Promise<Reply<unknown>> {
  const send = options.fetch ?? globalThis.fetch;
  const { path, method, action } = route;
  const response = await send(new URL(options.baseUrl.replace(/\/+$/, '') + path), {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(call.token ? { Authorization: call.token } : {}),
      ...(call.idempotencyKey ? { 'Idempotency-Key': call.idempotencyKey } : {}),
      ...options.headers,
      ...call.headers,
    },
    body: JSON.stringify({ method, action, apiVersion: 'v2', ...body }),
    ...(call.signal ? { signal: call.signal } : {}),
  });
  const envelope = (await response.json().catch(noJson)) as Partial<Envelope> | null;
  if (envelope?.success) {
    const { message = '', data } = envelope;
    return { message, data, headers: response.headers };
  }
  const { statusCode, error } = envelope ?? {};
  if (!statusCode || !error) {
    throw new Error(`not an answer of the billing service: ${response.status}`);
  }
  throw new BillingError(statusCode, error, response.headers);
}

/** A proxy in front of the service may answer without JSON. */
function noJson(error: unknown): null {
  if (error instanceof SyntaxError) return null;
  throw error;
}
