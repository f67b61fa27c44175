// The eight roles and what each may do. A permission is `resource:verb`; every operation names one.

export const permissions = [
  'parties:read',
  'parties:write',
  'parties:erase',
  'own-party:read',
  'own-party:write',
  'notes:write',
  'own-notes:write',
  'subscriptions:read',
  'subscriptions:write',
  'subscriptions:manage',
  'own-subscriptions:read',
  'billing-groups:read',
  'billing-groups:write',
  'contexts:read',
  'contexts:write',
  'plans:read',
  'plans:write',
  'meters:read',
  'meters:write',
  'readings:read',
  'readings:write',
  'readings:review',
  'own-readings:read',
  'own-readings:write',
  'terms:read',
  'terms:write',
  'terms:manage',
  'bills:read',
  'bills:write',
  'bills:post',
  'bills:distribute',
  'own-bills:read',
  'payments:read',
  'payments:write',
  'payments:manage',
  'own-payments:read',
  'credits:write',
  'collections:read',
  'collections:write',
  'bank-files:read',
  'bank-files:write',
  'imports:write',
  'ledger:read',
  'ledger:write',
  'ledger:close',
  'settings:read',
  'settings:write',
  'access:read',
  'access:write',
  'audit:read',
  'webhooks:read',
  'webhooks:write',
] as const;
export type Permission = (typeof permissions)[number];

export const roleNames = [
  'Administrator',
  'Billing Manager',
  'Billing Operator',
  'Meter Reader',
  'Cashier',
  'Accountant',
  'Auditor',
  'Customer',
] as const;
export type RoleName = (typeof roleNames)[number];

const operator: readonly Permission[] = [
  'parties:read',
  'parties:write',
  'notes:write',
  'subscriptions:read',
  'subscriptions:write',
  'billing-groups:read',
  'billing-groups:write',
  'contexts:read',
  'plans:read',
  'meters:read',
  'meters:write',
  'readings:read',
  'readings:write',
  'readings:review',
  'terms:read',
  'terms:write',
  'bills:read',
  'bills:write',
  'bills:distribute',
  'payments:read',
  'collections:read',
  'collections:write',
  'bank-files:read',
  'bank-files:write',
  'imports:write',
  'settings:read',
];

const manager: readonly Permission[] = [
  ...operator,
  // Erasing the personal data of a former customer.
  'parties:erase',
  // Transferring and closing, and what is forced past a rule.
  'subscriptions:manage',
  'contexts:write',
  'plans:write',
  // Cancelling a term.
  'terms:manage',
  // Posting, publishing and taking back.
  'bills:post',
  'payments:write',
  // Refunds, and reversals of what others took.
  'payments:manage',
  'credits:write',
  'ledger:read',
  'ledger:write',
  'ledger:close',
];

/** Every permission to read, except those for the caller's own party. */
const reads = permissions.filter((name) => name.endsWith(':read'));

const permissionsByRole: Record<RoleName, readonly Permission[]> = {
  Administrator: permissions,
  'Billing Manager': manager,
  'Billing Operator': operator,
  'Meter Reader': [
    'meters:read',
    'subscriptions:read',
    'readings:read',
    'readings:write',
    'imports:write',
  ],
  Cashier: ['parties:read', 'notes:write', 'bills:read', 'payments:read', 'payments:write'],
  Accountant: [
    ...reads.filter((name) => name !== 'access:read'),
    'notes:write',
    'payments:write',
    'credits:write',
    'bank-files:write',
    'imports:write',
    'ledger:write',
    'ledger:close',
  ],
  Auditor: reads,
  Customer: [
    'own-party:read',
    'own-party:write',
    'own-notes:write',
    'own-subscriptions:read',
    'own-readings:read',
    'own-readings:write',
    'own-bills:read',
    'own-payments:read',
  ],
};

// Kept by the set of roles: a call must not rebuild what only a new program version changes.
const byRoles = new Map<string, ReadonlySet<Permission>>();

export function permissionsOf(roles: readonly string[]): ReadonlySet<Permission> {
  const key = roles.join('\n');
  const known = byRoles.get(key);
  if (known) return known;
  const made = new Set(roles.flatMap((role) => permissionsByRole[role as RoleName] ?? []));
  byRoles.set(key, made);
  return made;
}
