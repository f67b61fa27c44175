// The kinds of files that can be taken in, who may, and what takes them in.
import type { Permission } from '../../domain/access/roles.ts';
import type { Loader } from '../../domain/imports/import-rows.ts';
import { customersLoader } from './customers-fields.ts';
import { metersLoader } from './meters-fields.ts';
import { openItemsLoader } from './open-items-fields.ts';
import { partiesLoader } from './parties-fields.ts';
import { readingsLoader } from './readings-fields.ts';
import type { ImportContext } from './row-fields.ts';
import { subscriptionsLoader } from './subscriptions-fields.ts';

export const importKinds = [
  'Parties',
  'Meters',
  'Subscriptions',
  'Readings',
  'Customers',
  'OpenItems',
] as const;
export type ImportKind = (typeof importKinds)[number];

export const loaders: Record<ImportKind, (context: ImportContext) => Loader> = {
  Parties: partiesLoader,
  Meters: metersLoader,
  Subscriptions: subscriptionsLoader,
  Readings: readingsLoader,
  Customers: customersLoader,
  OpenItems: openItemsLoader,
};

/** Permissions for importing a kind: those for creating one of it. */
export const importPermissions: Record<ImportKind, readonly Permission[]> = {
  Parties: ['parties:write'],
  Meters: ['meters:write'],
  Subscriptions: ['subscriptions:write'],
  Readings: ['readings:write'],
  Customers: ['parties:write', 'subscriptions:write', 'meters:write'],
  OpenItems: ['credits:write'],
};
