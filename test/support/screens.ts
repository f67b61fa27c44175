// Every screen of the console and the portal, with the addresses at which a workspace shows it.
import type { Page } from 'playwright-core';
import type { Client } from '../../sdk/client.ts';
import { reportNames } from '../../src/domain/exports/reports.ts';

export type Screen = {
  /** As in `console/routes.tsx`. */
  route: string;
  for: 'visitor' | 'staff' | 'customer';
  /** What the route declares; null where a session is enough. */
  permission: string | null;
  /** Parts of the screen that have an address of their own, by their filters. */
  parts?: readonly string[];
};

const settingsTabs = [
  'workspace',
  'letterhead',
  'templates',
  'periods',
  'meterTypes',
  'logins',
  'clients',
  'webhooks',
  'gateways',
  'audit',
  'jobs',
  'system',
];

export const screens: readonly Screen[] = [
  { route: '/login', for: 'visitor', permission: null },
  { route: '/forgot', for: 'visitor', permission: null },
  { route: '/link', for: 'visitor', permission: null, parts: ['link=none', 'reset=none'] },
  { route: '/', for: 'staff', permission: 'terms:read' },
  { route: '/terms/$termID', for: 'staff', permission: 'bills:read' },
  { route: '/terms/$termID/readings', for: 'staff', permission: 'readings:read' },
  { route: '/terms/$termID/entry', for: 'staff', permission: 'readings:write' },
  { route: '/terms/$termID/review', for: 'staff', permission: 'readings:review' },
  { route: '/terms/$termID/population', for: 'staff', permission: 'terms:read' },
  { route: '/terms/$termID/values', for: 'staff', permission: 'terms:write' },
  { route: '/terms/$termID/generate', for: 'staff', permission: 'bills:read' },
  { route: '/terms/$termID/exceptions', for: 'staff', permission: 'bills:read' },
  { route: '/terms/$termID/register', for: 'staff', permission: 'bills:read' },
  { route: '/terms/$termID/send', for: 'staff', permission: 'bills:read' },
  { route: '/readings', for: 'staff', permission: 'readings:write' },
  {
    route: '/readings/$termID',
    for: 'staff',
    permission: 'readings:write',
    parts: ['tab=entry', 'tab=sheet'],
  },
  { route: '/bills/$billID', for: 'staff', permission: 'bills:read' },
  { route: '/customers', for: 'staff', permission: 'parties:read' },
  { route: '/customers/$partyNumber', for: 'staff', permission: 'parties:read' },
  { route: '/groups', for: 'staff', permission: 'billing-groups:read' },
  { route: '/groups/$billingGroupID', for: 'staff', permission: 'billing-groups:read' },
  { route: '/subscriptions', for: 'staff', permission: 'subscriptions:read' },
  {
    route: '/subscriptions/$connectionNumber',
    for: 'staff',
    permission: 'subscriptions:read',
  },
  { route: '/meters/$meterNumber', for: 'staff', permission: 'meters:read' },
  { route: '/payments', for: 'staff', permission: 'payments:read' },
  { route: '/payments/$paymentID', for: 'staff', permission: 'payments:read' },
  { route: '/cash-desk', for: 'staff', permission: 'payments:read' },
  { route: '/bank', for: 'staff', permission: 'bank-files:read' },
  { route: '/bank/$bankFileID', for: 'staff', permission: 'bank-files:read' },
  { route: '/collections', for: 'staff', permission: 'collections:read' },
  {
    route: '/ledger',
    for: 'staff',
    permission: 'ledger:read',
    parts: ['tab=balance', 'tab=journals', 'tab=accounts'],
  },
  {
    route: '/reports',
    for: 'staff',
    permission: 'ledger:read',
    parts: reportNames.map((kind) => `report=${kind}`),
  },
  { route: '/plans', for: 'staff', permission: 'plans:read' },
  { route: '/plans/$planID', for: 'staff', permission: 'plans:read' },
  { route: '/files', for: 'staff', permission: 'meters:read' },
  {
    route: '/settings',
    for: 'staff',
    permission: 'settings:read',
    parts: settingsTabs.map((tab) => `tab=${tab}`),
  },
  { route: '/settings/webhooks/$webhookID', for: 'staff', permission: 'webhooks:read' },
  { route: '/services', for: 'staff', permission: 'contexts:read' },
  { route: '/services/$serviceCode', for: 'staff', permission: 'contexts:read' },
  { route: '/portal', for: 'customer', permission: null },
  { route: '/portal/bills', for: 'customer', permission: null },
  { route: '/portal/usage', for: 'customer', permission: null },
  { route: '/portal/details', for: 'customer', permission: null },
];

/** Values of the parameters of addresses, by their names; a workspace may lack some. */
export type Found = Readonly<Record<string, string | number | undefined>>;

/** The newest of each in a workspace: what its screens can show. */
export async function findInWorkspace(client: Client): Promise<Found> {
  const page = { pageNumber: 0, size: 1 };
  const { terms } = (await client.getTerms({ page })).data;
  const { bills } = (await client.getBills({ page })).data;
  const { payments } = (await client.getPayments({ page })).data;
  const { bankFiles } = (await client.getBankFiles({ page })).data;
  const { tariffs } = (await client.getTariffs({})).data;
  const { services } = (await client.getServices({})).data;
  const { webhooks } = (await client.getWebhooks({ page })).data;
  const [group] = (await client.listBillingGroups()).data;
  const { connections } = (await client.getConnections({ page })).data;
  const [meter] = (await client.getMeters({ page })).data.meters.meters;
  return {
    termID: terms[0]?.termID,
    billID: bills[0]?.billID,
    partyNumber: bills[0]?.partyNumber ?? connections[0]?.partyNumber,
    connectionNumber: bills[0]?.connectionNumber ?? connections[0]?.connectionNumber,
    meterNumber: meter?.number,
    billingGroupID: group?.billingGroupID,
    paymentID: payments[0]?.paymentID,
    bankFileID: bankFiles[0]?.bankFileID,
    planID: tariffs[0]?.tariffID,
    serviceCode: services[0]?.serviceCode,
    webhookID: webhooks[0]?.webhookID,
  };
}

/** The addresses of a screen; none where the workspace has nothing that it could show. */
export function addressesOf({ route, parts }: Screen, found: Found): string[] {
  const names = [...route.matchAll(/\$(\w+)/g)].map((match) => match[1] ?? '');
  if (names.some((name) => found[name] === undefined)) return [];
  const path = route.replace(/\$(\w+)/g, (_, name) => encodeURIComponent(String(found[name])));
  return parts ? parts.map((part) => `${path}?${part}`) : [path];
}

/** The screen is drawn and waits for nothing. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1, h2, [role=alert]').first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.locator('.mantine-Loader-root:visible').first().waitFor({ state: 'detached' });
  await page.evaluate(`Promise.allSettled(document.getAnimations()
    .filter((one) => one.effect.getComputedTiming().endTime < 5000)
    .map((one) => one.finished))`);
}
