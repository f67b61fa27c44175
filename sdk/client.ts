// The typed client: one method for each operation of the catalogue, named as there.
//
//   const billing = createClient({ baseUrl: 'http://demo.localhost:8080' });
//   const { data } = await billing.login({ username, password });
//   billing.useToken(data.accessToken);
//   await billing.makeUsers({ userType: 'customer', users: [{ name: 'A. Khan' }] });
//
// Where the machine does not know *.localhost, start the server with BILLWRIGHT_WORKSPACE_HEADER=1
// and give { baseUrl: 'http://localhost:8080', headers: { 'X-Workspace': 'demo' } }. The npm
// package that `npm run clients` makes needs neither.
//
// The types are those of the operations' own schemas; the server's code is not loaded.
import type { Static } from 'typebox';
import type { Catalogue, OperationName } from '../src/operations/catalogue.ts';
import { type CallOptions, type ClientOptions, createCalls, type Reply } from './call.ts';
import { routes } from './routes.ts';

export {
  BillingError,
  type CallOptions,
  type ClientOptions,
  type ErrorBody,
  type Reply,
} from './call.ts';

export type RequestOf<Name extends OperationName> = Static<Catalogue[Name]['request']>;
export type DataOf<Name extends OperationName> = Static<Catalogue[Name]['response']>;

/** The compiler lets any field pass where none is declared; here none may be sent. */
type BodyOf<Name extends OperationName> = keyof RequestOf<Name> extends never
  ? Record<string, never>
  : RequestOf<Name>;

export type Client = {
  [Name in OperationName]: (
    ...args: Record<never, never> extends RequestOf<Name>
      ? [body?: BodyOf<Name>, options?: CallOptions]
      : [body: BodyOf<Name>, options?: CallOptions]
  ) => Promise<Reply<DataOf<Name>>>;
} & { useToken(token: string | null): void };

export function createClient(options: ClientOptions): Client {
  return createCalls(routes, options) as Client;
}
