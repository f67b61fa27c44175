// The screens that the navigation names, in its order, each with the permission that offers it.
export const places = [
  { to: '/', key: 'terms', permission: 'terms:read' },
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

export type PlaceKey = (typeof places)[number]['key'];
