// What the npm package runs in Node.

import { fetchLocally } from '../../src/base/fetch-locally.ts';
import { type ClientOptions, createCalls } from '../call.ts';
import { routes } from '../routes.ts';

function createClient(options: ClientOptions): Record<string, unknown> {
  return createCalls(routes, { fetch: fetchLocally, ...options });
}

export { BillingError } from '../call.ts';
export { createClient };
