// Written by `npm run billwright -- sdk` from the catalogue of operations.
export const routes = {
  addBillingGroup: {
    path: '/billing/billing-groups',
    method: 'Create',
    action: 'Add Billing Group',
  },
  listBillingGroups: {
    path: '/billing/billing-groups',
    method: 'Retrieve',
    action: 'List Billing Groups',
  },
  getBillingGroup: {
    path: '/billing/billing-groups',
    method: 'Retrieve',
    action: 'Get Billing Group',
  },
  assignBillingAccounts: {
    path: '/billing/billing-groups/assign-accounts',
    method: 'Update',
    action: 'Assign Billing Accounts',
  },
  removeBillingAccounts: {
    path: '/billing/billing-groups/remove-accounts',
    method: 'Update',
    action: 'Remove Billing Accounts',
  },
  makeUsers: { path: '/billing/users/make-users', method: 'Create', action: 'Create Parties' },
  updateUser: { path: '/billing/users/update-user', method: 'Update', action: 'Update Parties' },
  getUsers: { path: '/billing/users/get-users', method: 'Retrieve', action: 'Retrieve Parties' },
  listUsers: { path: '/billing/users/list-users', method: 'Retrieve', action: 'List Parties' },
  makeConnections: {
    path: '/billing/connections/make-connections',
    method: 'Create',
    action: 'Create Subscription',
  },
  makeMeters: { path: '/billing/meters/make-meters', method: 'Create', action: 'Create Meters' },
  getMeters: { path: '/billing/meters/get-meters', method: 'Retrieve', action: 'Retrieve Meters' },
  getMeterMetaData: {
    path: '/billing/meters/get-meter-metaData',
    method: 'Retrieve',
    action: 'Retrieve Meter MetaData',
  },
  makeMeterTypes: {
    path: '/billing/meters/make-meter-types',
    method: 'Create',
    action: 'Create Meter Types',
  },
  updateMeter: { path: '/billing/meters/update-meter', method: 'Update', action: 'Update Meter' },
  login: { path: '/billing/auth/login', method: 'Login', action: 'Login User' },
  refreshToken: { path: '/billing/auth/refresh-token', method: 'Login', action: 'Refresh Token' },
  logout: { path: '/billing/auth/logout', method: 'Logout', action: 'Logout User' },
  makeLogins: { path: '/billing/auth/make-logins', method: 'Create', action: 'Create Logins' },
  getLogins: { path: '/billing/auth/get-logins', method: 'Retrieve', action: 'Retrieve Logins' },
  updateLogin: { path: '/billing/auth/update-login', method: 'Update', action: 'Update Login' },
  makeClients: {
    path: '/billing/auth/make-clients',
    method: 'Create',
    action: 'Create API Clients',
  },
  getClients: {
    path: '/billing/auth/get-clients',
    method: 'Retrieve',
    action: 'Retrieve API Clients',
  },
  updateClient: {
    path: '/billing/auth/update-client',
    method: 'Update',
    action: 'Update API Client',
  },
  createService: {
    path: '/billing/services/create-service',
    method: 'Create',
    action: 'Create Package',
  },
  getServices: {
    path: '/billing/services/get-services',
    method: 'Retrieve',
    action: 'Retrieve Packages',
  },
  updateService: {
    path: '/billing/services/update-service',
    method: 'Update',
    action: 'Update Package',
  },
  getBatches: {
    path: '/billing/services/get-batches',
    method: 'Retrieve',
    action: 'Retrieve Batches',
  },
  createTariff: { path: '/billing/tariffs/create-tariff', method: 'Create', action: 'Create Plan' },
  updateTariff: { path: '/billing/tariffs/update-tariff', method: 'Update', action: 'Update Plan' },
  getTariffs: {
    path: '/billing/tariffs/get-tariffs',
    method: 'Retrieve',
    action: 'Retrieve Plans',
  },
  simulateTariff: {
    path: '/billing/tariffs/simulate-tariff',
    method: 'Retrieve',
    action: 'Simulate Plan',
  },
  makePeriods: {
    path: '/billing/periods/make-periods',
    method: 'Create',
    action: 'Create Billing Periods',
  },
  getPeriods: {
    path: '/billing/periods/get-periods',
    method: 'Retrieve',
    action: 'Retrieve Billing Periods',
  },
  makeTemplates: {
    path: '/billing/templates/make-templates',
    method: 'Create',
    action: 'Create Templates',
  },
  getTemplates: {
    path: '/billing/templates/get-templates',
    method: 'Retrieve',
    action: 'Retrieve Templates',
  },
  updateTemplate: {
    path: '/billing/templates/update-template',
    method: 'Update',
    action: 'Update Template',
  },
  getLookups: {
    path: '/billing/lookups/get-lookups',
    method: 'Retrieve',
    action: 'Retrieve Lookups',
  },
  getSettings: {
    path: '/billing/settings/get-settings',
    method: 'Retrieve',
    action: 'Retrieve Settings',
  },
  updateSettings: {
    path: '/billing/settings/update-settings',
    method: 'Update',
    action: 'Update Settings',
  },
  moveClock: { path: '/billing/settings/move-clock', method: 'Update', action: 'Move Clock' },
  getAudit: {
    path: '/billing/audit/get-audit',
    method: 'Retrieve',
    action: 'Retrieve Audit Entries',
  },
} as const;
