// What the npm package runs in a browser; its types are made from the description of the API.
import { type ClientOptions, createCalls } from '../call.ts';
import { routes } from '../routes.ts';

function createClient(options: ClientOptions): Record<string, unknown> {
  return createCalls(routes, options);
}

export { BillingError } from '../call.ts';
export { createClient };
