// The screens that the navigation names, in its order, each with the permission that offers it.
import { mayUse } from '../api/session.ts';

const places = [
  { to: '/', key: 'terms', permission: 'terms:read' },
  // Roles that see terms have the readings of each term there.
  { to: '/readings', key: 'readings', permission: 'readings:write', unless: 'terms:read' },
  { to: '/customers', key: 'customers', permission: 'parties:read' },
  { to: '/groups', key: 'groups', permission: 'billing-groups:read' },
  { to: '/subscriptions', key: 'subscriptions', permission: 'subscriptions:read' },
  { to: '/payments', key: 'payments', permission: 'payments:read' },
  { to: '/cash-desk', key: 'cashDesk', permission: 'payments:write' },
  { to: '/bank', key: 'bank', permission: 'bank-files:read' },
  { to: '/collections', key: 'collections', permission: 'collections:read' },
  { to: '/ledger', key: 'ledger', permission: 'ledger:read' },
  { to: '/reports', key: 'reports', permission: 'ledger:read' },
  { to: '/services', key: 'services', permission: 'contexts:read' },
  { to: '/plans', key: 'plans', permission: 'plans:read' },
  { to: '/files', key: 'files', permission: 'meters:read' },
  { to: '/settings', key: 'settings', permission: 'settings:read' },
] as const;

/** Those that the login may open. */
export function ownPlaces() {
  return places.filter(
    (place) => mayUse(place.permission) && !('unless' in place && mayUse(place.unless)),
  );
}

export type PlaceKey = (typeof places)[number]['key'];
