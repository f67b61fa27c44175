// The groups of the reference, in the order of the work: from the first login to the audit trail.
import type { Operation } from '../operations/operation.ts';

type Group = {
  name: string;
  description: string;
  /** Beginnings of paths after /billing/, in the order in which the operations are shown. */
  paths: readonly string[];
};

const groups: readonly Group[] = [
  {
    name: 'Access and settings',
    description:
      'Log in, make logins and API clients, and set up the workspace: its name, time zone, ' +
      'currency, billing periods and templates.',
    paths: ['auth/login', 'auth/', 'settings/', 'periods/', 'templates/', 'lookups/', 'search/'],
  },
  {
    name: 'Parties',
    description: 'Customers, vendors and employees, their billing accounts and billing groups.',
    paths: ['users/', 'billing-groups'],
  },
  {
    name: 'Pricing',
    description:
      'Pricing contexts (services) and plans (tariffs): values, components, formulas and rules. ' +
      'Simulate a bill before a plan is used.',
    paths: ['services/', 'tariffs/'],
  },
  {
    name: 'Subscriptions',
    description:
      'Connect parties to plans. Change the plan, transfer, disconnect, reconnect and close.',
    paths: ['connections/'],
  },
  {
    name: 'Meters and readings',
    description: 'Register meters, install, replace and remove them. Enter and review readings.',
    paths: ['meters/'],
  },
  {
    name: 'Bill run',
    description:
      'Take a term from its dates to delivered bills: open it, lock readings, upload usage and ' +
      'manual values, generate, review, post, publish and distribute.',
    paths: [
      'terms/make-term',
      'terms/get-terms',
      'terms/get-run-board',
      'terms/get-term-population',
      'terms/upload-meter-readings',
      'terms/post-meter-readings',
      'terms/upload-usage',
      'terms/post-manual-component-values',
      'bills/generate-bills',
      'bills/get-bill-term',
      'bills/compare-runs',
      'bills/hold-bill',
      'bills/hold-bills',
      'bills/post-bills',
      'bills/publish-bills',
      'bills/distribute-bills',
      'bills/unpost-bills',
      'terms/',
    ],
  },
  {
    name: 'Bills and documents',
    description:
      'Find bills, explain every line, cancel a bill, bill one subscription. Fetch documents, ' +
      'print files and the state of deliveries.',
    paths: ['bills/', 'connections/bill-connection'],
  },
  {
    name: 'Payments',
    description:
      'Take payments, see what each settles, reverse one, refund and use wallets. Statements. ' +
      'Import files of banks and decide whose money is left.',
    paths: [
      'payments/make-payments',
      'payments/',
      'cash-desks/',
      'approvals/',
      'statements/',
      'bank-files/',
      'gateways/',
    ],
  },
  {
    name: 'Collections',
    description:
      'See which debts are collected and by which step. Record promises and instalment plans.',
    paths: ['dunning/'],
  },
  {
    name: 'Ledger',
    description:
      'Credit notes, adjustments, disputes, deposits and the balances of ledger accounts.',
    paths: ['credit-notes/', 'adjustments/', 'disputes/', 'deposits/', 'ledger/', 'reports/'],
  },
  {
    name: 'Imports and exports',
    description: 'Load and fetch many rows as CSV.',
    paths: ['imports/', 'exports/'],
  },
  {
    name: 'Jobs and audit',
    description: 'Follow and cancel scheduled steps. Read the audit trail of changes.',
    paths: ['jobs/', 'audit/'],
  },
  {
    name: 'Events',
    description: 'Read what happened, or have it sent to programs of your own by signed webhooks.',
    paths: ['events/'],
  },
];

const places = groups.flatMap((group) => group.paths.map((path) => ({ group, path })));

/** The group of an operation by the longest beginning of its path; undefined if none fits. */
export function groupOf(operation: Operation): Group | undefined {
  return placeOf(operation)?.group;
}

function placeOf({ path }: Operation): (typeof places)[number] | undefined {
  const rest = path.replace(/^\/billing\//, '');
  const fitting = places.filter((place) => rest.startsWith(place.path));
  return fitting.toSorted((a, b) => b.path.length - a.path.length)[0];
}

type Named = readonly [string, Operation];

/** Operations in the order of the groups; within one place in the order that they had. */
export function inOrderOfWork(operations: readonly Named[]): Named[] {
  const rank = ([, operation]: Named) => {
    const place = placeOf(operation);
    return place ? places.indexOf(place) : places.length;
  };
  return operations.toSorted((a, b) => rank(a) - rank(b));
}

/** Groups that have an operation. */
export function groupsOf(operations: readonly Named[]): Group[] {
  const used = new Set(operations.map(([, operation]) => groupOf(operation)));
  return groups.filter((group) => used.has(group));
}
