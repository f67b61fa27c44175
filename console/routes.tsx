// The map of the console: each path, its screen, and the permission that opens it.
import { createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { queries } from './api/queries/base.ts';
import { whenEnded } from './api/session.ts';
import { NotFound } from './parts/no-screen.tsx';
import { byLink, forgot, inside, login, needs, root, textsIn } from './routes/entry.tsx';
import { portalRoutes } from './routes/portal.tsx';
import { readingRoutes } from './routes/readings.tsx';
import { termRoutes } from './routes/terms.tsx';

const terms = createRoute({
  getParentRoute: () => inside,
  path: '/',
  component: lazyRouteComponent(() => import('./screens/terms/terms.tsx'), 'Terms'),
  ...needs('terms:read'),
});

const bill = createRoute({
  getParentRoute: () => inside,
  path: '/bills/$billID',
  component: lazyRouteComponent(() => import('./screens/bills/bill.tsx'), 'Bill'),
  ...needs('bills:read'),
});

const customers = createRoute({
  getParentRoute: () => inside,
  path: '/customers',
  validateSearch: textsIn('name', 'archived'),
  component: lazyRouteComponent(() => import('./screens/customers/customers.tsx'), 'Customers'),
  ...needs('parties:read'),
});

const customer = createRoute({
  getParentRoute: () => inside,
  path: '/customers/$partyNumber',
  validateSearch: textsIn('tab'),
  component: lazyRouteComponent(() => import('./screens/customers/customer.tsx'), 'Customer'),
  ...needs('parties:read'),
});

const groups = createRoute({
  getParentRoute: () => inside,
  path: '/groups',
  component: lazyRouteComponent(() => import('./screens/groups/groups.tsx'), 'Groups'),
  ...needs('billing-groups:read'),
});

const group = createRoute({
  getParentRoute: () => inside,
  path: '/groups/$billingGroupID',
  component: lazyRouteComponent(() => import('./screens/groups/group.tsx'), 'GroupScreen'),
  ...needs('billing-groups:read'),
});

const subscriptions = createRoute({
  getParentRoute: () => inside,
  path: '/subscriptions',
  validateSearch: textsIn('number', 'service', 'status'),
  component: lazyRouteComponent(
    () => import('./screens/subscriptions/subscriptions.tsx'),
    'Subscriptions',
  ),
  ...needs('subscriptions:read'),
});

const subscription = createRoute({
  getParentRoute: () => inside,
  path: '/subscriptions/$connectionNumber',
  validateSearch: textsIn('tab'),
  component: lazyRouteComponent(
    () => import('./screens/subscriptions/subscription.tsx'),
    'Subscription',
  ),
  ...needs('subscriptions:read'),
});

const meter = createRoute({
  getParentRoute: () => inside,
  path: '/meters/$meterNumber',
  component: lazyRouteComponent(() => import('./screens/subscriptions/meter.tsx'), 'MeterScreen'),
  ...needs('meters:read'),
});

const payments = createRoute({
  getParentRoute: () => inside,
  path: '/payments',
  validateSearch: textsIn('reference', 'from', 'to', 'status'),
  component: lazyRouteComponent(() => import('./screens/payments/payments.tsx'), 'Payments'),
  ...needs('payments:read'),
});

const payment = createRoute({
  getParentRoute: () => inside,
  path: '/payments/$paymentID',
  component: lazyRouteComponent(() => import('./screens/payments/payment.tsx'), 'Payment'),
  ...needs('payments:read'),
});

const cashDesk = createRoute({
  getParentRoute: () => inside,
  path: '/cash-desk',
  component: lazyRouteComponent(() => import('./screens/cash-desk/cash-desk.tsx'), 'CashDesk'),
  ...needs('payments:read'),
});

const bankFiles = createRoute({
  getParentRoute: () => inside,
  path: '/bank',
  component: lazyRouteComponent(() => import('./screens/bank/bank-files.tsx'), 'BankFiles'),
  ...needs('bank-files:read'),
});

const bankFile = createRoute({
  getParentRoute: () => inside,
  path: '/bank/$bankFileID',
  validateSearch: textsIn('status'),
  component: lazyRouteComponent(() => import('./screens/bank/bank-file.tsx'), 'BankFile'),
  ...needs('bank-files:read'),
});

const collections = createRoute({
  getParentRoute: () => inside,
  path: '/collections',
  validateSearch: textsIn('tab', 'step'),
  component: lazyRouteComponent(
    () => import('./screens/collections/collections.tsx'),
    'Collections',
  ),
  ...needs('collections:read'),
});

const ledger = createRoute({
  getParentRoute: () => inside,
  path: '/ledger',
  validateSearch: textsIn('tab', 'from', 'to', 'account'),
  component: lazyRouteComponent(() => import('./screens/ledger/ledger.tsx'), 'Ledger'),
  ...needs('ledger:read'),
});

const reports = createRoute({
  getParentRoute: () => inside,
  path: '/reports',
  validateSearch: textsIn('report', 'from', 'to', 'service'),
  component: lazyRouteComponent(() => import('./screens/reports/reports.tsx'), 'Reports'),
  ...needs('ledger:read'),
});

const plans = createRoute({
  getParentRoute: () => inside,
  path: '/plans',
  validateSearch: textsIn('service'),
  component: lazyRouteComponent(() => import('./screens/plans/plans.tsx'), 'Plans'),
  ...needs('plans:read'),
});

const plan = createRoute({
  getParentRoute: () => inside,
  path: '/plans/$planID',
  component: lazyRouteComponent(() => import('./screens/plans/plan.tsx'), 'PlanScreen'),
  ...needs('plans:read'),
});

const files = createRoute({
  getParentRoute: () => inside,
  path: '/files',
  component: lazyRouteComponent(() => import('./screens/files/files.tsx'), 'Files'),
  ...needs('meters:read'),
});

const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  validateSearch: textsIn('tab'),
  component: lazyRouteComponent(() => import('./screens/settings/settings.tsx'), 'Settings'),
  ...needs('settings:read'),
});

const webhook = createRoute({
  getParentRoute: () => inside,
  path: '/settings/webhooks/$webhookID',
  validateSearch: textsIn('status'),
  component: lazyRouteComponent(() => import('./screens/webhooks/webhook.tsx'), 'WebhookScreen'),
  ...needs('webhooks:read'),
});

const services = createRoute({
  getParentRoute: () => inside,
  path: '/services',
  component: lazyRouteComponent(() => import('./screens/services/services.tsx'), 'Services'),
  ...needs('contexts:read'),
});

const service = createRoute({
  getParentRoute: () => inside,
  path: '/services/$serviceCode',
  component: lazyRouteComponent(() => import('./screens/services/service.tsx'), 'ServiceScreen'),
  ...needs('contexts:read'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    login,
    forgot,
    byLink,
    portalRoutes,
    inside.addChildren([
      terms,
      termRoutes,
      ...readingRoutes,
      bill,
      customers,
      customer,
      groups,
      group,
      subscriptions,
      subscription,
      meter,
      payments,
      payment,
      cashDesk,
      bankFiles,
      bankFile,
      collections,
      ledger,
      reports,
      plans,
      plan,
      files,
      settings,
      webhook,
      services,
      service,
    ]),
  ]),
  defaultPreload: 'intent',
  defaultNotFoundComponent: () => <NotFound />,
  defaultErrorComponent: ({ error }) => <NotFound error={error} />,
});

// After the next login the same page is shown. What the last person has read is forgotten.
whenEnded(async () => {
  const { pathname, href } = router.state.location;
  // Without a session nothing on the page can be saved: there is nothing to ask.
  const away = { to: '/login', search: { next: href }, ignoreBlocker: true } as const;
  if (pathname !== '/login') await router.navigate(away);
  queries.clear();
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
  interface StaticDataRouteOption {
    permission?: string;
  }
}
